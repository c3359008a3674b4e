"""The steps of `action.yml`, run as GitHub's runner would: bash, their `env`, and files for output and summary."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.runner import STEPS, TOP, Runner
from tests.integrations.stand_ins import install, install_gh, install_tool, pull_requests

ONE, TWO = "1" * 40, "2" * 40


# ---- check ------------------------------------------------------------------------------------------------


def test_clean_project_reports_nothing_and_passes(vendored: Runner) -> None:
    run = vendored.step("Report", COMMAND="check", LOCK="vendor.lock.yaml")
    assert (run.returncode, run.stdout) == (0, "no findings\n"), run.stderr
    assert vendored.text("output") == "code=0\n"
    assert vendored.text("summary") == "### vendor-tool: no findings\n"


def test_hand_edit_is_annotated_summed_up_uploaded_and_fails_last(vendored: Runner) -> None:
    (vendored.checkout / "vendored/demo/fwd.py").write_text("def fwd(n):\n    return n + 1\n")
    run = vendored.step("Report", COMMAND="check", LOCK="vendor.lock.yaml")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("::error file=vendored/demo/fwd.py,line=2,")
    assert vendored.text("output") == "code=1\n"
    assert "`vendored/demo/fwd.py:2`" in vendored.text("summary")
    [result] = json.loads((vendored.checkout / ".vendor-tool.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "vendored/demo/fwd.py"
    assert vendored.step("Fail on findings", CODE="1").returncode == 1


def test_lock_that_cannot_be_read_is_an_error_without_upload(vendored: Runner) -> None:
    (vendored.checkout / "vendor.lock.yaml").write_text("version: 1\nsurprise: 2\n")
    run = vendored.step("Report", COMMAND="check", LOCK="vendor.lock.yaml")
    assert run.returncode == 0
    assert run.stdout == (
        "::error title=vendor-tool::`vendor-tool check` stopped with exit code 2, see the log above\n"
    )
    assert vendored.text("output") == "code=2\n"
    assert not (vendored.checkout / ".vendor-tool.sarif").exists()


def test_arguments_are_words_and_never_code(vendored: Runner) -> None:
    run = vendored.step("Report", COMMAND="check", LOCK="vendor.lock.yaml", ARGUMENTS="demo $(touch ran) ; touch ran")
    assert vendored.text("output") == "code=2\n", run.stdout
    assert not (vendored.checkout / "ran").exists()


# ---- outdated ---------------------------------------------------------------------------------------------


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A checkout of a project with two upstreams, a bare remote, and a `gh` on the path."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote.git")], check=True)
    made = Runner(tmp_path / "checkout", tmp_path / "runner")
    subprocess.run(
        ["git", "clone", "-q", str(tmp_path / "remote.git"), str(made.checkout)], check=True, capture_output=True
    )
    (made.checkout / "vendor.lock.yaml").write_text("one: old\ntwo: old\n")
    made.git("checkout", "-q", "-B", "main")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "start")
    made.git("push", "-q", "origin", "main")
    install_gh(made.programs)
    return made


def upgrade(runner: Runner, **env: str) -> "subprocess.CompletedProcess[str]":
    return runner.step("Upgrade", LOCK="vendor.lock.yaml", BASE="main", **env)


def branches(runner: Runner) -> dict[str, str]:
    lines = runner.git("ls-remote", "--heads", "origin").splitlines()
    return {ref.removeprefix("refs/heads/"): commit for commit, ref in (line.split("\t") for line in lines)}


def test_each_upstream_gets_a_branch_and_a_pull_request_of_its_own(runner: Runner) -> None:
    install_tool(runner.programs, {"one": ONE, "two": TWO})
    run = upgrade(runner, LABELS="vendored, deps")
    assert run.returncode == 0, run.stderr
    runner.git("fetch", "-q", "origin")
    for name, revision, lock_text in (("one", ONE, f"one: {ONE}\ntwo: old"), ("two", TWO, f"one: old\ntwo: {TWO}")):
        assert runner.git("show", f"origin/vendor-tool/{name}:vendor.lock.yaml") == lock_text
        assert runner.git("show", f"origin/vendor-tool/{name}:{name}_new.py") == revision
        assert runner.git("diff", "--name-only", "origin/main", f"origin/vendor-tool/{name}").splitlines() == [
            f"{name}_new.py",
            "vendor.lock.yaml",
        ]
    assert pull_requests(runner.programs)["1"] == {
        "head": "vendor-tool/one",
        "base": "main",
        "title": "Upgrade vendored one to 111111111111",
        "body": f"the plan for one at {ONE}\n",
        "draft": False,
        "labels": ["vendored", "deps"],
    }
    assert pull_requests(runner.programs)["2"]["head"] == "vendor-tool/two"
    assert runner.text("summary") == (
        "### vendor-tool: upgrades\n\n"
        "- `one`: opened https://example.invalid/pull/1\n- `two`: opened https://example.invalid/pull/2\n"
    )
    assert runner.text("output") == "code=0\n"
    assert runner.git("status", "--porcelain") == ""


def test_next_run_updates_the_same_pull_request(runner: Runner) -> None:
    install_tool(runner.programs, {"one": ONE})
    upgrade(runner)
    install_tool(runner.programs, {"one": TWO})
    upgrade(runner)
    [request] = pull_requests(runner.programs).values()
    assert (request["title"], request["body"]) == (
        "Upgrade vendored one to 222222222222",
        f"the plan for one at {TWO}\n",
    )
    runner.git("fetch", "-q", "origin")
    assert runner.git("log", "--format=%s", "origin/main..origin/vendor-tool/one") == request["title"]


def test_run_without_news_pushes_nothing(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    install_tool(runner.programs, {"one": ONE})
    upgrade(runner)
    before = branches(runner)
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1800000000 +0000")
    assert upgrade(runner).returncode == 0
    assert branches(runner) == before
    assert len(pull_requests(runner.programs)) == 1


def test_conflict_opens_a_draft_that_says_what_to_do(runner: Runner) -> None:
    install_tool(runner.programs, {"one": ONE}, sync={"one": 5})
    assert upgrade(runner).returncode == 0
    [request] = pull_requests(runner.programs).values()
    assert request["draft"] is True
    assert request["title"] == "Upgrade vendored one to 111111111111 (conflicts)"
    assert request["body"] == (
        "**This upgrade needs a person.** Check out `vendor-tool/one`, run `vendor-tool sync "
        f"one@{ONE}`, resolve the marked files, run `vendor-tool sync --continue`, push.\n\n"
        f"the plan for one at {ONE}\n"
    )
    runner.git("fetch", "-q", "origin")
    assert runner.git("diff", "--name-only", "origin/main", "origin/vendor-tool/one") == ""
    assert not (runner.checkout / "marked").exists()


def test_work_that_people_pushed_to_the_branch_is_left_alone(runner: Runner) -> None:
    install_tool(runner.programs, {"one": ONE})
    upgrade(runner)
    runner.git("fetch", "-q", "origin")
    runner.git("checkout", "-q", "--detach", "origin/vendor-tool/one")
    (runner.checkout / "by hand.py").write_text("x = 1\n")
    runner.git("add", ".")
    runner.git("commit", "-q", "-m", "mend")
    runner.git("push", "-q", "origin", "HEAD:refs/heads/vendor-tool/one")
    runner.git("checkout", "-q", "main")
    before = branches(runner)
    install_tool(runner.programs, {"one": TWO})
    assert upgrade(runner).returncode == 0
    assert branches(runner) == before
    assert runner.text("summary").endswith("- `one`: left alone, since somebody else pushed to `vendor-tool/one`\n")


def test_upstream_that_fails_does_not_stop_the_others(runner: Runner) -> None:
    install_tool(runner.programs, {"one": ONE, "two": TWO}, sync={"one": 3})
    run = upgrade(runner)
    assert run.returncode == 3
    assert "::error title=vendor-tool::`one`: `vendor-tool sync` failed with exit code 3\n" in run.stdout
    assert [request["head"] for request in pull_requests(runner.programs).values()] == ["vendor-tool/two"]
    assert runner.text("output") == "code=3\n"
    assert set(branches(runner)) == {"main", "vendor-tool/two"}


def test_outdated_that_fails_ends_the_step_with_its_code(runner: Runner) -> None:
    install_tool(runner.programs, {}, outdated=3)
    assert upgrade(runner).returncode == 3
    assert runner.text("output") == "code=3\n"
    assert pull_requests(runner.programs) == {}


def test_nothing_to_upgrade_is_said(runner: Runner) -> None:
    install_tool(runner.programs, {})
    assert upgrade(runner).returncode == 0
    assert runner.text("summary") == "### vendor-tool: upgrades\n\n- no files of ours changed upstream\n"


# ---- the whole --------------------------------------------------------------------------------------------


def test_every_step_that_the_tests_run_takes_inputs_by_environment_alone() -> None:
    """An expression inside a script would let an input, or a branch's name, become code."""
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert len(scripts) == 4
    assert [script for script in scripts if "${{" in script] == []


def test_install_takes_the_actions_own_revision_or_what_it_is_given(tmp_path: Path) -> None:
    runner = Runner(tmp_path, tmp_path / "runner")
    install(
        runner.programs,
        "python3",
        "import sys\nfrom pathlib import Path\nhome = Path(sys.argv[3]) / 'bin'\n"
        "home.mkdir(parents=True)\n(home / 'pip').write_text('#!/bin/sh\\necho \"$@\"')\n(home / 'pip').chmod(0o755)\n",
    )
    (runner.home / "path").write_text("")
    step = STEPS["Install"]
    env = {
        **os.environ,
        "PACKAGE": "vendor-tool==1.2.0",
        "RUNNER_TEMP": str(runner.home),
        "GITHUB_PATH": str(runner.home / "path"),
        "PATH": f"{runner.programs}:{os.environ['PATH']}",
    }
    run = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]], env=env, check=True, capture_output=True, text=True
    )
    assert run.stdout == "install --quiet --disable-pip-version-check vendor-tool==1.2.0\n"
    assert runner.text("path") == f"{runner.home}/vendor-tool/bin\n"
    assert step["env"]["PACKAGE"] == "${{ inputs.package || github.action_path }}"


def test_every_other_action_is_pinned_by_commit() -> None:
    files = [TOP / "action.yml", *(TOP / ".github/workflows").glob("*.yml")]
    used = [
        line.split("uses:")[1].strip() for file in files for line in file.read_text().splitlines() if "uses:" in line
    ]
    outside = [use for use in used if not use.startswith("./")]
    assert outside
    assert [use for use in outside if len(use.partition("@")[2].partition(" # v")[0]) != 40] == []


def test_python_of_the_interpreter_runs_the_upgrade_script() -> None:
    """The script is run by the runner's own Python: no newer syntax than the package itself asks for."""
    source = (TOP / "ci/upgrade_requests.py").read_text("utf-8")
    compile(source, "upgrade_requests.py", "exec")
    imported = {
        line.split()[1].partition(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))
    }
    assert imported <= set(sys.stdlib_module_names)
