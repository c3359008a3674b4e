"""An upgrade of one upstream, and what `vendor-tool` plans to do for it."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vendor_tool.ci.problem import JobError


@dataclass(frozen=True)
class Upgrade:
    """An upstream, and the revision that it should go to."""

    name: str
    revision: str

    @property
    def target(self) -> str:
        """As the command line takes it."""
        return f"{self.name}@{self.revision}"

    @property
    def branch(self) -> str:
        """The branch that is the upstream's own, so that a later upgrade updates the same request."""
        return f"vendor-tool/{self.name}"

    @property
    def title(self) -> str:
        """Of commit and request."""
        return f"Upgrade vendored {self.name} to {self.revision[:12]}"


@dataclass(frozen=True)
class Plan:
    """How an upgrade would end."""

    upgrade: Upgrade
    text: str  # Markdown
    stops: bool  # at a conflict, or at something to edit
    licence: bool  # whether the upstream's licence file is another one
    lacks: int | None  # commits of the pin that the new revision has not; None where that is not known

    @property
    def by_hand(self) -> str:
        """What a request begins with that a person has to finish."""
        return (
            f"**This upgrade needs a person.** Check out `{self.upgrade.branch}`, run `vendor-tool sync "
            f"{self.upgrade.target}`, do what it asks for, run `vendor-tool sync --continue` where files "
            "were marked, push.\n\n"
        )

    @property
    def unsure(self) -> str:
        """What a request begins with that may go backwards."""
        return (
            "**This upgrade may take commits back.** Whether the new revision has all that the pin has is not known: "
            "read what changes before you merge.\n\n"
        )


def planned(upgrade: Upgrade) -> Plan:
    """Plan an upgrade without carrying it out. JobError where there is no plan."""
    with tempfile.TemporaryDirectory() as folder:
        facts, text = Path(folder) / "plan.json", Path(folder) / "plan.md"
        reports = ("--format", "json", "--output", str(facts), "--also", f"markdown:{text}")
        command = [*tool(), "sync", upgrade.target, "--dry-run", *reports]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        plans = json.loads(facts.read_text("utf-8"))["plans"] if facts.exists() else []
        if not plans:
            raise JobError(f"`vendor-tool sync --dry-run` made no plan, exit code {code}", code or 1)
        return Plan(
            upgrade,
            text.read_text("utf-8"),
            stops=plans[0]["verdict"] in ("conflict", "refused"),
            licence=any(news["what"] == "licence" for news in plans[0]["legal"]),
            lacks=plans[0]["lacks"],
        )


def tool() -> list[str]:
    """The start of every call of the program."""
    return ["vendor-tool", "--lock", os.environ["LOCK"]]
