"""Patch files: a DEP-3 head over a git-style unified diff. Parsed strictly, applied exactly, rendered as git does."""

from vendor_tool.patch.apply import Offset, apply, offsets, replay, reverse
from vendor_tool.patch.head import dep3_check, dep3_head
from vendor_tool.patch.moved import moved
from vendor_tool.patch.parse import FileDiff, Hunk, Patch, parse
from vendor_tool.patch.render import render

__all__ = [
    "FileDiff",
    "Hunk",
    "Offset",
    "Patch",
    "apply",
    "dep3_check",
    "dep3_head",
    "moved",
    "offsets",
    "parse",
    "render",
    "replay",
    "reverse",
]
