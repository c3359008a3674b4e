"""A kernel upstream and a project that vendors it, for the stories of patches and upgrades."""

from pathlib import Path

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import File, Repository, repository

K = "pkg/ops/k.py"
V = "vendored/demo/k.py"


def kernel(*changed: int, size: int = 40, word: str = "ours") -> str:
    """A module of one-line functions, some of which give something else."""
    body = (f"def f{n}(x):\n    return x + {n}{f'  # {word}' if n in changed else ''}\n" for n in range(size))
    return "\n\n".join(body)


FILES: dict[str, File] = {"LICENSE": MIT, K: kernel(), "pkg/ops/other.py": "def other(x):\n    return x\n"}


def upstream_at(path: Path) -> Repository:
    """The upstream with its first commit."""
    made = repository(path)
    made.commit(FILES, "first")
    return made


def consumer_of(path: Path, upstream: Repository, *, name: str = "demo", more: str = "") -> Project:
    """A synced project; one entry at the upstream's main branch."""
    revision = upstream.git("rev-parse", "main")
    text = entry(upstream.url, revision, "[k.py, other.py]", name=name, to=f"vendored/{name}", more=more)
    made = project(path, lock(text, shims=""))
    made.done("sync")
    return made


def patched(consumer: Project, *steps: str) -> None:
    """One patch for each text that the kernel shall have."""
    for number, text in enumerate(steps, 1):
        consumer.write({V: text})
        consumer.done("patch", "new", "demo", "--title", f"Step {number}")
