"""Words that many messages share."""


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 file`, `2 files`, `3 patches`."""
    plural = {"patch": "patches"}.get(noun, f"{noun}s")
    return f"{number} {noun}" if number == 1 else f"{number} {plural}"
