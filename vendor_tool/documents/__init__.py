"""Documents that are derived from the lock alone: `sync` writes them, `check` finds stale ones."""

from collections.abc import Mapping
from typing import Protocol

from vendor_tool.documents import docstring, notice, provenance, reuse
from vendor_tool.model import Blob, Lock, Tree


class Document(Protocol):
    """A kind of document: which files it reads, and what it makes of them."""

    def inputs(self, lock: Lock) -> list[str]:
        """Local paths of the files that the document is made of, and of itself where people own parts of it."""
        ...

    def render(self, lock: Lock, texts: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The document's files, by local path."""
        ...


DOCUMENTS: Mapping[str, Document] = {
    "notice": notice,
    "provenance": provenance,
    "docstring": docstring,
    "reuse": reuse,
}


def inputs(lock: Lock) -> tuple[str, ...]:
    """Local paths that `render` wants to see: licence texts, NOTICE, patches, and files that people own parts of.

    Paths that do not exist are left out of `texts`.
    """
    return tuple(sorted({path for kind in DOCUMENTS.values() for path in kind.inputs(lock)}))


def render(lock: Lock, texts: Mapping[str, bytes]) -> Tree:
    """Every document that the lock's records make, by local path; the same inputs give the same bytes.

    `texts` holds the bytes of the paths that `inputs` names. Raises UsageError where a file that people own parts of
    has damaged markers.
    """
    return {path: Blob(data) for kind in DOCUMENTS.values() for path, data in sorted(kind.render(lock, texts).items())}


def listed(page: bytes) -> tuple[str, ...]:
    """Local files that a provenance page of ours accounts for, below the page's folder; nothing for another's page."""
    return provenance.listed(page)


def ours(path: str, data: bytes) -> bool:
    """Whether a file at a document's place was written by this tool, and so may be written anew."""
    return provenance.MARK.encode() in data if path.endswith("/PROVENANCE.md") else True
