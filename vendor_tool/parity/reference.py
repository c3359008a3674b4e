"""The module that a test's `kernel` marker names for its reference: that of the test's own folder where it has one.

Test folders call their modules alike (`references.py`), and Python keeps one module of a name: the first to be loaded.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from vendor_tool.errors import UsageError


def load(folder: Path, name: str) -> ModuleType:
    """The module `name` in `folder`, else whichever an import finds. What other code imports by that name stays.

    Raises UsageError where the folder has such a file and Python gives another one, as for the name of a built-in.
    """
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    own = _file(folder, name)
    if own is None:
        return importlib.import_module(name)
    loaded = sys.modules.get(name)
    return loaded if loaded is not None and _place(loaded) == own.resolve() else _beside(folder, name, own)


def _file(folder: Path, name: str) -> Path | None:
    base = folder.joinpath(*name.split("."))
    return next((one for one in (base / "__init__.py", base.with_name(f"{base.name}.py")) if one.is_file()), None)


@cache
def _beside(folder: Path, name: str, own: Path) -> ModuleType:
    """The module, and what it imports of its folder, loaded apart from what other folders call alike."""
    strangers = {known: module for known, module in list(sys.modules.items()) if _stranger(known, module, folder)}
    for known in strangers:
        del sys.modules[known]
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        found = importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.modules.update(strangers)
    if _place(found) != own.resolve():
        raise UsageError(
            f"`{name}` is `{own}` in the test's folder, and `{_place(found) or 'built in'}` to Python",
            hint="rename the module, and in the test's `kernel` marker with it",
        )
    return found


def _stranger(name: str, module: ModuleType, folder: Path) -> bool:
    """Whether a loaded module is of another folder, and hides what this one has under its top-level name."""
    top = name.partition(".")[0]
    # a folder without `__init__.py` is hidden by another such folder, and never hides a package that is installed
    bare = (folder / top).is_dir() and _place(sys.modules.get(top, module)) is None
    if not bare and _file(folder, top) is None:
        return False
    place, own = _place(module), _file(folder, name)
    if place is None:
        return any(
            Path(one).resolve() != folder.joinpath(*name.split(".")).resolve()
            for one in getattr(module, "__path__", ())
        )
    return own is None or place != own.resolve()


def _place(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None
