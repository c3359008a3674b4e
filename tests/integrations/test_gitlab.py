"""The jobs of the GitLab include, their scripts run by a shell as GitLab's runner does: one after another, stop at failure."""

import os
import subprocess
from typing import Any
from xml.etree import ElementTree

import yaml

from tests.integrations.runner import TOP, Runner
from tests.support.upstream import Repository

INCLUDE: dict[str, Any] = yaml.safe_load((TOP / "ci/gitlab.yml").read_text("utf-8"))


def job(runner: Runner, name: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, **INCLUDE["variables"], "PATH": f"{runner.programs}:{os.environ['PATH']}"}
    script = "\n".join(["set -e", *INCLUDE[name]["script"]])
    return subprocess.run(
        ["sh", "-c", script], cwd=runner.checkout, env=env, capture_output=True, text=True, check=False
    )


def test_clean_project_passes_with_a_report(vendored: Runner) -> None:
    run = job(vendored, "vendor-tool-check")
    assert (run.returncode, run.stdout) == (0, "no findings\n"), run.stderr
    assert ElementTree.parse(vendored.checkout / "vendor-tool.xml").getroot().get("failures") == "0"


def test_hand_edit_fails_the_job_and_is_in_log_and_report(vendored: Runner) -> None:
    (vendored.checkout / "vendored/demo/fwd.py").write_text("def fwd(n):\n    return n + 1\n")
    run = job(vendored, "vendor-tool-check")
    assert run.returncode == 1
    assert "vendored/demo/fwd.py:2: error: " in run.stdout
    [failure] = ElementTree.parse(vendored.checkout / "vendor-tool.xml").getroot().iter("failure")
    assert "vendored/demo/fwd.py" in (failure.text or "")


def test_upstream_without_news_passes_the_scheduled_job(vendored: Runner) -> None:
    run = job(vendored, "vendor-tool-outdated")
    assert (run.returncode, run.stdout) == (0, "no findings\n"), run.stderr


def test_change_of_ours_fails_the_scheduled_job_and_is_in_log_and_report(vendored: Runner) -> None:
    newest = Repository(vendored.checkout.parent / "up.git").commit(
        {"pkg/ops/fwd.py": "def fwd(n):\n    return n + 1\n"}
    )
    run = job(vendored, "vendor-tool-outdated")
    assert run.returncode == 1
    assert f"fix: vendor-tool sync demo@{newest}\n" in run.stdout
    assert ElementTree.parse(vendored.checkout / "vendor-tool.xml").getroot().get("failures") == "1"


def test_both_jobs_keep_their_report_whatever_happens() -> None:
    jobs = [name for name, value in INCLUDE.items() if isinstance(value, dict) and "script" in value]
    assert jobs == ["vendor-tool-check", "vendor-tool-outdated"]
    assert {INCLUDE[name]["extends"] for name in jobs} == {".vendor-tool"}
    assert INCLUDE[".vendor-tool"]["artifacts"]["when"] == "always"
