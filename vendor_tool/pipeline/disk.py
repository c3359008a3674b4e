"""Plain files below the lock's folder, read without following a link; loads nothing, so that a quick look stays one."""

from __future__ import annotations

import os
import stat


class Folders:
    """Which folders were found to be real ones: asked once each, not once for every file in them."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.known: dict[str, bool] = {"": True}

    def real(self, folder: str) -> bool:
        """Whether no part of a folder's path is a link, or anything else but a folder."""
        found = self.known.get(folder)
        if found is None:
            found = self.real(folder.rpartition("/")[0])
            try:
                found = found and stat.S_ISDIR(os.lstat(f"{self.root}/{folder}").st_mode)
            except OSError:
                found = False
            self.known[folder] = found
        return found

    def read(self, path: str) -> tuple[bytes, bool] | None:
        """Bytes of a plain file and whether it is executable; None for anything else, and for nothing."""
        if not self.real(path.rpartition("/")[0]):
            return None
        try:
            handle = os.open(f"{self.root}/{path}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return None
            with open(handle, "rb", buffering=0, closefd=False) as stream:
                return stream.readall(), bool(found.st_mode & stat.S_IXUSR)
        finally:
            os.close(handle)

    def names(self, folder: str) -> list[str] | None:
        """What lies in a folder, sorted, without what interpreters and desktops leave behind; None for no folder."""
        if not self.real(folder):
            return None
        try:
            return sorted(name for name in os.listdir(f"{self.root}/{folder}") if not litter(name))
        except OSError:
            return None


def litter(name: str) -> bool:
    """Whether a file or folder is nobody's work."""
    return name in LITTER or name.endswith(".pyc")


LITTER = ("__pycache__", ".DS_Store", ".gitignore", ".gitattributes")
