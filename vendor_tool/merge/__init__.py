"""Local changes that survive: a patch series carried to a new base, edited in the middle, sent upstream."""

from vendor_tool.merge.edit import capture, drop, next_path, refresh
from vendor_tool.merge.export import export
from vendor_tool.merge.series import EDITS, Plan, Rebase, Resolution, Status, Step, carry, resume, upgrade
from vendor_tool.merge.text import Clash, Labels, Merged, markers_left, merge
from vendor_tool.merge.trees import Conflict, ConflictKind, MergedTree, merge_trees

__all__ = [
    "EDITS",
    "Clash",
    "Conflict",
    "ConflictKind",
    "Labels",
    "Merged",
    "MergedTree",
    "Plan",
    "Rebase",
    "Resolution",
    "Status",
    "Step",
    "capture",
    "carry",
    "drop",
    "export",
    "markers_left",
    "merge",
    "merge_trees",
    "next_path",
    "refresh",
    "resume",
    "upgrade",
]
