"""What the action does with branches and pull requests that are not as it left them, and how its steps end."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.integrations.runner import Runner
from tests.integrations.stand_ins import install, open_another, tool
from tests.integrations.upgrading import KERNEL, Scene, news
from vendor_tool.ci import report
from vendor_tool.ci.plan import Upgrade
from vendor_tool.ci.upgrades import shortened
from vendor_tool.findings import Finding, RuleInfo

BRANCH = "vendor-tool/two"


def lines(scene: Scene) -> list[str]:
    """What the last run of the step said of each upstream."""
    last = scene.runner.text("summary").rpartition("### vendor-tool: upgrades\n\n")[2]
    return last.partition("\n\n")[0].splitlines()


def push(scene: Scene, files: Mapping[str, str], *, email: str = "ada@example.invalid") -> str:
    """Somebody's commit on top of the branch; its id."""
    runner = scene.runner
    runner.git("fetch", "-q", "origin", BRANCH)
    runner.git("checkout", "-q", "--detach", "FETCH_HEAD")
    for path, text in files.items():
        (runner.checkout / path).write_text(text)
        runner.git("add", path)
    runner.git("-c", f"user.email={email}", "commit", "-q", "-m", "mend")
    runner.git("push", "-q", "origin", f"HEAD:refs/heads/{BRANCH}")
    pushed = runner.git("rev-parse", "HEAD")
    runner.git("checkout", "-q", "main")
    return pushed


# ---- which way an upgrade goes ----------------------------------------------------------------------------


def pinned_aside(scene: Scene) -> tuple[str, str]:
    """Let entry `two` stand at a commit beside the followed branch; that commit, and the branch's."""
    first = scene.two.git("rev-parse", "main")
    kernel = KERNEL.replace("fwd", "fwd_two")
    pin = scene.two.commit({"pkg/ops/fwd.py": f"{kernel}\nfix = 1\n"}, "Fix", ref="refs/heads/fix", parent=first)
    path = scene.runner.checkout / "vendor.lock.yaml"
    path.write_text(path.read_text().replace(f"revision: {first}", f"revision: {pin}", 1))
    subprocess.run([scene.runner.programs / "vendor-tool", "sync"], cwd=scene.runner.checkout, check=True)
    scene.runner.git("commit", "-q", "-a", "-m", "fix")
    scene.runner.git("push", "-q", "origin", "main")
    return pin, first


def test_pin_ahead_of_its_branch_gets_no_pull_request(scene: Scene) -> None:
    pinned_aside(scene)
    assert scene.upgrade().returncode == 0
    assert (scene.requests, set(scene.branches())) == ({}, {"main"})
    assert lines(scene) == ["- no files of ours changed"]


def test_upgrade_that_would_take_commits_back_gets_no_pull_request(scene: Scene) -> None:
    pinned_aside(scene)
    newest = news(scene.two)
    assert scene.upgrade().returncode == 0
    assert (scene.requests, set(scene.branches())) == ({}, {"main"})
    assert lines(scene) == [f"- `two`: no request, since the pin has 1 commit that `{newest[:12]}` lacks"]


def test_older_revision_that_is_asked_for_gets_no_pull_request(scene: Scene) -> None:
    _, first = pinned_aside(scene)
    assert scene.upgrade(ARGUMENTS=f"two@{first}").returncode == 0
    assert lines(scene) == [f"- `two`: no request, since the pin has 1 commit that `{first[:12]}` lacks"]
    assert scene.requests == {}


def test_upgrade_from_a_pin_that_nobody_gives_is_a_draft_that_says_so_first(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned_aside(scene)
    newest = news(scene.two)
    scene.two.git("update-ref", "-d", "refs/heads/fix")
    scene.two.git("gc", "--quiet", "--prune=now")
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
    assert scene.upgrade().returncode == 0
    [request] = scene.requests.values()
    assert (request["draft"], request["title"]) == (True, f"Upgrade vendored two to {newest[:12]} (needs a person)")
    assert request["body"].startswith("**This upgrade may take commits back.** ")
    scene.runner.git("fetch", "-q", "origin")
    assert "x = 2" in scene.runner.git("show", f"origin/{BRANCH}:vendored/two/fwd.py")


# ---- branches that somebody else touched ------------------------------------------------------------------


def test_work_of_people_below_another_commit_of_the_bot_is_left_alone(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    push(scene, {"by hand.py": "x = 1\n"})
    top = push(scene, {"formatted.py": "x = 1\n"}, email="41898282+github-actions[bot]@users.noreply.github.com")
    news(scene.two, 3)
    assert scene.upgrade().returncode == 0
    assert scene.branches()[BRANCH] == top
    assert lines(scene) == [f"- `two`: left alone, since somebody else pushed to `{BRANCH}`"]


def test_another_commit_of_the_bot_alone_is_left_alone_too(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    top = push(scene, {"formatted.py": "x = 1\n"}, email="41898282+github-actions[bot]@users.noreply.github.com")
    news(scene.two, 3)
    scene.upgrade()
    assert scene.branches()[BRANCH] == top


def test_branch_follows_its_base_in_a_shallow_checkout(scene: Scene, tmp_path: Path) -> None:
    news(scene.two)
    scene.upgrade()
    scene.runner.git("checkout", "-q", "main")
    (scene.runner.checkout / "README").write_text("more\n")
    scene.runner.git("add", "README")
    scene.runner.git("commit", "-q", "-m", "more")
    scene.runner.git("push", "-q", "origin", "main")
    remote = scene.runner.git("remote", "get-url", "origin")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{remote}", str(shallow)], check=True)
    job = Scene(Runner(shallow, scene.runner.home), scene.one, scene.two)
    for _ in range(2):
        assert job.upgrade().returncode == 0
        assert lines(job) == ["- `two`: updated #1"]
    scene.runner.git("fetch", "-q", "origin")
    assert scene.runner.git("log", "--format=%s", f"origin/main..origin/{BRANCH}") == job.requests["1"]["title"]
    assert scene.runner.git("rev-parse", f"origin/{BRANCH}^") == scene.runner.git("rev-parse", "origin/main")


@pytest.mark.parametrize("there", [False, True], ids=["new branch", "known branch"])
def test_push_of_somebody_during_the_run_is_not_overwritten(scene: Scene, there: bool) -> None:
    if there:
        news(scene.two)
        scene.upgrade()
    theirs = scene.runner.git("commit-tree", "-p", "main", "-m", "theirs", "main^{tree}")
    scene.runner.git("push", "-q", "origin", f"{theirs}:refs/heads/unused")
    remote = scene.runner.git("remote", "get-url", "origin")
    news(scene.two, 3)
    moved = f"['git', '--git-dir', {remote!r}, 'update-ref', 'refs/heads/{BRANCH}', {theirs!r}]"
    before = f"if 'sync' in sys.argv and '--dry-run' not in sys.argv: subprocess.run({moved}, check=True)"
    install(scene.runner.programs, "vendor-tool", tool(before))
    assert scene.upgrade().returncode == 0
    assert scene.branches()[BRANCH] == theirs
    assert lines(scene) == [f"- `two`: left alone, since somebody pushed to `{BRANCH}` meanwhile"]


# ---- pull requests that somebody else opened --------------------------------------------------------------


def test_pull_requests_of_forks_are_not_taken_for_ours(scene: Scene) -> None:
    open_another(scene.runner.programs, head=BRANCH, fork=True)
    news(scene.two)
    assert scene.upgrade().returncode == 0
    assert lines(scene) == ["- `two`: opened https://example.invalid/pull/2"]
    for _ in range(40):
        open_another(scene.runner.programs, head=BRANCH, fork=True)
    revision = news(scene.two, 3)
    assert scene.upgrade().returncode == 0
    assert lines(scene) == ["- `two`: updated #2"]
    assert scene.requests["2"]["title"] == f"Upgrade vendored two to {revision[:12]}"
    assert {request["title"] for number, request in scene.requests.items() if number != "2"} == {"mine"}


def test_draft_is_ready_once_an_upgrade_is_clean(scene: Scene) -> None:
    scene.two.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": KERNEL.replace("fwd", "fwd_two")})
    scene.upgrade()
    assert scene.requests["1"]["draft"] is True
    revision = scene.two.commit({"pkg/ops/fwd.py": KERNEL.replace("fwd", "fwd_two") + "\nx = 3\n"})
    assert scene.upgrade().returncode == 0
    request = scene.requests["1"]
    assert (request["draft"], request["title"]) == (False, f"Upgrade vendored two to {revision[:12]}")


def test_request_becomes_a_draft_once_an_upgrade_needs_a_person(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    assert scene.requests["1"]["draft"] is False
    revision = scene.two.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": KERNEL.replace("fwd", "fwd_two")})
    assert scene.upgrade().returncode == 0
    request = scene.requests["1"]
    assert (request["draft"], request["title"]) == (
        True,
        f"Upgrade vendored two to {revision[:12]} (needs a person)",
    )


def test_draft_that_a_person_made_stays_one(scene: Scene) -> None:
    news(scene.two)
    scene.upgrade()
    requests = scene.requests
    requests["1"]["draft"] = True
    (scene.runner.programs / "requests.json").write_text(json.dumps(requests))
    news(scene.two, 3)
    assert scene.upgrade().returncode == 0
    assert scene.requests["1"]["draft"] is True


# ---- how often, how long, and how it ends -----------------------------------------------------------------


def calls(scene: Scene) -> list[str]:
    """The commands of the program that a run of the step starts."""
    file = scene.runner.home / "calls"
    said = "'plan' if '--dry-run' in sys.argv else sys.argv[3]"
    install(
        scene.runner.programs, "vendor-tool", tool(f"with open({str(file)!r}, 'a') as out: print({said}, file=out)")
    )
    assert scene.upgrade().returncode == 0
    return file.read_text().split()


def test_upstreams_are_asked_once_and_each_upgrade_is_planned_once(scene: Scene) -> None:
    news(scene.one)
    news(scene.two)
    assert calls(scene) == ["outdated", "plan", "sync", "plan", "sync"]


def test_upgrade_that_is_refused_is_planned_and_nothing_else(scene: Scene) -> None:
    scene.two.commit({"pkg/ops/fwd.py": None, "pkg/ops/forward.py": KERNEL.replace("fwd", "fwd_two")})
    assert calls(scene) == ["outdated", "plan"]


def test_what_git_refuses_ends_the_step_with_a_code_of_its_own(scene: Scene) -> None:
    news(scene.two)
    hook = Path(scene.runner.git("remote", "get-url", "origin")) / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    run = scene.upgrade()
    assert run.returncode == 10
    assert "::error title=vendor-tool::`two`: `git push` failed with exit code 1\n" in run.stdout
    assert scene.runner.text("output") == "code=10\n"


def test_what_gh_refuses_ends_the_step_with_the_same_code(scene: Scene) -> None:
    news(scene.two)
    install(scene.runner.programs, "gh", "raise SystemExit(4)")
    assert scene.upgrade().returncode == 10
    assert lines(scene) == ["- `two`: `gh pr list` failed with exit code 4"]


def run_of(many: int) -> report.Run:
    """So many warnings and an error, as a program reads them back."""
    findings = [Finding("r", "warning", "m " * 100, path=f"f{number}.py", upstream="up") for number in range(many)]
    worst = Finding("r", "error", "worst", path="zzz.py", upstream="up")
    return report.Run((worst, *findings), {"r": RuleInfo("r", "warning", "Title", "Help")}, "vendor.lock.yaml", ".")


def test_summary_that_is_too_long_tells_how_many_findings_it_leaves_out_and_where_they_are() -> None:
    text = report.summary(run_of(5_000))
    shown = text.count("| warning |") + text.count("| error |")
    assert 1024 * 1024 - 1_000 < len(text.encode()) <= 1024 * 1024
    assert text.startswith(
        f"### vendor-tool: 1 error, 5000 warnings\n\n**{5_001 - shown} findings are not shown here**, for GitHub takes "
        "no longer summary: this step's log has them all.\n"
    )
    assert "`zzz.py`" in text


def test_summary_that_fits_leaves_nothing_out() -> None:
    assert "not shown" not in report.summary(run_of(10))


def test_report_of_many_findings_is_cut_in_the_summary_and_whole_in_the_log(vendored: Runner) -> None:
    many = 1_800
    for number in range(many):
        (vendored.checkout / f"vendored/demo/{'stray ' * 38}{number}.py").write_text("x = 1\n")
    run = vendored.step("Report", COMMAND="check", LOCK="vendor.lock.yaml")
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("\n::error file=") + run.stdout.startswith("::error file=") == many
    assert len(vendored.text("summary").encode()) <= 1024 * 1024
    assert " findings are not shown here**" in vendored.text("summary")


def test_body_that_is_too_long_ends_with_the_command_that_prints_all_of_it() -> None:
    upgrade = Upgrade("two", "1" * 40)
    body = "".join(f"line {number}\n" for number in range(1_000))
    text = shortened(body, upgrade, 500)
    assert len(text) <= 500
    assert text.endswith(
        f"\n\n**The plan is longer than this.** `vendor-tool sync two@{'1' * 40} --dry-run` prints all of it.\n"
    )
    assert body.startswith(text.partition("\n\n")[0] + "\n")
    assert shortened(body, upgrade, len(body)) == body
