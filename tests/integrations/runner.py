"""A job of a CI service, as far as its scripts can tell: a checkout, a folder beside it, and programs on the path."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).parent.parent.parent
ACTION: dict[str, Any] = yaml.safe_load((TOP / "action.yml").read_text("utf-8"))
STEPS: dict[str, Any] = {step["name"]: step for step in ACTION["runs"]["steps"]}


@dataclass(frozen=True)
class Runner:
    """A checkout, and a folder for what a job has beside it."""

    checkout: Path
    home: Path

    @property
    def programs(self) -> Path:
        return self.home / "bin"

    def step(self, name: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a step of the action with the environment that its inputs would give it."""
        step = STEPS[name]
        assert set(env) <= set(step["env"])
        beside = {
            "GITHUB_ACTION_PATH": str(TOP),
            "GITHUB_OUTPUT": str(self.home / "output"),
            "GITHUB_STEP_SUMMARY": str(self.home / "summary"),
            "RUNNER_TEMP": str(self.home),
            "PATH": f"{self.programs}:{os.environ['PATH']}",
        }
        given = dict.fromkeys(step["env"], "") | env
        # the flags are the runner's own for `shell: bash`
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(
            command,
            cwd=self.checkout,
            env={**os.environ, **given, **beside},
            capture_output=True,
            text=True,
            check=False,
        )

    def text(self, name: str) -> str:
        return (self.home / name).read_text("utf-8")

    def git(self, *arguments: str) -> str:
        run = subprocess.run(["git", *arguments], cwd=self.checkout, check=True, capture_output=True, text=True)
        return run.stdout.strip()
