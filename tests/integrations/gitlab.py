"""As much of GitLab as a job can tell: its merge requests, kept in memory, behind its token."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "glpat-of-the-tests"
PROJECT = "/api/v4/projects/7/merge_requests"


@dataclass(slots=True)
class GitLab:
    """A running service: what was asked for, and the requests that are open, by number."""

    url: str
    open: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # method and path
    fault: str | None = None  # said with 403 to whatever would change something


@contextmanager
def serve() -> Iterator[GitLab]:
    """Answer on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: tests read `GitLab.asked`."""

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_PUT(self) -> None:
            self.answer()

        def answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or "{}")
            gitlab.asked.append(f"{self.command} {urlsplit(self.path).path}")
            status, reply = 401, dict[str, Any]({"message": "401 Unauthorized"})
            if self.headers.get("PRIVATE-TOKEN") == TOKEN:
                status, reply = _reply(gitlab, self.command, self.path, body)
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        gitlab = GitLab(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield gitlab
        finally:
            http.shutdown()
            thread.join()


def _reply(gitlab: GitLab, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
    parts = urlsplit(path)
    if method == "GET" and parts.path == PROJECT:
        wanted = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert wanted.pop("state") == "opened"
        found = [one for one in gitlab.open.values() if one["source_branch"] == wanted["source_branch"]]
        return 200, found
    if gitlab.fault is not None:
        return 403, {"message": gitlab.fault}
    if method == "POST" and parts.path == PROJECT:
        number = len(gitlab.open) + 1
        gitlab.open[number] = {**body, "iid": number, "web_url": f"https://gitlab.invalid/p/-/merge_requests/{number}"}
        return 201, gitlab.open[number]
    if method == "PUT" and (match := re.fullmatch(rf"{PROJECT}/(\d+)", parts.path)):
        gitlab.open[int(match[1])] |= body
        return 200, gitlab.open[int(match[1])]
    return 404, {"message": "404 Not Found"}
