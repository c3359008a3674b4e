"""The last step of the action: one pull request for each upstream whose files changed, by GitHub's own `gh`.

Besides what `upgrades` takes: BASE (branch to merge into), LABELS, GH_TOKEN, and GitHub's own variables.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from vendor_tool.ci import report, upgrades
from vendor_tool.ci.branch import Remote
from vendor_tool.ci.plan import Upgrade
from vendor_tool.ci.problem import JobError
from vendor_tool.ci.report import Run

MARK: Final = " (needs a person)"
"""Ends the title of a draft of ours, so that one that a person made a draft stays one."""
MANY: Final = "1000"  # pull requests of one branch name: forks can have it too, and `gh` lists them all


class GitHub:
    """Pull requests; annotations, job summary and output of the step."""

    remote = Remote(
        "github-actions[bot]",
        "41898282+github-actions[bot]@users.noreply.github.com",
        "origin",
        {},  # the checkout brings git's credentials
    )
    limit = 60_000  # GitHub refuses more than 65,536

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        heading = upgrade.title + (MARK if draft else "")
        known = _open(upgrade.branch)
        if known is None:
            url = _create(upgrade.branch, heading, body, draft=draft)
            return f"`{upgrade.name}`: opened {url}"
        number = str(known["number"])
        # before the title, which tells the next run whose draft it is
        if draft and not known["isDraft"]:
            gh("pr", "ready", number, "--undo")
        if not draft and known["isDraft"] and known["title"].endswith(MARK):
            gh("pr", "ready", number)
        gh("pr", "edit", number, "--title", heading, "--body-file", "-", text=body)
        return f"`{upgrade.name}`: updated #{number}"

    def complain(self, line: str) -> None:
        print(f"::error title=vendor-tool::{line}")

    def end(self, lines: list[str], found: Run | None, code: int) -> None:
        # pins, copies, licences and imports have no pull request to be told in
        said = "### vendor-tool: upgrades\n\n" + "".join(f"- {line}\n" for line in lines)
        if found is not None:
            print(report.annotations(found), end="")
            said += "\n" + report.summary(found, report.MOST - len(said.encode()) - 1)
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
            summary.write(said)
        with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
            output.write(f"code={code}\n")


def _open(branch: str) -> dict[str, Any] | None:
    """The open pull request of a branch of this repository; those of forks are somebody else's."""
    fields = "number,title,isDraft,isCrossRepository"
    listed = json.loads(
        gh("pr", "list", "--head", branch, "--state", "open", "--limit", MANY, "--json", fields) or "[]"
    )
    return next((one for one in listed if not one["isCrossRepository"]), None)


def _create(branch: str, heading: str, body: str, *, draft: bool) -> str:
    labels = [label.strip() for label in os.environ.get("LABELS", "").split(",") if label.strip()]
    options = [part for label in labels for part in ("--label", label)] + (["--draft"] if draft else [])
    where = ("--head", branch, "--base", os.environ["BASE"])
    return gh("pr", "create", *where, "--title", heading, "--body-file", "-", *options, text=body)


def gh(*arguments: str, text: str = "") -> str:
    """Run GitHub's program with `text` on its standard input; what it prints. JobError where it fails."""
    try:
        ran = subprocess.run(["gh", *arguments], input=text, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    except FileNotFoundError:
        raise JobError("GitHub's program `gh` is not installed here") from None
    if ran.returncode:
        raise JobError(f"`gh {' '.join(arguments[:2])}` failed with exit code {ran.returncode}")
    return ran.stdout.strip()


if __name__ == "__main__":
    sys.exit(upgrades.run(GitHub()))
