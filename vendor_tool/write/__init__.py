"""Tree to disk: one run at a time, no way through a symbolic link, all files or none."""

from vendor_tool.write.journal import FSYNC_EACH, STAGE, commit, left_over, pending
from vendor_tool.write.paths import FOLDER, inspect, read
from vendor_tool.write.turn import exclusive, own_folder

__all__ = [
    "FOLDER",
    "FSYNC_EACH",
    "STAGE",
    "commit",
    "exclusive",
    "inspect",
    "left_over",
    "own_folder",
    "pending",
    "read",
]
