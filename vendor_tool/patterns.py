"""Regular expressions that are compiled when they are first used: most commands use few of those that they load."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


class _Pattern:
    """Stands for a compiled pattern; what was asked of it once is answered without a detour the next time."""

    def __init__(self, words: Any, flags: int) -> None:
        self._given = words, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found

    def __eq__(self, other: object) -> bool:
        return re.compile(*self._given) == other  # the pattern that a match names

    def __hash__(self) -> int:
        return hash(re.compile(*self._given))


def pattern(words: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, without the work."""
    return _Pattern(words, flags)  # type: ignore[return-value]  # it has every attribute of one
