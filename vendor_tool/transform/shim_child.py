"""Run by path in a process of its own: imports modules one after the other with others made absent.

Reads a JSON request from the file that its one argument names and appends one JSON line for each module to the file
that the request names. Uses nothing of vendor-tool but the rehearsal, so that a bare interpreter runs it.
"""

import importlib
import json
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any


class _Without:
    """A finder that does not find the absent modules and asks another one for the rest."""

    def __init__(self, finder: Any, absent: frozenset[str]) -> None:
        self.finder = finder
        self.absent = absent

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] in self.absent:
            return None
        find = getattr(self.finder, "find_spec", None)
        return find(fullname, path, target) if find else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.finder, name)


def main(request_path: str) -> None:
    """Imports what the request asks for."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    sys.path[:0] = request["roots"]
    absent = frozenset(request["absent"])
    sys.meta_path[:] = [_Without(finder, absent) for finder in sys.meta_path]
    if request["program"] is not None:  # the folder that vendor-tool lies in
        sys.path.insert(0, request["program"])
        from vendor_tool.rehearsal import packages

        sys.path.remove(request["program"])
        packages.install(absent)
    for name, folders in request["packages"]:
        module = types.ModuleType(name)
        module.__path__ = folders
        sys.modules[name] = module
    # other modules may print; only the result file speaks for us
    with Path(request["results"]).open("a", encoding="utf-8") as results:
        for name in request["modules"]:
            results.write(json.dumps({"module": name, "started": True}) + "\n")
            results.flush()
            results.write(json.dumps({"module": name, **_outcome(name, request["absent"])}) + "\n")
            results.flush()
    os._exit(0)  # whatever threads and exit handlers a file has left


def _outcome(name: str, absent: list[str]) -> dict[str, Any]:
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 whatever a file raises or exits with is its result
        return {
            "error": type(error).__name__,
            "text": str(error)[:2000],
            "missing": getattr(error, "name", None) if isinstance(error, ImportError) else None,
            "causes": [[getattr(one, "name", None) or "", str(one)[:2000]] for one in _causes(error)],
            "deferred": getattr(error, "deferred", None),
            "frames": [[frame.filename, frame.lineno] for frame in traceback.extract_tb(error.__traceback__)],
        }
    loaded = sorted(one for one in absent if one in sys.modules)
    return {"loaded": loaded}


def _causes(error: BaseException) -> list[BaseException]:
    """The exceptions that the error was raised from, or while they were answered."""
    found: list[BaseException] = []
    while (one := error.__cause__ or error.__context__) is not None and one not in found:
        found.append(one)
        error = one
    return found


if __name__ == "__main__":
    main(sys.argv[1])
