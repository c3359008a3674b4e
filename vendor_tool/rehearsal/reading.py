"""What code reads, by name."""

import types
from collections.abc import Iterator

_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD"})


def names(code: types.CodeType) -> Iterator[str]:
    """The global names and attributes that the code reads, and the code of functions in it."""
    import dis  # few files need it, and it costs time

    yield from (one.argval for one in dis.get_instructions(code) if one.opname in _READS)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names(constant)
