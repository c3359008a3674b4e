"""Functions that may be called before the runtime is loaded, and read what is not right until then.

A deferred value answers for itself. Text that one stands in does not, nor does a table that has one for a key: looked
up by something else, nothing asks the key.
"""

import dis
import re
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vendor_tool.rehearsal.made_up import Made

_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"})
_FLAT = (tuple, list, frozenset)


class Reader(NamedTuple):
    """A plain function and what it reads."""

    function: types.FunctionType
    name: str
    what: str  # "text" or "keys"


def readers(module: types.ModuleType, marks: "Sequence[re.Pattern[str]]") -> Iterator[Reader]:
    """The plain functions and methods of the module that read unsettled names, attributes, defaults or variables."""
    space = vars(module)
    unsettled = {name: what for name, value in list(space.items()) if (what := _unsettled(value, marks, 0))}
    for function, owner in _functions(module):
        own = {name: what for name, part in _held(function).items() if (what := _unsettled(part, marks, 0))}
        yield from (Reader(function, name, what) for name, what in own.items())
        attributes = {name: what for name, value in list(vars(owner).items()) if (what := _unsettled(value, marks, 0))}
        for name in dict.fromkeys(_names(function.__code__)) if unsettled or attributes else ():
            if name in unsettled and function.__globals__ is space:
                yield Reader(function, name, unsettled[name])
            elif name in attributes:
                yield Reader(function, name, attributes[name])


def _functions(module: types.ModuleType) -> Iterator[tuple[types.FunctionType, Any]]:
    """Each function of the module's file, and the class or instance whose attributes it can read."""
    for value in list(vars(module).values()):
        value = value.made_shown if type(value) is Made and not value.made_late else value
        if type(value) is types.FunctionType and value.__module__ == module.__name__:
            yield value, types.SimpleNamespace()
        owner = value if issubclass(type(value), type) else type(value)
        if owner.__module__ == module.__name__:
            for part in list(vars(owner).values()):
                inner = getattr(part, "__func__", getattr(part, "fget", part))
                if type(inner) is types.FunctionType:
                    yield inner, value if hasattr(value, "__dict__") else owner


def _held(function: types.FunctionType) -> dict[str, Any]:
    """What the function carries itself: its name, defaults and the variables around it."""
    code = function.__code__
    defaults = dict(zip(reversed(code.co_varnames[: code.co_argcount]), reversed(function.__defaults__ or ())))  # noqa: B905
    cells = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            cells[name] = cell.cell_contents
        except ValueError:  # still empty
            continue
    return {**defaults, **(function.__kwdefaults__ or {}), **cells, "__name__": function.__name__}


def _names(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes that the code reads."""
    yield from (one.argval for one in dis.get_instructions(code) if one.opname in _READS)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _unsettled(value: Any, marks: "Sequence[re.Pattern[str]]", depth: int) -> str:
    """What is not right in it: "text", "keys", or nothing."""
    kind = type(value)
    if kind is str:
        return "text" if any(mark.search(value) for mark in marks) else ""
    if issubclass(kind, (dict, set, frozenset)) and any(_is_deferred(key) for key in list(value)):
        return "keys"
    parts = [*value, *value.values()] if issubclass(kind, dict) else value if issubclass(kind, (*_FLAT, set)) else ()
    found = (_unsettled(part, marks, depth + 1) for part in parts if depth < 5)
    return next((what for what in found if what), "")


def _is_deferred(value: Any) -> bool:
    return hasattr(type(value), "_resolve_deferred_")
