"""The branch of one upgrade: a single commit of the job's, that is replaced for as long as nobody else touched it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vendor_tool.ci.problem import JobError

# by it a branch that holds the job's commit alone is told from one where its commit stands upon somebody's work,
# without the history in between, which shallow checkouts lack
BASE: Final = "Vendor-tool-base"


@dataclass(frozen=True)
class Remote:
    """Where branches go, and whose commits they hold."""

    name: str  # of the committer
    email: str
    address: str  # what git pushes to
    environment: Mapping[str, str]  # that git needs to be let in


@dataclass(frozen=True)
class Commit:
    """What a commit holds, without its times."""

    tree: str
    parents: tuple[str, ...]
    email: str  # of the committer
    message: str


def read(commit: str) -> Commit:
    """A commit as it is written, for `git log` hides the parents of those at the end of a shallow history."""
    head, _, message = git("cat-file", "commit", commit).partition("\n\n")
    fields = [line.partition(" ") for line in head.split("\n")]
    values = {name: value for name, _, value in fields if name}
    parents = tuple(value for name, _, value in fields if name == "parent")
    email = values["committer"].partition("<")[2].rpartition(">")[0]
    return Commit(values["tree"], parents, email, message.strip())


def fetch(remote: Remote, name: str) -> str | None:
    """Fetch a branch of the remote; its commit, None where there is none."""
    if _listed(remote, name) is None:
        return None
    git("fetch", "--quiet", "--depth=1", remote.address, f"refs/heads/{name}", env=remote.environment)
    return git("rev-parse", "FETCH_HEAD")


def _listed(remote: Remote, name: str) -> str | None:
    listed = git("ls-remote", "--heads", remote.address, f"refs/heads/{name}", env=remote.environment)
    return listed.partition("\t")[0] or None


def ours(remote: Remote, commit: str) -> bool:
    """Whether a branch's commit is the job's own, and stands where the job put it."""
    found = read(commit)
    return found.email == remote.email and found.message.split("\n")[-1:] == [f"{BASE}: {' '.join(found.parents)}"]


def untracked() -> list[str]:
    """What else lies in the checkout, such as the job's caches: paths, folders as one."""
    listed = git("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    return [path for path in listed.split("\0") if path]


def commit(remote: Remote, title: str, start: str, others: list[str], *, empty: bool) -> None:
    """Commit what the upgrade wrote; nothing where a person is needed, so that there is a branch to finish it on."""
    left_out = (f":(top,exclude,literal){path}" for path in others)
    git("add", "--all", "--", str(Path(os.environ["LOCK"]).parent), *left_out)
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", remote.name), ("EMAIL", remote.email))
    }
    message = ("--message", title, "--message", f"{BASE}: {start}")
    git("commit", "--quiet", *message, *(["--allow-empty"] if empty else []), env=who)


def push(remote: Remote, name: str, theirs: str | None) -> bool:
    """Put the commit in the place of `theirs`; False where the branch is not what it was any more.

    A commit that says the same stays, since a push would only start CI again. JobError where the remote takes none.
    """
    if theirs is not None and read(theirs) == read("HEAD"):
        return True
    ref = f"refs/heads/{name}"
    lease = f"--force-with-lease={ref}:{theirs or ''}"
    try:
        git("push", "--quiet", lease, remote.address, f"HEAD:{ref}", env=remote.environment)
    except JobError:
        if _listed(remote, name) == theirs:
            raise
        return False
    return True


def git(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run git; what it prints. JobError where it fails, after its own words in the log."""
    ran = subprocess.run(
        ["git", *arguments],
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
    )
    if ran.returncode:
        raise JobError(f"`git {arguments[0]}` failed with exit code {ran.returncode}")
    return ran.stdout.strip()
