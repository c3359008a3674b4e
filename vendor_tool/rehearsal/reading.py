"""What code reads, by name."""

import types
from collections.abc import Iterator
from typing import Any

_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"})


def names(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes that the code reads, and the code of functions in it."""
    import dis  # few files need it, and it costs time

    yield from (one.argval for one in dis.get_instructions(code) if one.opname in _READS)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names(constant)


def reads(value: Any) -> tuple[Any, ...]:
    """What a decorator finds that reads a function at once: names and values of the globals that it and the functions
    it calls name, and of attributes of modules among them."""
    found: dict[str, Any] = {}
    waiting, known = [value], set()
    while waiting:
        function = waiting.pop()
        if type(function) is types.FunctionType and function.__code__ not in known:
            known.add(function.__code__)
            asked = list(dict.fromkeys(names(function.__code__)))
            spaces = {function.__module__: function.__globals__}
            modules = [function.__globals__.get(name) for name in asked]
            spaces |= {one.__name__: vars(one) for one in modules if type(one) is types.ModuleType}
            for home, space in spaces.items():
                found |= {f"{home}.{name}": space[name] for name in asked if name in space}
                waiting += [space[name] for name in asked if name in space]
    return tuple(part for pair in found.items() for part in pair)
