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
HERE, FORK = 7, 8  # projects
PROJECT = f"/api/v4/projects/{HERE}/merge_requests"


@dataclass(slots=True)
class GitLab:
    """A running service: what was asked for, and the requests that are open, by number."""

    url: str
    open: dict[int, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)  # method and path
    fault: str | None = None  # said with 403 to whatever would change something

    def from_fork(self, branch: str) -> int:
        """A merge request that somebody else opened; its number."""
        number = len(self.open) + 1
        made = {"iid": number, "source_branch": branch, "source_project_id": FORK, "target_branch": "main"}
        self.open[number] = {**made, "title": "mine", "description": "mine"}
        return number


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
        size, page = int(wanted.get("per_page", 20)), int(wanted.get("page", 1))
        assert size <= 100
        newest = [_shown(one) for one in reversed(found)]
        return 200, newest[(page - 1) * size : page * size]
    if gitlab.fault is not None:
        return 403, {"message": gitlab.fault}
    if method == "POST" and parts.path == PROJECT:
        number = len(gitlab.open) + 1
        web = f"https://gitlab.invalid/p/-/merge_requests/{number}"
        gitlab.open[number] = {**body, "iid": number, "source_project_id": HERE, "web_url": web}
        return 201, _shown(gitlab.open[number])
    if method == "PUT" and (match := re.fullmatch(rf"{PROJECT}/(\d+)", parts.path)):
        gitlab.open[int(match[1])] |= body
        return 200, _shown(gitlab.open[int(match[1])])
    return 404, {"message": "404 Not Found"}


def _shown(request: dict[str, Any]) -> dict[str, Any]:
    """A merge request as GitLab gives it out: whether it is a draft is told by its title alone."""
    return {**request, "draft": request["title"].startswith("Draft: ")}
