"""Real git repositories for tests, made commit by commit with `git fast-import`: one process each, fixed dates."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from vendor_tool.model import At, Upstream

FIRST = 1_700_000_000  # seconds since 1970 of the first commit; every next one is a minute later


@dataclass(frozen=True, slots=True)
class Executable:
    """A file with its executable bit set."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule at a commit."""

    revision: str


File: TypeAlias = str | bytes | Executable | Link | Submodule | None
"""What a commit puts at a path; None takes the path away."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare repository at `path`, which serves objects by id and partial clones as the big forges do."""

    path: Path

    @property
    def url(self) -> str:
        """Its address on this machine."""
        return self.path.as_uri()

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git in it and give back the output without the last newline."""
        command = ["git", "--git-dir", str(self.path), *arguments]
        return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True).stdout.decode().rstrip("\n")

    def commit(
        self,
        files: Mapping[str, File],
        message: str = "change",
        *,
        ref: str = "refs/heads/main",
        parent: str | None = None,
        merges: Sequence[str] = (),
        zone: str = "+0000",
        author: str = "Ada Example",
    ) -> str:
        """Put files on top of a ref, or of `parent` where that is given; the new commit's id.

        A ref that does not exist begins a history of its own unless `parent` is given.
        """
        count = int(self.git("rev-list", "--all", "--count"))
        stamp = f"<ada@example.invalid> {FIRST + 60 * count} {zone}"
        base = parent or self.git("for-each-ref", "--format=%(objectname)", ref)
        text = message.encode()
        stream = [f"commit {ref}\nauthor {author} {stamp}\ncommitter {author} {stamp}\n".encode()]
        stream += [b"data %d\n%s\n" % (len(text), text)]
        stream += [f"from {base}\n".encode()] if base else []
        stream += [f"merge {other}\n".encode() for other in merges]
        stream += [_change(path, content) for path, content in files.items()]
        self.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
        return self.git("rev-parse", ref)

    def tag(self, name: str, target: str, *, annotated: bool = False) -> str:
        """Tag an object; the id that the tag's ref holds, which is a tag object's where it is annotated."""
        self.git("tag", *(["-a", "-m", f"release {name}"] if annotated else []), name, target)
        return self.git("rev-parse", f"refs/tags/{name}")

    def blob(self, revision: str, path: str) -> str:
        """The blob id of a path at a revision."""
        return self.git("rev-parse", f"{revision}:{path}")

    def configure(self, key: str, value: str) -> None:
        """Set one of the repository's own settings."""
        self.git("config", key, value)


def repository(path: Path, *, object_format: str = "sha1") -> Repository:
    """An empty bare repository."""
    command = ["git", "init", "-q", "--bare", "-b", "main", f"--object-format={object_format}", str(path)]
    subprocess.run(command, check=True)
    made = Repository(path)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        made.configure(key, "true")
    return made


def entry(url: str, revision: str = "0" * 40, *, name: str = "kernels", mirrors: Sequence[str] = ()) -> Upstream:
    """The lock's entry for an upstream, with nothing but its address and revision."""
    return Upstream(name=name, url=url, revision=revision, at=At(1, 1), revision_at=At(1, 1), mirrors=tuple(mirrors))


def _change(path: str, content: File) -> bytes:
    # surrogates stand for the bytes of a path that is not UTF-8
    raw = path.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    quoted = b'"' + raw + b'"'
    if content is None:
        return b"D %s\n" % quoted
    if isinstance(content, Submodule):
        return b"M 160000 %s %s\n" % (content.revision.encode(), quoted)
    mode, data = _plain(content)
    return b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted, len(data), data)


def _plain(content: str | bytes | Executable | Link) -> tuple[bytes, bytes]:
    if isinstance(content, Executable):
        return b"100755", content.data
    if isinstance(content, Link):
        return b"120000", content.target.encode()
    return b"100644", content.encode() if isinstance(content, str) else content
