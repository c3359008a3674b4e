"""The steps of `action.yml`, run as GitHub's runner would: bash, their `env`, and files for output and summary."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.runner import STEPS, TOP, Runner
from tests.integrations.stand_ins import install
from tests.integrations.upgrading import KERNEL, Scene, news
from tests.support.project import MIT

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


def test_each_upstream_gets_a_branch_and_a_pull_request_of_its_own(scene: Scene) -> None:
    revisions = {"one": news(scene.one), "two": news(scene.two)}
    plans = {name: scene.plan(name, revision) for name, revision in revisions.items()}
    run = scene.upgrade(LABELS="vendored, deps")
    assert run.returncode == 0, run.stderr
    scene.runner.git("fetch", "-q", "origin")
    for name, revision in revisions.items():
        branch = f"origin/vendor-tool/{name}"
        assert f"    revision: {revision}\n" in scene.runner.git("show", f"{branch}:vendor.lock.yaml")
        assert "x = 2" in scene.runner.git("show", f"{branch}:vendored/{name}/fwd.py")
        assert scene.runner.git("diff", "--name-only", "origin/main", branch).splitlines() == [
            "NOTICE",
            "vendor.lock.yaml",
            "vendored/PROVENANCE.md",
            f"vendored/{name}/fwd.py",
        ]
    assert scene.requests["1"] == {
        "head": "vendor-tool/one",
        "base": "main",
        "title": f"Upgrade vendored one to {revisions['one'][:12]}",
        "body": plans["one"],
        "draft": False,
        "labels": ["vendored", "deps"],
    }
    assert scene.requests["2"]["head"] == "vendor-tool/two"
    upgrades, _, rest = scene.runner.text("summary").partition("\n\n### vendor-tool: ")
    assert upgrades == (
        "### vendor-tool: upgrades\n\n"
        "- `one`: opened https://example.invalid/pull/1\n- `two`: opened https://example.invalid/pull/2"
    )
    assert rest.count("<br>`upstream-changed` |") == 2
    assert rest.count("<br>`upstream-file-changed` |") == 2
    assert run.stdout.count("[upstream-changed]::") == 2
    assert scene.runner.text("output") == "code=0\n"
    assert scene.runner.git("status", "--porcelain") == ""


def test_next_run_updates_the_same_pull_request(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    revision = news(scene.two, 3)
    plan = scene.plan("two", revision)
    scene.upgrade()
    [request] = scene.requests.values()
    assert (request["title"], request["body"]) == (f"Upgrade vendored two to {revision[:12]}", plan)
    scene.runner.git("fetch", "-q", "origin")
    assert scene.runner.git("log", "--format=%s", "origin/main..origin/vendor-tool/two") == request["title"]


def test_run_without_news_pushes_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    news(scene.two)
    scene.upgrade()
    before = scene.branches()
    monkeypatch.setenv("GIT_COMMITTER_DATE", "1800000000 +0000")
    assert scene.upgrade().returncode == 0
    assert scene.branches() == before
    assert len(scene.requests) == 1


def person(name: str, revision: str) -> str:
    """What a pull request begins with that the action cannot finish."""
    return (
        f"**This upgrade needs a person.** Check out `vendor-tool/{name}`, run `vendor-tool sync {name}@{revision}`, do "
        "what it asks for, run `vendor-tool sync --continue` where files were marked, push.\n\n"
    )


def test_conflict_opens_a_draft_that_says_what_to_do(scene: Scene) -> None:
    revision = scene.one.commit({"pkg/ops/fwd.py": KERNEL.replace("n + 1", "n + 2")})
    plan = scene.plan("one", revision)
    assert scene.upgrade().returncode == 0
    [request] = scene.requests.values()
    assert request["draft"] is True
    assert request["title"] == f"Upgrade vendored one to {revision[:12]} (needs a person)"
    assert request["body"] == person("one", revision) + plan
    scene.runner.git("fetch", "-q", "origin")
    assert scene.runner.git("diff", "--name-only", "origin/main", "origin/vendor-tool/one") == ""
    assert not (scene.runner.checkout / ".vendor-tool/merge/one").exists()


def test_upgrade_that_is_refused_opens_a_draft_with_the_proposal(scene: Scene) -> None:
    revision = scene.two.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": KERNEL.replace("fwd", "fwd_two")})
    plan = scene.plan("two", revision)
    run = scene.upgrade()
    assert run.returncode == 0, run.stdout
    [request] = scene.requests.values()
    assert request["draft"] is True
    assert request["body"] == person("two", revision) + plan
    assert "`pkg/ops/forward.py` holds 100 % of it" in plan


def test_upgrade_to_another_licence_opens_a_draft_until_a_person_accepts_it(scene: Scene) -> None:
    news(scene.two)
    revision = scene.two.commit({"LICENSE": MIT.replace("2025", "2026")})
    plan = scene.plan("two", revision)
    run = scene.upgrade()
    assert run.returncode == 0, run.stdout
    [request] = scene.requests.values()
    assert (request["draft"], request["body"]) == (True, person("two", revision) + plan)
    assert "the upstream's licence file has changed" in plan
    assert "--accept-license" in run.stderr


def test_upgrade_that_needs_a_file_more_opens_a_draft(scene: Scene) -> None:
    kernel = "from pkg.deep import x\n" + KERNEL.replace("fwd", "fwd_two")
    revision = scene.two.commit({"pkg/ops/fwd.py": kernel, "pkg/deep.py": "x = 1\n"})
    assert scene.upgrade().returncode == 0
    [request] = scene.requests.values()
    assert (request["draft"], request["title"]) == (True, f"Upgrade vendored two to {revision[:12]} (needs a person)")
    assert "`pkg/deep.py`" in request["body"]


def test_work_that_people_pushed_to_the_branch_is_left_alone(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    runner = scene.runner
    runner.git("fetch", "-q", "origin")
    runner.git("checkout", "-q", "--detach", "origin/vendor-tool/two")
    (runner.checkout / "by hand.py").write_text("x = 1\n")
    runner.git("add", ".")
    runner.git("commit", "-q", "-m", "mend")
    runner.git("push", "-q", "origin", "HEAD:refs/heads/vendor-tool/two")
    runner.git("checkout", "-q", "main")
    before = scene.branches()
    news(scene.two, 3)
    assert scene.upgrade().returncode == 0
    assert scene.branches() == before
    assert "- `two`: left alone, since somebody else pushed to `vendor-tool/two`\n" in runner.text("summary")


def test_upstream_that_gives_no_answer_does_not_stop_the_others(scene: Scene, tmp_path: Path) -> None:
    news(scene.two)
    scene.one.path.rename(tmp_path / "elsewhere.git")
    run = scene.upgrade()
    assert run.returncode == 3
    assert [request["head"] for request in scene.requests.values()] == ["vendor-tool/two"]
    assert scene.runner.text("output") == "code=3\n"
    assert set(scene.branches()) == {"main", "vendor-tool/two"}


def test_upgrade_that_fails_does_not_stop_the_others(scene: Scene) -> None:
    news(scene.one)
    news(scene.two)
    (scene.runner.checkout / "vendored/one/fwd.py").write_text("edited = 1\n")
    scene.runner.git("commit", "-q", "-a", "-m", "edit by hand")
    run = scene.upgrade()
    assert run.returncode == 4
    assert "::error title=vendor-tool::`one`: `vendor-tool sync` failed with exit code 4\n" in run.stdout
    assert [request["head"] for request in scene.requests.values()] == ["vendor-tool/two"]


def test_outdated_that_fails_ends_the_step_with_its_code(scene: Scene) -> None:
    (scene.runner.checkout / "vendor.lock.yaml").write_text("version: 1\nsurprise: 2\n")
    assert scene.upgrade().returncode == 2
    assert scene.runner.text("output") == "code=2\n"
    assert scene.runner.text("summary").rstrip().endswith("- `vendor-tool outdated` failed with exit code 2")
    assert scene.requests == {}


def test_nothing_to_upgrade_is_said(scene: Scene) -> None:
    assert scene.upgrade().returncode == 0
    assert scene.runner.text("summary").startswith(
        "### vendor-tool: upgrades\n\n- no files of ours changed\n\n### vendor-tool: no findings\n"
    )


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


def test_what_else_lies_in_the_checkout_is_not_committed(scene: Scene) -> None:
    news(scene.two)
    (scene.runner.checkout / ".cache/pip").mkdir(parents=True)
    (scene.runner.checkout / ".cache/pip/wheel").write_text("of the job")
    (scene.runner.checkout / "report *.xml").write_text("of the job")
    assert scene.upgrade().returncode == 0
    scene.runner.git("fetch", "-q", "origin")
    changed = scene.runner.git("diff", "--name-only", "origin/main", "origin/vendor-tool/two").splitlines()
    assert changed == ["NOTICE", "vendor.lock.yaml", "vendored/PROVENANCE.md", "vendored/two/fwd.py"]


def test_the_programs_for_jobs_load_nothing_of_what_is_installed_beside_them() -> None:
    """They are started for every job."""
    programs = [f"vendor_tool.ci.{path.stem}" for path in (TOP / "vendor_tool/ci").glob("*.py")]
    script = f"import sys, {', '.join(programs)}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", script], cwd=TOP, check=True, capture_output=True, text=True)
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], check=True, capture_output=True, text=True
    )
    known = {name.partition(".")[0] for name in bare.stdout.split()} | set(sys.stdlib_module_names)
    assert set(run.stdout.split()) - known == {"vendor_tool"}
