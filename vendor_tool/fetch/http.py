"""Plain HTTP: one request, tried again where that may help. Sole home of requests."""

import io
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from vendor_tool import __version__
from vendor_tool.fetch.trouble import Kind, Trouble
from vendor_tool.remote import stall
from vendor_tool.urls import plain_url, redacted
from vendor_tool.values import dataclass

if TYPE_CHECKING:
    from requests import Response, Session

PAUSES: Final = (0.5, 1.0, 2.0)  # seconds before the second, third and fourth try
PATIENCE: Final = 30  # the longest `Retry-After`, in seconds, that is waited for
CONNECT: Final = 10  # seconds
PIECE: Final = 65_536  # bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of status 200, its body still to be read. Reading it raises OSError where the transfer breaks off."""

    headers: Mapping[str, str]
    body: "Limited"


class Limited(io.RawIOBase):
    """A body that may not grow past a number of bytes; OSError once it does."""

    def __init__(self, pieces: Iterator[bytes], limit: int) -> None:
        super().__init__()
        self._pieces, self._left, self._rest = pieces, limit, b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # any buffer will do
        """As every raw stream does it."""
        self._rest = self._rest or next(self._pieces, b"")
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        self._left -= len(taken)
        if self._left < 0:
            raise OSError("larger than is sensible")
        buffer[: len(taken)] = taken
        return len(taken)


@contextmanager
def request(
    url: str, *, limit: int, json: object = None, headers: Mapping[str, str] | None = None
) -> Iterator[Reply | Trouble]:
    """Ask for `url`, with POST where there is `json` to send. The body may hold `limit` bytes.

    Proxies, certificates and `.netrc` are those that the user's environment names.
    """
    import requests

    with requests.Session() as session:
        session.headers["User-Agent"] = f"vendor-tool/{__version__}"
        session.headers.update(headers or {})
        try:
            answer = _answer(session, url, json)
        except requests.RequestException as error:
            yield Trouble(plain_url(url), "unreachable", (redacted(_reason(error)),))
            return
        with answer:
            if answer.status_code == 200:
                yield Reply(answer.headers, Limited(answer.iter_content(PIECE), limit))
            else:
                line = f"HTTP status {answer.status_code} {answer.reason or ''}".rstrip()
                yield Trouble(plain_url(url), _kind(answer.status_code), (line,))


def _answer(session: "Session", url: str, json: object) -> "Response":
    method = "GET" if json is None else "POST"
    attempts: tuple[float | None, ...] = (*PAUSES, None)
    for pause in attempts:
        answer = session.request(method, url, json=json, stream=True, timeout=(CONNECT, stall()))
        wait = _wait(answer.status_code, answer.headers, pause)
        if wait is None:
            return answer
        answer.close()
        time.sleep(wait)
    raise AssertionError("the last attempt returns")


def _wait(status: int, headers: Mapping[str, str], pause: float | None) -> float | None:
    if pause is None or _kind(status) != "busy":
        return None
    asked = headers.get("Retry-After", "")
    if not asked.isdecimal():
        return pause
    return float(asked) if int(asked) <= PATIENCE else None


def _kind(status: int) -> Kind:
    if status in (404, 410):
        return "gone"
    return "busy" if status in (429, 500, 502, 503, 504) else "denied"


def _reason(error: Exception) -> str:
    # the innermost cause says it without the object addresses of the outer ones
    while isinstance(inner := error.__cause__ or error.__context__, Exception):
        error = inner
    return str(error) or type(error).__name__
