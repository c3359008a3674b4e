"""One branch and one request to merge it for each upstream whose files changed, whatever service the job runs on.

Runs in a clean checkout. From the environment it takes LOCK and ARGUMENTS (of `outdated`). `outdated` runs once, the
plan of each upgrade is made once; both are read as JSON.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Protocol

from vendor_tool.ci import branch, report
from vendor_tool.ci.branch import Remote, git
from vendor_tool.ci.plan import Plan, Upgrade, planned, tool
from vendor_tool.ci.problem import JobError
from vendor_tool.ci.report import Run
from vendor_tool.errors import ExitCode

TOLD: Final = (ExitCode.CLEAN, ExitCode.FINDINGS, ExitCode.UPSTREAM)  # with which `outdated` has told what it found
# with which an upgrade to another licence ends; the plan says whether that is why
ASKS: Final = (ExitCode.USAGE, ExitCode.CONTENT, ExitCode.CONFLICT)


class Forge(Protocol):
    """The service that a job runs on."""

    remote: Remote
    limit: int  # characters of a request's body

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        """Open the request, or give the open one its new title and body; the line for the summary."""

    def complain(self, line: str) -> None:
        """Say that something failed."""

    def end(self, lines: list[str], found: Run | None, code: int) -> None:
        """Show what became of each upstream, what `outdated` found if it did not fail, and the exit code."""


def run(forge: Forge) -> int:
    """Handle every upstream, even where another one fails. The exit code: 0, or that of the first failure."""
    found, code = outdated()
    start, failures, said = git("rev-parse", "HEAD"), [code] if code > 1 else [], []
    for upgrade in upgrades(found):
        try:
            said.append(handle(forge, upgrade, start))
        except JobError as problem:
            failures.append(problem.code)
            said.append(f"`{upgrade.name}`: {problem}")
            forge.complain(said[-1])
        finally:
            git("checkout", "--quiet", "--force", "--detach", start)
    if not said:
        said.append(f"`vendor-tool outdated` failed with exit code {code}" if failures else "no files of ours changed")
    forge.end(said, found, failures[0] if failures else 0)
    return failures[0] if failures else 0


def outdated() -> tuple[Run | None, int]:
    """What `outdated` finds unless it fails, and its exit code: 3 where an upstream did not answer, others told."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.json"
        words = os.environ.get("ARGUMENTS", "").split()
        command = [*tool(), "outdated", *words, "--format", "json", "--output", str(file)]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        return report.read(file) if code in TOLD else None, code


def upgrades(found: Run | None) -> list[Upgrade]:
    """The upgrades that `outdated` proposes."""
    changed = [one for one in (found.findings if found else ()) if one.rule == "upstream-changed"]
    listed = [Upgrade(one.upstream, one.revision) for one in changed if one.upstream and one.revision]
    return sorted(listed, key=lambda upgrade: upgrade.name)


def handle(forge: Forge, upgrade: Upgrade, start: str) -> str:
    """Bring branch and request of one upstream to its newest revision; the line for the summary."""
    theirs = branch.fetch(forge.remote, upgrade.branch)
    if theirs is not None and not branch.ours(forge.remote, theirs):
        return f"`{upgrade.name}`: left alone, since somebody else pushed to `{upgrade.branch}`"
    plan = planned(upgrade)
    if plan.lacks:
        commits = "1 commit" if plan.lacks == 1 else f"{plan.lacks} commits"
        return f"`{upgrade.name}`: no request, since the pin has {commits} that `{upgrade.revision[:12]}` lacks"
    others = branch.untracked()
    git("checkout", "--quiet", "-B", upgrade.branch, start)
    by_hand = plan.stops or refused(plan)
    branch.commit(forge.remote, upgrade.title, start, others, empty=by_hand)
    if not branch.push(forge.remote, upgrade.branch, theirs):
        return f"`{upgrade.name}`: left alone, since somebody pushed to `{upgrade.branch}` meanwhile"
    opening = plan.by_hand if by_hand else plan.unsure if plan.lacks is None else ""
    return forge.request(upgrade, shortened(opening + plan.text, upgrade, forge.limit), draft=bool(opening))


def refused(plan: Plan) -> bool:
    """Carry an upgrade out; whether it waits for a person to accept another licence."""
    code = subprocess.run([*tool(), "sync", plan.upgrade.target], check=False).returncode
    if code and not (plan.licence and code in ASKS):
        raise JobError(f"`vendor-tool sync` failed with exit code {code}", code)
    return bool(code)


def shortened(body: str, upgrade: Upgrade, limit: int) -> str:
    """A body as long as the service takes it, that says what it lacks."""
    if len(body) <= limit:
        return body
    rest = f"\n\n**The plan is longer than this.** `vendor-tool sync {upgrade.target} --dry-run` prints all of it.\n"
    return body[: limit - len(rest)].rpartition("\n")[0] + rest
