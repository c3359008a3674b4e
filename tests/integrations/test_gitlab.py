"""The jobs of the GitLab include, their scripts run by a shell as GitLab's runner does: one after another, stop at failure."""

import base64
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.integrations import gitlab
from tests.integrations.runner import TOP, Runner
from tests.integrations.stand_ins import PYTHON, install, tool
from tests.support.project import Project
from tests.support.server import Server
from tests.support.server import serve as serve_git
from tests.support.upstream import Repository

INCLUDE: dict[str, Any] = yaml.safe_load((TOP / "ci/gitlab.yml").read_text("utf-8"))


def job(runner: Runner, name: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a job's script, with the include's variables where `variables` has no others, as GitLab fills them in."""
    given = {**INCLUDE["variables"], **variables}
    own = {key: given[text.removeprefix("$")] for key, text in INCLUDE[name].get("variables", {}).items()}
    env = {**os.environ, **given, **own, "PATH": f"{runner.programs}:{os.environ['PATH']}"}
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


def test_arguments_of_the_scheduled_job_shape_its_log_and_its_report_alike(vendored: Runner) -> None:
    upstream = Repository(vendored.checkout.parent / "up.git")
    asked, _ = (upstream.commit({"pkg/ops/fwd.py": f"def fwd(n):\n    return n + {more}\n"}) for more in (1, 2))
    run = job(vendored, "vendor-tool-outdated", VENDOR_TOOL_OUTDATED=f"demo@{asked}")
    assert run.returncode == 0
    assert f"fix: vendor-tool sync demo@{asked}\n" in run.stdout
    assert f"demo@{asked}" in (vendored.checkout / "vendor-tool.xml").read_text("utf-8")


def test_both_jobs_keep_their_report_whatever_happens() -> None:
    jobs = {name: value["extends"] for name, value in INCLUDE.items() if isinstance(value, dict) and "script" in value}
    assert jobs == {
        "vendor-tool-check": ".vendor-tool-report",
        "vendor-tool-outdated": ".vendor-tool-report",
        "vendor-tool-upgrade": ".vendor-tool",
    }
    assert INCLUDE[".vendor-tool-report"]["artifacts"]["when"] == "always"


# ---- merge requests ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """A checkout as GitLab's runner makes it, its project on a server, and the upstream of its one entry."""

    runner: Runner
    git: Server
    service: gitlab.GitLab
    upstream: Repository
    project: Repository

    def upgrade(self, token: str = gitlab.TOKEN, **variables: str) -> "subprocess.CompletedProcess[str]":
        return job(
            self.runner,
            "vendor-tool-upgrade",
            VENDOR_TOOL_TOKEN=token,
            CI_API_V4_URL=f"{self.service.url}/api/v4",
            CI_PROJECT_ID="7",
            CI_PROJECT_URL=f"{self.git.url}/project",
            CI_SERVER_HOST="gitlab.invalid",
            CI_DEFAULT_BRANCH="main",
            **variables,
        )

    def news(self, number: int) -> str:
        return self.upstream.commit({"pkg/ops/fwd.py": f"def fwd(n):\n    return n + {number}\n"}, f"Fix {number}")

    def plan(self, revision: str) -> str:
        command = ["sync", f"demo@{revision}", "--dry-run", "--format", "markdown"]
        return Project(self.runner.checkout).run(*command).out


@pytest.fixture
def scene(vendored: Runner, tmp_path: Path) -> Iterator[Scene]:
    install(vendored.programs, "python", PYTHON)
    project = Repository(tmp_path / "project.git")
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(project.path)], check=True)
    project.configure("http.receivepack", "true")
    vendored.git("init", "-q", "-b", "main")
    vendored.git("add", ".")
    vendored.git("commit", "-q", "-m", "start")
    vendored.git("push", "-q", project.url, "main")
    # where the runner keeps what it has no other place for
    (vendored.checkout / ".cache").mkdir()
    (vendored.checkout / ".cache/pip").write_text("x")
    vendored.git("checkout", "-q", "--detach")
    with serve_git(tmp_path) as git, gitlab.serve() as service:
        yield Scene(vendored, git, service, Repository(tmp_path / "up.git"), project)


def test_an_upstream_with_news_gets_a_branch_and_a_merge_request_with_the_plan(scene: Scene) -> None:
    revision = scene.news(2)
    plan = scene.plan(revision)
    run = scene.upgrade(VENDOR_TOOL_LABELS="vendored,deps")
    assert (run.returncode, run.stdout) == (0, "`demo`: opened https://gitlab.invalid/p/-/merge_requests/1\n"), (
        run.stderr
    )
    assert scene.service.open[1] == {
        "iid": 1,
        "source_project_id": gitlab.HERE,
        "web_url": "https://gitlab.invalid/p/-/merge_requests/1",
        "source_branch": "vendor-tool/demo",
        "target_branch": "main",
        "remove_source_branch": True,
        "title": f"Upgrade vendored demo to {revision[:12]}",
        "description": plan,
        "labels": "vendored,deps",
    }
    assert "1 commit touches our files, of which 1 reads as a fix" in plan
    branch = "vendor-tool/demo"
    assert scene.project.git("diff", "--name-only", "main", branch).split() == [
        "NOTICE",
        "vendor.lock.yaml",
        "vendored/PROVENANCE.md",
        "vendored/demo/fwd.py",
    ]
    assert scene.project.git("log", "-1", "--format=%cn <%ce> %s", branch) == (
        f"vendor-tool <vendor-tool@noreply.gitlab.invalid> Upgrade vendored demo to {revision[:12]}"
    )


def test_the_token_goes_to_git_as_a_header_and_into_no_log_or_config(scene: Scene) -> None:
    scene.news(2)
    run = scene.upgrade()
    login = base64.b64encode(f"oauth2:{gitlab.TOKEN}".encode()).decode()
    pushes = [request for request in scene.git.requests if request.path.endswith("/git-receive-pack")]
    assert [request.headers["Authorization"] for request in pushes] == [f"Basic {login}"]
    config = (scene.runner.checkout / ".git/config").read_text()
    for secret in (gitlab.TOKEN, login):
        assert secret not in run.stdout + run.stderr + config


def test_the_next_run_updates_the_same_merge_request_and_one_without_news_pushes_nothing(scene: Scene) -> None:
    scene.news(2)
    scene.upgrade()
    revision = scene.news(3)
    plan = scene.plan(revision)
    assert scene.upgrade().stdout == "`demo`: updated !1\n"
    assert [*scene.service.open] == [1]
    request = scene.service.open[1]
    assert (request["title"], request["description"]) == (f"Upgrade vendored demo to {revision[:12]}", plan)
    before = scene.project.git("rev-parse", "vendor-tool/demo")
    assert scene.upgrade(GIT_COMMITTER_DATE="1800000000 +0000").returncode == 0
    assert scene.project.git("rev-parse", "vendor-tool/demo") == before


def test_a_refused_upgrade_is_a_draft_until_it_is_none(scene: Scene) -> None:
    scene.upstream.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": "def fwd(n):\n    return n\n"})
    assert scene.upgrade().returncode == 0
    request = scene.service.open[1]
    assert request["title"].startswith("Draft: Upgrade vendored demo to ")
    assert request["title"].endswith(" (needs a person)")
    assert request["description"].startswith("**This upgrade needs a person.** Check out `vendor-tool/demo`, run ")
    assert scene.project.git("diff", "--name-only", "main", "vendor-tool/demo") == ""
    revision = scene.news(3)
    scene.upgrade()
    assert scene.service.open[1]["title"] == f"Upgrade vendored demo to {revision[:12]}"


def test_work_that_people_pushed_is_left_alone(scene: Scene) -> None:
    scene.news(2)
    scene.upgrade()
    mended = scene.project.commit({"by hand.py": "x = 1\n"}, "mend", ref="refs/heads/vendor-tool/demo")
    scene.news(3)
    asked = len(scene.service.asked)
    run = scene.upgrade()
    assert run.stdout == "`demo`: left alone, since somebody else pushed to `vendor-tool/demo`\n"
    assert (scene.project.git("rev-parse", "vendor-tool/demo"), len(scene.service.asked)) == (mended, asked)


def test_work_of_people_below_another_commit_of_the_job_is_left_alone(scene: Scene) -> None:
    scene.news(2)
    scene.upgrade()
    branch, remote = "refs/heads/vendor-tool/demo", scene.project
    remote.commit({"by hand.py": "x = 1\n"}, "mend", ref=branch)
    tree = remote.git("rev-parse", f"{branch}^{{tree}}")
    who = ("-c", "user.name=vendor-tool", "-c", "user.email=vendor-tool@noreply.gitlab.invalid")
    top = remote.git(*who, "commit-tree", "-p", branch, "-m", "Format", tree)
    remote.git("update-ref", branch, top)
    scene.news(3)
    assert scene.upgrade().stdout == "`demo`: left alone, since somebody else pushed to `vendor-tool/demo`\n"
    assert remote.git("rev-parse", branch) == top


def test_push_of_somebody_during_the_run_is_not_overwritten(scene: Scene) -> None:
    theirs, branch = scene.project.git("rev-parse", "main"), "refs/heads/vendor-tool/demo"
    moved = f"['git', '--git-dir', {str(scene.project.path)!r}, 'update-ref', {branch!r}, {theirs!r}]"
    before = f"if 'sync' in sys.argv and '--dry-run' not in sys.argv: subprocess.run({moved}, check=True)"
    install(scene.runner.programs, "vendor-tool", tool(before))
    scene.news(2)
    run = scene.upgrade()
    assert (run.returncode, run.stdout) == (
        0,
        "`demo`: left alone, since somebody pushed to `vendor-tool/demo` meanwhile\n",
    )
    assert scene.project.git("rev-parse", branch) == theirs
    assert scene.service.open == {}


def test_merge_requests_of_forks_are_not_taken_for_ours(scene: Scene) -> None:
    scene.service.from_fork("vendor-tool/demo")
    scene.news(2)
    assert scene.upgrade().stdout == "`demo`: opened https://gitlab.invalid/p/-/merge_requests/2\n"
    for _ in range(150):
        scene.service.from_fork("vendor-tool/demo")
    revision = scene.news(3)
    assert scene.upgrade().stdout == "`demo`: updated !2\n"
    titles = {number: request["title"] for number, request in scene.service.open.items()}
    assert titles.pop(2) == f"Upgrade vendored demo to {revision[:12]}"
    assert set(titles.values()) == {"mine"}


def test_a_draft_that_a_person_made_stays_one(scene: Scene) -> None:
    scene.news(2)
    scene.upgrade()
    scene.service.open[1]["title"] = f"Draft: {scene.service.open[1]['title']}"
    revision = scene.news(3)
    scene.upgrade()
    assert scene.service.open[1]["title"] == f"Draft: Upgrade vendored demo to {revision[:12]}"


def test_an_upgrade_that_would_take_commits_back_gets_no_merge_request(scene: Scene) -> None:
    first = scene.upstream.git("rev-parse", "main")
    pin = scene.upstream.commit(
        {"pkg/ops/fwd.py": "def fwd(n):\n    return n + 9\n"}, "Fix", ref="refs/heads/fix", parent=first
    )
    consumer = Project(scene.runner.checkout)
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(f"revision: {first}", f"revision: {pin}", 1)})
    consumer.done("sync")
    scene.runner.git("commit", "-q", "-a", "-m", "fix")
    newest = scene.news(2)
    run = scene.upgrade()
    assert (run.returncode, run.stdout) == (
        0,
        f"`demo`: no request, since the pin has 1 commit that `{newest[:12]}` lacks\n",
    )
    assert [one for one in scene.service.asked if not one.startswith("GET")] == []


def test_nothing_to_upgrade_is_said_and_asks_gitlab_nothing(scene: Scene) -> None:
    run = scene.upgrade()
    assert (run.returncode, run.stdout, scene.service.asked) == (0, "no files of ours changed\n", [])


def test_what_gitlab_refuses_fails_the_job_in_its_words(scene: Scene) -> None:
    scene.news(2)
    scene.service.fault = "403 Forbidden"
    run = scene.upgrade()
    assert run.returncode == 10
    assert 'error: `demo`: GitLab answered 403 to POST of a merge request: {"message": "403 Forbidden"}\n' in run.stderr
    said = "error: the job ends with exit code 10: docs/reference/ci.md tells what it means\n"
    assert run.stderr.endswith(said)


def test_a_wrong_token_fails_the_job(scene: Scene) -> None:
    scene.news(2)
    run = scene.upgrade(token="stale")
    assert run.returncode == 10
    assert "GitLab answered 401 to GET of a merge request: " in run.stderr


def test_without_a_token_the_job_is_not_there_and_the_program_says_what_it_needs(scene: Scene) -> None:
    assert INCLUDE["vendor-tool-upgrade"]["rules"] == [
        {"if": '$CI_PIPELINE_SOURCE == "schedule" && $VENDOR_TOOL_TOKEN'}
    ]
    run = scene.upgrade(token="")
    assert run.returncode == 2
    assert run.stderr.startswith("error: `VENDOR_TOOL_TOKEN` is not set\n\nhint: make a project access token ")
