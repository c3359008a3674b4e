"""Where the lock and the cache are; loads nothing, so that a quick answer stays one."""

from __future__ import annotations

import os
from collections.abc import Iterator

LOCK = "vendor.lock.yaml"


def cache() -> str:
    """The user's cache folder for this tool."""
    if named := os.environ.get("VENDOR_TOOL_CACHE"):
        return named
    return f"{os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')}/vendor-tool"  # noqa: PTH111


def lock() -> str:
    """The lock of the folder one stands in, or of the nearest one above it."""
    here = os.getcwd()  # noqa: PTH109 - keeps the spelling of a linked folder
    found = (f"{folder}/{LOCK}" for folder in _upwards(here))
    return next((path for path in found if os.path.isfile(path)), f"{here}/{LOCK}")  # noqa: PTH113


def top(folder: str) -> str:
    """The top of the repository that a folder is in, which reports name their paths from; the folder itself if none."""
    return next((one or "/" for one in _upwards(folder) if os.path.exists(f"{one}/.git")), folder)  # noqa: PTH110


def _upwards(folder: str) -> Iterator[str]:
    """A folder and all above it, the root as nothing."""
    folder = folder.rstrip("/")
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""
