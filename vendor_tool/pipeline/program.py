"""What tells one state of this program from another, while somebody works on it or installs it anew."""

from __future__ import annotations

import os
from collections.abc import Iterator


def files() -> list[list[str | int]]:
    """Path, time of change and size of every file of the program, sorted, as JSON gives them back."""
    return sorted(_below(os.path.dirname(os.path.dirname(__file__))))  # noqa: PTH120 - `pathlib` costs more


def _below(folder: str) -> Iterator[list[str | int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _below(entry.path)
            else:
                found = entry.stat()
                yield [entry.path, found.st_mtime_ns, found.st_size]
