"""Blobs out of the Software Heritage archive, by their git ids: the last way out for a commit that is gone.

The requests are those of its API, version 1 (`docs.softwareheritage.org`, `swh.web` 0.17.13).
"""

import ipaddress
import json
import os
import re
from collections.abc import Collection
from datetime import datetime, timezone
from typing import Final
from urllib.parse import urlsplit

from vendor_tool.fetch import http
from vendor_tool.fetch.store import blob_id
from vendor_tool.fetch.trouble import Trouble

ROOT: Final = "https://archive.softwareheritage.org/api/1"  # `VENDOR_TOOL_HERITAGE` overrides, `off` turns it off
BATCH: Final = 1000  # ids in one question; the server refuses more
LARGEST: Final = 64 << 20  # bytes of one file


def blobs(url: str, wanted: Collection[str]) -> tuple[dict[str, bytes], list[Trouble]]:
    """Those wanted blobs that the archive knows, and what stood in the way of the others.

    One question finds what is known, then one request a blob: the archive allows 120 an hour, or 1,200 with the
    token of `VENDOR_TOOL_HERITAGE_TOKEN`. Nothing is asked about the repositories of a local or private host.
    """
    root = os.environ.get("VENDOR_TOOL_HERITAGE", ROOT if public(url) else "off").rstrip("/")
    if root == "off":
        return {}, []
    known = _known(root, sorted(wanted))
    if isinstance(known, Trouble):
        return {}, [known]
    found: dict[str, bytes] = {}
    for oid in known:
        # the answer's headers name what is left
        with http.request(f"{root}/content/sha1_git:{oid}/raw/", limit=LARGEST, headers=_token()) as reply:
            if isinstance(reply, Trouble):
                return found, [reply]
            try:
                data = reply.body.readall() or b""
            except OSError as error:
                return found, [Trouble(root, "cut", (f"`{oid}` did not arrive whole: {error}",))]
            if blob_id(data) != oid:
                return found, [Trouble(root, "broken", (f"what came as `{oid}` is not that blob",))]
            found[oid] = data
            if len(found) < len(known) and reply.headers.get("X-RateLimit-Remaining") == "0":
                return found, [Trouble(root, "busy", (_reset(reply.headers.get("X-RateLimit-Reset", "")),))]
    missing = len(wanted) - len(found)
    return found, [Trouble(root, "gone", (f"{missing} of the files are not archived",))] if missing else []


def public(url: str) -> bool:
    """Whether a repository is on a host that the archive can have visited."""
    short = re.match(r"[\w.-]+@([\w.-]+):", url)
    host = short[1] if short else urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".local", ".internal", ".lan", ".invalid", ".test", ".localhost"))


def _known(root: str, oids: list[str]) -> list[str] | Trouble:
    found: list[str] = []
    for start in range(0, len(oids), BATCH):
        names = [f"swh:1:cnt:{oid}" for oid in oids[start : start + BATCH]]
        with http.request(f"{root}/known/", limit=LARGEST, json=names, headers=_token()) as reply:
            if isinstance(reply, Trouble):
                return reply
            try:
                answer = json.loads(reply.body.readall() or b"")
                found += [oid for oid, name in zip(oids[start:], names, strict=False) if answer[name]["known"]]
            except (OSError, ValueError, KeyError, TypeError):
                return Trouble(root, "broken", ("the answer of `/known/` cannot be read",))
    return found


def _token() -> dict[str, str]:
    token = os.environ.get("VENDOR_TOOL_HERITAGE_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def _reset(stamp: str) -> str:
    if not stamp.isdecimal():
        return "the limit of requests is used up"
    return f"the limit of requests is used up until {datetime.fromtimestamp(int(stamp), timezone.utc).isoformat()}"
