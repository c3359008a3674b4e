"""Functions that may be called before the runtime is loaded, and read what is not right until then.

A deferred value answers for itself. Text that one stands in does not, nor does a table that has one for a key: looked
up by something else, nothing asks the key.
"""

import functools
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vendor_tool.rehearsal import reading
from vendor_tool.rehearsal.made_up import Made

_DEEP = 12  # levels
_WRAPPED = {staticmethod: "__func__", classmethod: "__func__", property: "fget", functools.cached_property: "func"}


class Reader(NamedTuple):
    """A plain function and what it reads."""

    function: types.FunctionType
    name: str
    what: str  # "text" or "keys"


class Search:
    """What the modules hold that is not right yet, and which functions come to it by names that some function reads."""

    def __init__(self, modules: Sequence[types.ModuleType], marks: "Sequence[re.Pattern[str]]") -> None:
        self.names = {module.__name__ for module in modules}
        self.marks = marks
        self.asked = {
            name for module in modules for one in self.functions(module) for name in reading.names(one.__code__)
        }

    def readers(self, module: types.ModuleType) -> Iterator[Reader]:
        """The functions and methods of the module that come to something unsettled."""
        yield from self.methods(module)
        for function in self.functions(module):
            held = {**_held(function), "__name__": function.__name__}
            for name in reading.names(function.__code__):
                if name in function.__globals__ and name not in held:
                    held[name] = function.__globals__[name]
            for name, value in held.items():
                what = self.unsettled(value, set(), 0)
                if what:
                    yield Reader(function, name, what)

    def methods(self, module: types.ModuleType) -> Iterator[Reader]:
        """Methods of the module's objects and classes that read an unsettled attribute."""
        for value in list(vars(module).values()):
            kind = value if issubclass(type(value), type) else type(value)
            if kind.__module__ not in self.names:
                continue
            for function in [one for base in kind.__mro__ for one in _methods(base)]:
                space = {**vars(kind), **getattr(value, "__dict__", {})}
                read = {name: space[name] for name in reading.names(function.__code__) if name in space}
                for name, part in {**read, **_held(function)}.items():
                    what = self.unsettled(part, set(), 0)
                    if what:
                        yield Reader(function, name, what)

    def functions(self, module: types.ModuleType) -> Iterator[types.FunctionType]:
        """The functions of the module's file, and the methods of its classes."""
        for value in list(vars(module).values()):
            shown = value.made_shown if type(value) is Made and not value.made_late else value
            if type(shown) is types.FunctionType and shown.__module__ == module.__name__:
                yield shown
            elif issubclass(type(value), type) and value.__module__ == module.__name__:
                yield from _methods(value)

    def unsettled(self, value: Any, seen: set[int], depth: int) -> str:
        """What is not right in it, as far as functions ask for it by name: "text", "keys", or nothing."""
        kind = type(value)
        if kind is str:
            return "text" if any(mark.search(value) for mark in self.marks) else ""
        if _is_deferred(value) or depth > _DEEP or id(value) in seen:
            return ""
        seen.add(id(value))
        if issubclass(kind, (dict, set, frozenset, types.MappingProxyType)) and any(map(_has_deferred, list(value))):
            return "keys"
        found = (self.unsettled(part, seen, depth + 1) for part in self.parts(value, kind))
        return next((what for what in found if what), "")

    def parts(self, value: Any, kind: type) -> Iterator[Any]:
        """What one comes to from a value: what it holds, and attributes of objects of the files' own classes."""
        if issubclass(kind, (dict, types.MappingProxyType)):
            yield from [*value, *value.values()]
        elif issubclass(kind, (tuple, list, set, frozenset)):
            yield from list(value)
        elif kind is types.FunctionType and value.__module__ in self.names:
            yield from _held(value).values()
        owner = value if issubclass(kind, type) else kind
        if owner.__module__ in self.names or (kind is types.ModuleType and value.__name__ in self.names):
            space = getattr(value, "__dict__", {})
            yield from [part for name, part in list(space.items()) if name in self.asked]
            slots = reading.slots(value) if owner is kind else {}
            yield from [part for name, part in slots.items() if name in self.asked]


def _methods(owner: type) -> Iterator[types.FunctionType]:
    for part in list(vars(owner).values()):
        name = next((name for kind, name in _WRAPPED.items() if issubclass(type(part), kind)), None)
        inner = getattr(part, name) if name is not None else part
        if type(inner) is types.FunctionType:
            yield inner


def _held(function: types.FunctionType) -> dict[str, Any]:
    """What the function carries itself: its defaults and the variables around it."""
    code = function.__code__
    defaults = dict(zip(reversed(code.co_varnames[: code.co_argcount]), reversed(function.__defaults__ or ())))  # noqa: B905
    return {**defaults, **(function.__kwdefaults__ or {}), **reading.closure(function)}


def _has_deferred(key: Any) -> bool:
    return any(map(_has_deferred, key)) if issubclass(type(key), (tuple, frozenset)) else _is_deferred(key)


def _is_deferred(value: Any) -> bool:
    return hasattr(type(value), "_resolve_deferred_")
