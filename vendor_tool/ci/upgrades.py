"""One branch and one request to merge it for each upstream whose files changed, whatever service the job runs on.

Runs in a clean checkout. From the environment it takes LOCK and ARGUMENTS (of `outdated`).
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

UPGRADE: Final = re.compile(r"vendor-tool sync (?P<name>[\w.-]+)@(?P<revision>[0-9a-f]{40})")
CONFLICT: Final = 5
UNREACHABLE: Final = 3
PERSON: Final = (2, 4, CONFLICT)  # may mean that a person has to do something first; the plan says whether


@dataclass(frozen=True)
class Upgrade:
    """An upstream, and the revision that it should go to."""

    name: str
    revision: str

    @property
    def branch(self) -> str:
        """The branch that is the upstream's own, so that a later upgrade updates the same request."""
        return f"vendor-tool/{self.name}"

    @property
    def title(self) -> str:
        """Of commit and request."""
        return f"Upgrade vendored {self.name} to {self.revision[:12]}"


class RequestError(Exception):
    """The service took no request, or did not answer; the text says why."""


class Forge(Protocol):
    """The service that a job runs on."""

    name: str  # whose commits these are
    email: str
    remote: str  # what git pushes to
    environment: Mapping[str, str]  # that git needs to be let in
    limit: int  # characters of a request's body

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        """Open the request, or give the open one its new title and body; the line for the summary."""

    def complain(self, line: str) -> None:
        """Say that something failed."""

    def end(self, lines: list[str], code: int) -> None:
        """Show what became of each upstream, and the exit code."""


def run(forge: Forge) -> int:
    """Handle every upstream, even where another one fails. The exit code: 0, or that of the first failure."""
    found, code = outdated()
    start, failures, said = git("rev-parse", "HEAD"), [code] if code > 1 else [], []
    for upgrade in found:
        try:
            said.append(handle(forge, upgrade, start))
        except (subprocess.CalledProcessError, RequestError) as problem:
            failures.append(1 if isinstance(problem, RequestError) else problem.returncode)
            said.append(f"`{upgrade.name}`: {_why(problem)}")
            forge.complain(said[-1])
        finally:
            git("checkout", "--quiet", "--force", "--detach", start)
    if not said:
        said.append(f"`vendor-tool outdated` failed with exit code {code}" if failures else "no files of ours changed")
    forge.end(said, failures[0] if failures else 0)
    return failures[0] if failures else 0


def _why(problem: subprocess.CalledProcessError | RequestError) -> str:
    if isinstance(problem, RequestError):
        return str(problem)
    return f"`{' '.join(problem.cmd[:2])}` failed with exit code {problem.returncode}"


def outdated() -> tuple[list[Upgrade], int]:
    """The upgrades that `outdated` proposes, and its exit code: 3 where an upstream did not answer, others told."""
    ran = _outdated("json")
    if ran.returncode > 1 and ran.returncode != UNREACHABLE:
        return [], ran.returncode
    findings = json.loads(ran.stdout)["findings"]
    fixes = [UPGRADE.fullmatch(f["fix"]) for f in findings if f["rule"] == "upstream-changed"]
    return [Upgrade(match["name"], match["revision"]) for match in fixes if match is not None], ran.returncode


def told(form: str) -> str:
    """All that `outdated` finds, in one of its formats; nothing where it fails."""
    ran = _outdated(form)
    return ran.stdout if ran.returncode in (0, 1, UNREACHABLE) else ""


def _outdated(form: str) -> "subprocess.CompletedProcess[str]":
    command = [*tool(), "outdated", *os.environ.get("ARGUMENTS", "").split(), "--format", form]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)


def handle(forge: Forge, upgrade: Upgrade, start: str) -> str:
    """Bring branch and request of one upstream to its newest revision; the line for the summary."""
    theirs = remote_commit(forge, upgrade.branch)
    if theirs is not None and git("log", "-1", "--format=%ce", theirs) != forge.email:
        return f"`{upgrade.name}`: left alone, since somebody else pushed to `{upgrade.branch}`"
    target = f"{upgrade.name}@{upgrade.revision}"
    plan = subprocess.run(
        [*tool(), "sync", target, "--dry-run", "--format", "markdown"], stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    others = untracked()
    git("checkout", "--quiet", "-B", upgrade.branch, start)
    code = subprocess.run([*tool(), "sync", target], check=False).returncode
    draft = code in PERSON and needs_person(target)
    if code == CONFLICT:
        # an upgrade that was refused leaves nothing to give up
        subprocess.run([*tool(), "sync", "--abort"], check=False)
    if code and not draft:
        raise subprocess.CalledProcessError(code, ["vendor-tool", "sync"])
    commit(forge, upgrade, others, empty=draft)
    if theirs is None or not same(theirs, "HEAD"):
        git("push", "--quiet", "--force", forge.remote, f"HEAD:refs/heads/{upgrade.branch}", env=forge.environment)
    body = (by_hand(upgrade) if draft else "") + plan
    return forge.request(upgrade, body[: forge.limit], draft=draft)


def needs_person(target: str) -> bool:
    """Whether the plan of an upgrade stops at a conflict, at something to edit, or at another licence to accept."""
    command = [*tool(), "sync", target, "--dry-run", "--format", "json"]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    plans = json.loads(ran.stdout)["plans"] if ran.stdout else []
    return any(plan["verdict"] != "clean" or any(news["what"] == "licence" for news in plan["legal"]) for plan in plans)


def by_hand(upgrade: Upgrade) -> str:
    """What a request begins with that a person has to finish."""
    return (
        f"**This upgrade needs a person.** Check out `{upgrade.branch}`, run `vendor-tool sync "
        f"{upgrade.name}@{upgrade.revision}`, do what it asks for, run `vendor-tool sync --continue` where files "
        "were marked, push.\n\n"
    )


def untracked() -> list[str]:
    """What else lies in the checkout, such as the job's caches: paths, folders as one."""
    listed = git("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    return [path for path in listed.split("\0") if path]


def commit(forge: Forge, upgrade: Upgrade, others: list[str], *, empty: bool) -> None:
    """Commit what the upgrade wrote; nothing where a person is needed, so that there is a branch to finish it on."""
    left_out = (f":(top,exclude,literal){path}" for path in others)
    git("add", "--all", "--", str(Path(os.environ["LOCK"]).parent), *left_out)
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", forge.name), ("EMAIL", forge.email))
    }
    git("commit", "--quiet", "--message", upgrade.title, *(["--allow-empty"] if empty else []), env=who)


def remote_commit(forge: Forge, branch: str) -> str | None:
    """Fetch a branch of the remote; its commit, None where there is none."""
    if not git("ls-remote", "--heads", forge.remote, f"refs/heads/{branch}", env=forge.environment):
        return None
    git("fetch", "--quiet", "--depth=2", forge.remote, f"refs/heads/{branch}", env=forge.environment)
    return git("rev-parse", "FETCH_HEAD")


def same(one: str, other: str) -> bool:
    """Whether two commits have the same files, base and message, so that a push would only start CI again."""
    return all(
        git("log", "-1", f"--format={form}", one) == git("log", "-1", f"--format={form}", other)
        for form in ("%T", "%P", "%s")
    )


def tool() -> list[str]:
    """The start of every call of the program."""
    return ["vendor-tool", "--lock", os.environ["LOCK"]]


def git(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run git; what it prints."""
    ran = subprocess.run(
        ["git", *arguments], env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, text=True, check=True
    )
    return ran.stdout.strip()
