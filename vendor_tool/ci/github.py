"""The last step of the action: one pull request for each upstream whose files changed, by GitHub's own `gh`.

Besides what `upgrades` takes: BASE (branch to merge into), LABELS, GH_TOKEN, and GitHub's own variables.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from vendor_tool.ci import upgrades
from vendor_tool.ci.upgrades import Upgrade


class GitHub:
    """Pull requests; annotations, job summary and output of the step."""

    name = "github-actions[bot]"
    email = "41898282+github-actions[bot]@users.noreply.github.com"
    remote = "origin"
    environment: Mapping[str, str] = {}  # the checkout brings git's credentials
    limit = 60_000  # GitHub refuses more than 65,536

    def request(self, upgrade: Upgrade, body: str, *, draft: bool) -> str:
        heading = upgrade.title + (" (needs a person)" if draft else "")
        number = gh(
            "pr", "list", "--head", upgrade.branch, "--state", "open", "--json", "number", "--jq", ".[0].number"
        )
        if number:
            gh("pr", "edit", number, "--title", heading, "--body-file", "-", text=body)
            return f"`{upgrade.name}`: updated #{number}"
        labels = [label.strip() for label in os.environ.get("LABELS", "").split(",") if label.strip()]
        options = [part for label in labels for part in ("--label", label)] + (["--draft"] if draft else [])
        where = ("--head", upgrade.branch, "--base", os.environ["BASE"])
        url = gh("pr", "create", *where, "--title", heading, "--body-file", "-", *options, text=body)
        return f"`{upgrade.name}`: opened {url}"

    def complain(self, line: str) -> None:
        print(f"::error title=vendor-tool::{line}")

    def end(self, lines: list[str], code: int) -> None:
        # pins, copies, licences and imports have no pull request to be told in
        print(upgrades.told("github"), end="")
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
            summary.write("### vendor-tool: upgrades\n\n" + "".join(f"- {line}\n" for line in lines))
            summary.write("\n" + upgrades.told("markdown"))
        with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
            output.write(f"code={code}\n")


def gh(*arguments: str, text: str = "") -> str:
    """Run GitHub's program with `text` on its standard input; what it prints."""
    return subprocess.run(["gh", *arguments], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(upgrades.run(GitHub()))
