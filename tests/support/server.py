"""A loopback HTTP server for tests: git repositories through `git http-backend`, plain answers, chosen faults."""

import gzip
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One request that came in, and how many bytes of body went out for it."""

    method: str
    path: str
    body: bytes  # unpacked
    sent: int
    headers: dict[str, str]


@dataclass(slots=True)
class Server:
    """A running server: what it has answered, and the faults that it has from now on."""

    url: str
    requests: list[Request] = field(default_factory=list)
    first: list[Answer] = field(default_factory=list)  # given to the next requests instead of the right answers
    plain: dict[str, Answer] = field(default_factory=dict)  # path to answer, before any repository
    cuts: int = 0  # so many packs break off half way
    old_protocol: bool = False  # git protocol version 0, as from a server of before 2018
    stalled: bool = False  # take requests and never answer

    @property
    def sent(self) -> int:
        """Bytes of all answers' bodies."""
        return sum(request.sent for request in self.requests)


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Serve the bare repositories in a folder: `Server.url` and the path below the folder is their address."""
    end = threading.Event()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: tests read `Server.requests`."""

        def do_GET(self) -> None:
            self.answer(b"")

        def do_POST(self) -> None:
            self.answer(_body(self))

        def plain(self, body: bytes) -> bytes:
            return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

        def answer(self, body: bytes) -> None:
            if server.stalled:
                end.wait()
                return
            with lock:
                early = server.first.pop(0) if server.first else server.plain.get(self.path)
            reply = early or _git(folder, self, body, server.old_protocol)
            with lock:
                cut = server.cuts > 0 and b"PACK" in reply.body
                server.cuts -= cut
                data = reply.body[: len(reply.body) // 2] if cut else reply.body
                server.requests.append(
                    Request(self.command, self.path, self.plain(body), len(data), dict(self.headers))
                )
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = self.close_connection or cut

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server = Server(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            end.set()
            http.shutdown()
            thread.join()


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get("Transfer-Encoding", "").lower() != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
    parts = []
    while size := int(handler.rfile.readline(), 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(parts)


def _git(folder: Path, handler: BaseHTTPRequestHandler, body: bytes, old_protocol: bool) -> Answer:
    path, _, query = handler.path.partition("?")
    variables = {
        **os.environ,
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": handler.command,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": "" if old_protocol else handler.headers.get("Git-Protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(["git", "http-backend"], input=body, env=variables, capture_output=True, check=False)
    head, _, data = done.stdout.partition(b"\r\n\r\n")
    fields = [(name, value) for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n"))]
    status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
    return Answer(data, status, tuple(item for item in fields if item[0] not in ("Status", "")))
