"""Blobs out of the archives that forges make of a commit: a way out where git does not come through."""

import gzip
import io
import re
import tarfile
import zlib
from collections.abc import Collection, Iterator
from typing import Final
from urllib.parse import urlsplit

from vendor_tool.fetch import http
from vendor_tool.fetch.store import blob_id
from vendor_tool.fetch.trouble import Trouble
from vendor_tool.urls import plain_url

DOWNLOAD: Final = 512 << 20  # bytes of an archive
UNPACKED: Final = 2 << 30  # bytes of what it unpacks to
MEMBER: Final = 64 << 20  # bytes of one file

_FORGES: Final = ("github.com", "gitlab.com", "codeberg.org")


def addresses(url: str, revision: str) -> tuple[str, ...]:
    """Where the forge at `url` offers a commit as an archive; both known forms for a host that we do not know."""
    short = re.match(r"(?:ssh://)?[\w.-]+@([\w.-]+)[:/](.+)", url)
    base = f"https://{short[1]}/{short[2]}" if short else url
    base = base.rstrip("/").removesuffix(".git")
    host = urlsplit(base).hostname or ""
    if not base.startswith(("http://", "https://")) or (short and host not in _FORGES) or host == "huggingface.co":
        return ()
    name = base.rpartition("/")[2]
    forms = {
        "github.com": f"{base}/archive/{revision}.tar.gz",  # Gitea and Forgejo have the same form
        "gitlab.com": f"{base}/-/archive/{revision}/{name}-{revision}.tar.gz",
    }
    if host.startswith("gitlab."):
        return (forms["gitlab.com"],)
    return (forms["github.com"],) if host in _FORGES else tuple(forms.values())


def blobs(url: str, revision: str, wanted: Collection[str]) -> tuple[dict[str, bytes], list[Trouble]]:
    """Those wanted blobs that the archives of a commit hold unchanged, and what stood in the way of the others.

    Attributes of the repository (`export-subst`, `export-ignore`, `eol`) change archives, so a file counts only where
    its id is one that is wanted. Names of members are never looked at.
    """
    found: dict[str, bytes] = {}
    troubles: list[Trouble] = []
    for address in addresses(url, revision):
        with http.request(address, limit=DOWNLOAD) as reply:
            if isinstance(reply, Trouble):
                troubles.append(reply)
                continue
            try:
                for data in _files(io.BufferedReader(reply.body)):
                    oid = blob_id(data)
                    if oid in wanted:
                        found[oid] = data
            except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
                troubles.append(Trouble(plain_url(address), "cut", (f"the archive cannot be read: {error}",)))
        if len(found) == len(wanted):
            return found, []
        troubles.append(Trouble(plain_url(address), "gone", (f"{len(wanted) - len(found)} of the files differ there",)))
    return found, troubles


def _files(packed: io.BufferedReader) -> Iterator[bytes]:
    unpacked = gzip.GzipFile(fileobj=packed)
    pieces = iter(lambda: unpacked.read(http.PIECE), b"")
    plain = io.BufferedReader(http.Limited(pieces, UNPACKED))
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for member in archive:
            # links point, devices act; only bytes are of use
            if member.isreg() and member.size <= MEMBER:
                stream = archive.extractfile(member)
                if stream is not None:
                    yield stream.read()
