"""Open or update one pull request for each upstream whose files changed; the last step of the action.

Runs in a clean checkout, with `vendor-tool`, `git` and `gh` on the path, and needs nothing but the standard library.
From the environment it takes LOCK, BASE (branch to merge into), ARGUMENTS (of `outdated`) and LABELS.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UPGRADE: Final = re.compile(r"vendor-tool sync (?P<name>[\w.-]+)@(?P<revision>[0-9a-f]{40})")
BOT: Final = "41898282+github-actions[bot]@users.noreply.github.com"
IDENTITY: Final = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "github-actions[bot]"), ("EMAIL", BOT))
}
LIMIT: Final = 60_000  # characters of a body; GitHub refuses more than 65,536
CONFLICT: Final = 5
UNREACHABLE: Final = 3


@dataclass(frozen=True)
class Upgrade:
    """An upstream, and the revision that it should go to."""

    name: str
    revision: str

    @property
    def branch(self) -> str:
        """The branch that is the upstream's own, so that a later upgrade updates the same pull request."""
        return f"vendor-tool/{self.name}"


def main() -> int:
    """Handle every upstream, even where another one fails. The exit code: 0, or that of the first failure."""
    found, code = outdated()
    start, failures, said = git("rev-parse", "HEAD"), [code] if code > 1 else [], []
    for upgrade in found:
        try:
            said.append(handle(upgrade, start))
        except subprocess.CalledProcessError as problem:
            failures.append(problem.returncode)
            said.append(f"`{upgrade.name}`: `{problem.cmd[0]}` failed with exit code {problem.returncode}")
            print(f"::error title=vendor-tool::{said[-1]}")
        finally:
            git("checkout", "--quiet", "--force", "--detach", start)
    if not said:
        said.append(f"`vendor-tool outdated` failed with exit code {code}" if failures else "no files of ours changed")
    summarize(said)
    report(failures[0] if failures else 0)
    return failures[0] if failures else 0


def outdated() -> tuple[list[Upgrade], int]:
    """The upgrades that `outdated` proposes, and its exit code: 3 where an upstream did not answer, others told."""
    command = [*tool(), "outdated", *os.environ.get("ARGUMENTS", "").split(), "--format", "json"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode > 1 and run.returncode != UNREACHABLE:
        return [], run.returncode
    findings = json.loads(run.stdout)["findings"]
    fixes = [UPGRADE.fullmatch(f["fix"]) for f in findings if f["rule"] == "upstream-changed"]
    return [Upgrade(match["name"], match["revision"]) for match in fixes if match is not None], run.returncode


def handle(upgrade: Upgrade, start: str) -> str:
    """Bring branch and pull request of one upstream to its newest revision; the line for the summary."""
    theirs = remote_commit(upgrade.branch)
    if theirs is not None and git("log", "-1", "--format=%ce", theirs) != BOT:
        return f"`{upgrade.name}`: left alone, since somebody else pushed to `{upgrade.branch}`"
    target = f"{upgrade.name}@{upgrade.revision}"
    body = subprocess.run(
        [*tool(), "sync", target, "--dry-run", "--format", "markdown"], stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    git("checkout", "--quiet", "-B", upgrade.branch, start)
    code = subprocess.run([*tool(), "sync", target], check=False).returncode
    if code == CONFLICT:
        # an upgrade that was refused leaves nothing to give up
        subprocess.run([*tool(), "sync", "--abort"], check=False)
    elif code:
        raise subprocess.CalledProcessError(code, ["vendor-tool sync"])
    commit(upgrade, conflict=code == CONFLICT)
    if theirs is None or not same(theirs, "HEAD"):
        git("push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{upgrade.branch}")
    return pull_request(upgrade, body[:LIMIT], conflict=code == CONFLICT)


def commit(upgrade: Upgrade, *, conflict: bool) -> None:
    """Commit what the upgrade wrote; after a conflict nothing, so that there is a branch to resolve it on."""
    git("add", "--all", "--", str(Path(os.environ["LOCK"]).parent))
    command = ["git", "commit", "--quiet", "--message", title(upgrade), *(["--allow-empty"] if conflict else [])]
    subprocess.run(command, env={**os.environ, **IDENTITY}, check=True)


def title(upgrade: Upgrade) -> str:
    """Of commit and pull request."""
    return f"Upgrade vendored {upgrade.name} to {upgrade.revision[:12]}"


def pull_request(upgrade: Upgrade, body: str, *, conflict: bool) -> str:
    """Open the pull request, or give the open one its new title and body; the line for the summary."""
    text = body
    if conflict:
        text = (
            f"**This upgrade needs a person.** Check out `{upgrade.branch}`, run `vendor-tool sync "
            f"{upgrade.name}@{upgrade.revision}`, do what it asks for, run `vendor-tool sync --continue` where files "
            "were marked, push.\n\n"
            f"{body}"
        )
    heading = title(upgrade) + (" (conflicts)" if conflict else "")
    number = gh("pr", "list", "--head", upgrade.branch, "--state", "open", "--json", "number", "--jq", ".[0].number")
    if number:
        gh("pr", "edit", number, "--title", heading, "--body-file", "-", text=text)
        return f"`{upgrade.name}`: updated #{number}"
    labels = [label.strip() for label in os.environ.get("LABELS", "").split(",") if label.strip()]
    options = [part for label in labels for part in ("--label", label)] + (["--draft"] if conflict else [])
    where = ("--head", upgrade.branch, "--base", os.environ["BASE"])
    url = gh("pr", "create", *where, "--title", heading, "--body-file", "-", *options, text=text)
    return f"`{upgrade.name}`: opened {url}"


def remote_commit(branch: str) -> str | None:
    """Fetch a branch of the remote; its commit, None where there is none."""
    if not git("ls-remote", "--heads", "origin", f"refs/heads/{branch}"):
        return None
    git("fetch", "--quiet", "--depth=2", "origin", f"refs/heads/{branch}")
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


def git(*arguments: str) -> str:
    """Run git; what it prints."""
    return subprocess.run(["git", *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def gh(*arguments: str, text: str = "") -> str:
    """Run GitHub's program with `text` on its standard input; what it prints."""
    return subprocess.run(["gh", *arguments], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def summarize(lines: list[str]) -> None:
    """Add a list to the job summary."""
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write("### vendor-tool: upgrades\n\n" + "".join(f"- {line}\n" for line in lines))


def report(code: int) -> None:
    """Set the step's output `code`."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"code={code}\n")


if __name__ == "__main__":
    sys.exit(main())
