"""Addresses of upstreams: which are refused, and how they are shown. Pure, so that reading a lock stays cheap."""

import re
from typing import Final
from urllib.parse import urlsplit, urlunsplit

SCHEMES: Final = ("https", "http", "ssh", "git", "file")
ARCHIVES: Final = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")


def check_url(url: str) -> str | None:
    """Why an address is refused, as the end of a sentence; None where git may have it.

    Helper transports (`ext::`, `fd::`, any `name::`) are commands by design and option-like text becomes an
    option of git: neither is ever passed on (CVE-2022-24439).
    """
    if url.startswith("-"):
        return "begins with `-`, so git would read it as an option"
    if any(ord(letter) < 33 or ord(letter) == 127 for letter in url):
        return "holds a space or a control character"
    if re.match(r"[A-Za-z0-9+.-]+::", url):
        return f"names the helper transport `{url.split('::')[0]}::`, which can run commands"
    if url.lower().endswith(ARCHIVES):
        return "is an archive, not a git repository"
    if "://" not in url:
        if url.startswith("/") or re.match(r"[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+:(?!/*-)", url):
            return None
        return "is neither a URL, nor `user@host:path`, nor an absolute path"
    scheme = url.split("://")[0].lower()
    if scheme not in SCHEMES:
        return f"has the scheme `{scheme}`; known are {', '.join(SCHEMES)}"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        return f"is not a URL: {error}"
    if (scheme != "ssh" and parts.username is not None) or parts.password is not None:
        return "holds credentials (user, password or token); leave them out and use a git credential helper"
    if scheme != "file" and (parts.query or parts.fragment or "?" in url or "#" in url):
        return "holds `?` or `#`, behind which credentials may stand; leave that part out"
    if scheme != "file" and (not host or host.startswith("-")):
        return "has no host"
    return None


def plain_url(text: str) -> str:
    """An address without user, password and token, fit to be shown and recorded."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return text.split("://")[0] + "://..."
    netloc = parts.netloc.rpartition("@")[2]
    if parts.scheme == "ssh" and parts.username and parts.password is None:
        netloc = f"{parts.username}@{netloc}"
    return urlunsplit(parts._replace(netloc=netloc))


# a user or a token before `@`, but for the user of ssh, and whatever stands behind `?`
_SECRETS = (
    (re.compile(r"(https?://)[^/@\s'\"`]+@", re.IGNORECASE), r"\1"),
    (re.compile(r"([a-z][a-z0-9+.-]*://)[^/@\s'\"`]*:[^/@\s'\"`]*@", re.IGNORECASE), r"\1"),
    (re.compile(r"(https?://[^\s?'\"`]+)\?[^\s'\"`]*", re.IGNORECASE), r"\1"),
)


def redacted(text: str) -> str:
    """Text in which every address is without credentials: what any message or document may show."""
    for pattern, rest in _SECRETS:
        text = pattern.sub(rest, text)
    return text
