"""Imports modules in a world where every other package is made up, and writes down what they became.

With the runtime loaded before them (`first`) each file means what the unmodified one means. Otherwise (`late`) the
stand-ins put everything off; they are made to catch up at the end, and then all must be the same.
"""

import atexit
import builtins
import contextlib
import importlib
import io
import json
import os
import resource
import sys
import types
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vendor_tool.rehearsal import made_up, packages, state, unsettled

_BYTES = 4 << 30  # of memory that a file may take
# what is needed in the end, whatever the files replace
_open, _text, _replace, _exit, _id = open, json.dumps, os.replace, os._exit, id


def main(request_path: str, cast: str, order: str, answer_path: str) -> None:
    """Plays one request with one cast; the runtime comes `first` or `late`."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    stage = made_up.stage
    stage.cast, stage.runtime, stage.folders = int(cast), frozenset(request["absent"]), tuple(request["folders"])
    stage.patient, stage.place = tuple(request["patient"]), str(Path.cwd())
    stage.tell = lambda value: state.of(value, stage.folders)
    packages.install()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (min(hard, _BYTES) if hard >= 0 else _BYTES, hard))
    builtins.id = _identity
    atexit.register = _at_exit  # type: ignore[assignment]
    sys.path[:] = [*request["roots"], *filter(None, sys.path)]
    for name, folders in request["packages"]:
        module = types.ModuleType(name)
        module.__path__ = folders
        sys.modules[name] = module
    for name in request["absent"] if order == "first" else ():
        importlib.import_module(name)
    failed, said = _imported(request["modules"])
    answer = {"said": said, "readers": list(_readers()), "runtime": request["absent"]}
    if order == "late":
        failed = {**_caught_up(request["modules"]), **failed}
    answer |= {"read": stage.read, "failed": failed, "names": _names(), "deeds": list(map(_told, stage.deeds))}
    answer["surroundings"] = {"os.environ": stage.tell(dict(os.environ)), "builtins": stage.tell(vars(builtins))}
    with _open(f"{answer_path}.part", "w", encoding="utf-8") as file:
        file.write(_text(answer))
    _replace(f"{answer_path}.part", answer_path)
    _exit(0)  # whatever threads and exit handlers a file has left


def _identity(value: object) -> int:
    """Of a value of the runtime, the same in every process: a file that asks for it must find it again later."""
    if type(value) is made_up.Made and value.made_late:
        return zlib.crc32(value.made_key.encode())
    return _id(value)


def _at_exit(function: Any, *args: Any, **keywords: Any) -> Any:
    made_up.change("atexit.register()", function, args, keywords)
    return function


def _imported(names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """What importing each module raised, if anything, and what it printed."""
    failed, said = {}, {}
    for name in names:
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            with _open(f"{made_up.stage.place}/at", "w", encoding="utf-8") as file:
                file.write(name)
            try:
                importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 whatever a file raises or exits with is its result
                failed[name] = _shown(error)
        said[name] = out.getvalue()
    return failed, said


def _caught_up(names: list[str]) -> dict[str, str]:
    """Lets the stand-ins do what they wrote down. What a module's part of it raised."""
    failed = {}
    for space in map(vars, _stand_ins()):
        try:
            space["_resolve"]()
        except BaseException as error:  # noqa: BLE001 a made-up runtime may be broken in any way
            return dict.fromkeys(names, _shown(error))
        for name in names:
            module = sys.modules.get(name)
            if module is not None and id(vars(module)) in space["_failed"]:
                failed[name] = _shown(space["_failed"][id(vars(module))])
    return failed


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _readers() -> Iterator[tuple[str, int, str, str, str]]:
    """The functions that must not be called yet: file, line and name, and what they read, of which kind."""
    marks = [vars(module)["_MARKED"] for module in _stand_ins()]
    files = _files()
    search = unsettled.Search(files, marks)
    for module in files if marks else ():
        for one in dict.fromkeys(search.readers(module)):
            code = one.function.__code__
            line = code.co_firstlineno if code.co_filename == module.__file__ else 0  # of a data class: made of text
            yield str(module.__file__), line, one.function.__qualname__, one.name, one.what


def _names() -> dict[str, dict[str, str]]:
    """What each name of each file holds."""
    return {str(module.__file__): dict(state.of_module(module, made_up.stage.folders)) for module in _files()}


def _told(deed: made_up.Deed) -> tuple[str, str, str | None, int]:
    parts = ", ".join(map(made_up.stage.tell, deed.parts))
    return deed.top, f"{deed.text} {parts}".rstrip(), deed.file, deed.line


def _files() -> list[types.ModuleType]:
    every = [module for module in list(sys.modules.values()) if state.lies_in(module, made_up.stage.folders)]
    stand_ins: list[Any] = _stand_ins()
    return [module for module in every if module not in stand_ins]


def _stand_ins() -> list[types.ModuleType]:
    return [module for module in list(sys.modules.values()) if {"_resolve", "_MARKED"} <= vars(module).keys()]
