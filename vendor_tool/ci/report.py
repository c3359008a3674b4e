"""Findings of one run, read back from their JSON, as GitHub shows them: annotations, and the job's summary.

`python -m vendor_tool.ci.report FILE` prints the annotations and adds to the file that GITHUB_STEP_SUMMARY names.
"""

import json
import os
import sys
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.reports import github, markdown
from vendor_tool.reports.wording import LEVELS, count, ordered, tally

MOST: Final = 1024 * 1024  # bytes of a step's summary; GitHub shows nothing of a longer one
KEYS: Final = ("rule", "level", "message", "path", "line", "lock_line", "upstream", "side", "fix", "revision")


@dataclass(frozen=True)
class Run:
    """What a command found."""

    findings: tuple[Finding, ...]  # most severe first
    rules: Mapping[str, RuleInfo]
    lock: str
    root: str


def read(file: Path) -> Run | None:
    """What `--format json` wrote; None where it wrote nothing."""
    if not file.exists():
        return None
    document = json.loads(file.read_text("utf-8"))
    findings = [Finding(**{key: one[key] for key in KEYS}) for one in document["findings"]]
    return Run(
        tuple(sorted(ordered(findings), key=lambda one: LEVELS.index(one.level))),
        {one["id"]: RuleInfo(one["id"], one["level"], one["title"], one["help"]) for one in document["rules"]},
        document["lock"],
        document["root"],
    )


def annotations(run: Run) -> str:
    """Workflow commands, one a finding."""
    return github.render(run.findings, run.rules, lock=run.lock, root=run.root)


def summary(run: Run, most: int = MOST) -> str:
    """A job's summary of at most so many bytes: the most severe findings, and how many there is no room for."""
    heading = f"### vendor-tool: {tally(run.findings)}\n"

    def text(shown: int) -> str:
        tables = markdown.tables(run.findings[:shown], run.rules, lock=run.lock, root=run.root)
        left = len(run.findings) - shown
        said = (
            f"**{count(left, 'finding')} {'is' if left == 1 else 'are'} not shown here**, for GitHub takes no longer "
            "summary: this step's log has them all.\n"
        )
        return "\n".join(part for part in (heading, said if left else "", tables) if part)

    total = len(run.findings)
    return text(total - bisect_left(range(total), True, key=lambda left: len(text(total - left).encode()) <= most))


def main(file: Path) -> None:
    """Show a run that was written to a file."""
    run = read(file)
    if run is not None:
        print(annotations(run), end="")
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as target:
            target.write(summary(run))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
