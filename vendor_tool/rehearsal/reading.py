"""What code reads by name, and what objects hold out of sight."""

import contextlib
import functools
import types
from typing import Any

_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"})


@functools.cache
def names(code: types.CodeType) -> tuple[str, ...]:
    """The global names and attributes that the code reads, and the code of functions in it, each once."""
    import dis  # few files need it, and it costs time

    found = [one.argval for one in dis.get_instructions(code) if one.opname in _READS]
    inner = [names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return tuple(dict.fromkeys([*found, *(name for some in inner for name in some)]))


def reads(value: Any, folders: tuple[str, ...]) -> dict[str, Any]:
    """What a decorator finds that reads a function at once: the globals that it and the functions it calls name, and
    attributes of modules among them; of files in the folders."""
    found: dict[str, Any] = {}
    waiting, known = [value], set()
    while waiting:
        function = waiting.pop()
        if type(function) is not types.FunctionType or function.__code__ in known:
            continue
        known.add(function.__code__)
        if not function.__code__.co_filename.startswith(folders):
            continue
        asked = names(function.__code__)
        spaces = {function.__module__: function.__globals__}
        modules = [function.__globals__.get(name) for name in asked]
        spaces |= {one.__name__: vars(one) for one in modules if type(one) is types.ModuleType}
        for home, space in spaces.items():
            if str(space.get("__file__")).startswith(folders):
                found |= {f"{home}.{name}": space[name] for name in asked if name in space}
                waiting += [space[name] for name in asked if name in space]
    return found


def slots(value: Any) -> dict[str, Any]:
    """What an object holds in slots of its classes."""
    found = {}
    for owner in type(value).__mro__:
        for name, slot in vars(owner).items():
            if isinstance(slot, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # it is empty
                    found[name] = slot.__get__(value)
    return found


def closure(function: types.FunctionType) -> dict[str, Any]:
    """The variables around a function."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is still empty
            found[name] = cell.cell_contents
    return found
