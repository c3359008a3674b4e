"""Made-up modules, and the finders that give one wherever nothing else has an answer."""

import importlib.machinery
import sys
import types
from typing import Any

from vendor_tool.rehearsal.made_up import PLACE, attribute, change, stage, top


class MadeModule(types.ModuleType):
    """A made-up module; a submodule and an attribute of its parent are the same to whoever asks."""

    def __getattr__(self, name: str) -> Any:
        late = top(self.__name__) in stage.runtime
        return attribute(self.__name__, late, self.__dict__.setdefault("__kept__", {}), name)

    def __setattr__(self, name: str, value: Any) -> None:
        # the import system sets each submodule on its parent
        if name[:2] == "__":
            super().__setattr__(name, value)
        elif not isinstance(value, MadeModule):
            change(f"{self.__name__}.{name} =", value)
            self.__dict__.setdefault("__kept__", {})[name] = value

    def __delattr__(self, name: str) -> None:
        change(f"del {self.__name__}.{name}")
        self.__dict__.setdefault("__kept__", {}).pop(name, None)


class _Loader:
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return MadeModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _spec(name: str) -> importlib.machinery.ModuleSpec:
    spec = importlib.machinery.ModuleSpec(name, _Loader(), is_package=True)  # type: ignore[arg-type]
    spec.submodule_search_locations = [PLACE]
    return spec


class _Finder:
    """Makes every module that nothing else finds, but for those that the standard library only tries."""

    def __init__(self, absent: frozenset[str]) -> None:
        self.absent = absent

    def find_spec(self, name: str, *rest: Any) -> importlib.machinery.ModuleSpec | None:
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:  # of stand-ins, which came after it
            spec = finder.find_spec(name, *rest)
            if spec is not None:
                return spec
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and top(frame.f_globals.get("__name__", "")) == "importlib":
            frame = frame.f_back
        asking = top(frame.f_globals.get("__name__", "")) if frame is not None else ""
        return None if {top(name), asking} & (sys.stdlib_module_names | self.absent) else _spec(name)


class _Entry:
    """What lies below a made-up package."""

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec:
        return _spec(name)


def _hook(location: str) -> _Entry:
    if location != PLACE:
        raise ImportError(location)
    return _Entry()


def install(absent: frozenset[str] = frozenset()) -> None:
    """From now on every import of what is not there gives a made-up module, but for `absent` top-level ones."""
    sys.meta_path.append(_Finder(absent))
    sys.path_hooks.insert(0, _hook)
