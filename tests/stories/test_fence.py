"""`fence` keeps the project's tools off vendored files; `check` holds what it wrote to the lock, and to baselines."""

import re
from pathlib import Path

import pytest
import yaml

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

PYPROJECT = "[project]\nname = 'consumer'\n\n[tool.ruff]\nline-length = 100\n"
HOOKS = "repos: []\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "def fwd(n):\n    return n\n"})
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    made = project(
        tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    made.write({"pyproject.toml": PYPROJECT, ".pre-commit-config.yaml": HOOKS})
    made.done("sync")
    return made


# ---- fence ------------------------------------------------------------------------------------------------


def test_the_snippets_name_every_tool_and_write_nothing(consumer: Project) -> None:
    before = consumer.tree()
    out = consumer.done("fence").out
    assert [line for line in out.splitlines() if line in {f"# {name}" for name in ("ruff", "pre-commit", "coverage")}]
    assert "vendored/demo" in out
    assert consumer.tree() == before


def test_write_changes_the_tools_that_are_configured_and_keeps_their_text(consumer: Project) -> None:
    assert consumer.done("fence", "--write").err == "wrote .pre-commit-config.yaml\nwrote pyproject.toml\n"
    text = consumer.read("pyproject.toml").decode()
    assert text == PYPROJECT.replace(
        "[tool.ruff]\n",
        "[tool.ruff]\n# vendor-tool fence for ruff: written by `vendor-tool fence`\nforce-exclude = true\n"
        'extend-exclude = [\n  "vendored/demo",\n]\n# vendor-tool fence for ruff: end\n',
    )
    config = yaml.safe_load(consumer.read(".pre-commit-config.yaml"))
    assert config["repos"] == []
    for path in ("vendored/demo/", "NOTICE$", "vendored/PROVENANCE"):
        assert path.replace(".", r"\.") in config["exclude"]


def test_written_twice_is_written_once(consumer: Project) -> None:
    consumer.done("fence", "--write")
    before = consumer.tree()
    assert consumer.done("fence", "--write").err == (
        "nothing to do: every tool that is configured here leaves vendored files alone\n"
    )
    assert consumer.tree() == before


def test_a_project_without_a_fence_gets_no_findings(consumer: Project) -> None:
    assert consumer.done("check").out == "no findings\n"


def test_a_fence_that_holds_gets_no_findings(consumer: Project) -> None:
    consumer.done("fence", "--write")
    assert consumer.done("check").out == "no findings\n"


def test_a_fence_that_lacks_a_new_upstream_is_found_and_mended(consumer: Project, upstream: Repository) -> None:
    consumer.done("fence", "--write")
    second = entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]", name="side", to="third_party/side")
    consumer.write({"vendor.lock.yaml": consumer.lock + second})
    consumer.done("sync")
    result = consumer.run("check")
    assert result.code == ExitCode.FINDINGS
    assert (
        "pyproject.toml:1: warning: the ruff configuration lacks `third_party/side/` [fence-missing]\n"
        "    fix: vendor-tool fence --write\n"
    ) in result.out
    consumer.done("fence", "--write")
    assert consumer.done("check").out == "no findings\n"


def test_a_tool_that_never_got_a_fence_is_left_out_beside_one_that_did(consumer: Project) -> None:
    consumer.write({".pre-commit-config.yaml": b"repos: []\n"})
    (consumer.root / ".pre-commit-config.yaml").unlink()
    consumer.done("fence", "--write")
    consumer.write({".pre-commit-config.yaml": HOOKS})
    assert consumer.done("check").out == "no findings\n"


def test_a_fence_of_an_older_lock_is_a_note(consumer: Project) -> None:
    consumer.done("fence", "--write")
    text = consumer.read("pyproject.toml").decode()
    consumer.write({"pyproject.toml": text.replace('"vendored/demo"', '"vendored/demo", "vendored/old"')})
    result = consumer.done("check")
    assert "note: the ruff excludes were made from an older lock [fence-stale]\n" in result.out


def test_a_check_that_was_clean_looks_at_the_fence_again(consumer: Project) -> None:
    consumer.done("fence", "--write")
    consumer.done("check")
    text = consumer.read("pyproject.toml").decode()
    consumer.write({"pyproject.toml": text.replace('"vendored/demo"', '"vendored/other"')})
    assert consumer.run("check").code == ExitCode.FINDINGS


@pytest.mark.parametrize(
    "hooks",
    [
        "exclude: |\n    (?x)^(\n        docs/.*\n    )$\nrepos: []\n",
        "exclude: ^docs/\r\nrepos: []\r\n",
        "exclude:\n  ^docs/\nrepos: []\n",
        '"exclude": ^docs/\nrepos: []\n',
        "exclude: ^docs/|\n  x\nrepos: []\n",
        "exclude: |  # why\n  (?x)^(docs/.*)$\nrepos: []\n",
        "{repos: [], exclude: '^docs/'}\n",
    ],
)
def test_hooks_are_kept_off_however_their_exclude_is_written(consumer: Project, hooks: str) -> None:
    consumer.write({".pre-commit-config.yaml": hooks})
    consumer.done("fence", "--write")
    config = yaml.safe_load(consumer.read(".pre-commit-config.yaml"))
    assert config["repos"] == []
    for path in ("vendored/demo/fwd.py", "NOTICE", "docs/x.md"):
        assert re.search(config["exclude"], path), path
    assert not re.search(config["exclude"], "src/ours.py")
    assert consumer.done("check").out == "no findings\n"
    before = consumer.tree()
    consumer.done("fence", "--write")
    assert consumer.tree() == before


def test_what_cannot_be_written_into_is_refused_and_nothing_is_written(consumer: Project) -> None:
    consumer.write({".pre-commit-config.yaml": "{repos: []}\n"})
    assert consumer.refused(ExitCode.USAGE, "fence", "--write") == (
        "error: `.pre-commit-config.yaml` is written in a way that leaves no room for the excludes of pre-commit; it was "
        "not changed\n\nhint: add by hand what `vendor-tool fence` prints for pre-commit\n"
    )


OVERRULED = {
    "a second exclude": (".pre-commit-config.yaml", HOOKS, HOOKS + "exclude: ^docs/\n"),
    "a file that comes first": ("ruff.toml", "line-length = 90\n", "line-length = 90\n"),
    "a later attribute": (".gitattributes", "* text=auto\n", "*.py text eol=crlf\n"),
}


@pytest.mark.parametrize(("name", "before", "more"), OVERRULED.values(), ids=OVERRULED)
def test_a_fence_that_something_else_overrules_is_found(consumer: Project, name: str, before: str, more: str) -> None:
    if name != "ruff.toml":
        consumer.write({name: before})
    consumer.done("fence", "--write")
    assert consumer.done("check").out == "no findings\n"
    written = (consumer.root / name).read_text() if (consumer.root / name).exists() else ""
    consumer.write({name: written + more.removeprefix(HOOKS)})
    result = consumer.run("check")
    assert result.code == ExitCode.FINDINGS
    assert f"{name}:1: warning: the " in result.out
    assert "[fence-missing]\n    fix: vendor-tool fence --write\n" in result.out


def test_a_fence_in_a_file_that_cannot_be_read_is_a_finding(consumer: Project) -> None:
    consumer.done("fence", "--write")
    text = consumer.read(".pre-commit-config.yaml").decode()
    consumer.write({".pre-commit-config.yaml": f"{text}x: [\n"})
    result = consumer.run("check")
    assert result.code == ExitCode.FINDINGS
    assert ".pre-commit-config.yaml:1: warning: .pre-commit-config.yaml:" in result.out
    assert ": not valid YAML: " in result.out
    assert "[fence-missing]\n    fix: mend `.pre-commit-config.yaml`\n" in result.out


# ---- baselines --------------------------------------------------------------------------------------------


def edit(consumer: Project, name: str = "fwd.py") -> None:
    consumer.write({f"vendored/demo/{name}": "x = 1\n"})


def test_accepted_findings_do_not_fail(consumer: Project) -> None:
    edit(consumer)
    written = consumer.done("check", "--write-baseline", "baseline.json")
    assert (written.out, written.err) == ("", "wrote baseline.json: 1 finding accepted\n")
    result = consumer.done("check", "--baseline", "baseline.json")
    assert (result.out, result.err) == ("no findings\n", "1 finding accepted by baseline.json\n")


def test_a_new_finding_fails_beside_accepted_ones(consumer: Project) -> None:
    edit(consumer)
    consumer.done("check", "--write-baseline", "baseline.json")
    consumer.write({"vendored/demo/stray.py": "y = 1\n"})
    result = consumer.run("check", "--baseline", "baseline.json")
    assert result.code == ExitCode.FINDINGS
    assert "stray.py" in result.out
    assert "fwd.py" not in result.out


@pytest.mark.parametrize("kind", ["/fwd.py", "/stray.py", "/LICENSES/", "/PROVENANCE.md"])
def test_an_accepted_edit_does_not_accept_the_next_one_of_the_same_file(consumer: Project, kind: str) -> None:
    path = next((path for path in sorted(consumer.tree()) if kind in path), f"vendored/demo{kind}")
    consumer.write({path: "x = 1\n"})
    consumer.done("check", "--write-baseline", "baseline.json")
    assert consumer.done("check", "--baseline", "baseline.json").out == "no findings\n"
    consumer.write({path: "x = 2\n"})
    result = consumer.run("check", "--baseline", "baseline.json")
    assert result.code == ExitCode.FINDINGS
    assert f"{path}:1: error: " in result.out


def test_an_edit_that_a_rebuild_finds_is_accepted_with_its_bytes(consumer: Project) -> None:
    edit(consumer)
    consumer.done("check", "--rebuild", "--write-baseline", "baseline.json")
    assert consumer.done("check", "--rebuild", "--baseline", "baseline.json").out == "no findings\n"
    consumer.write({"vendored/demo/fwd.py": "x = 2\n"})
    result = consumer.run("check", "--rebuild", "--baseline", "baseline.json")
    assert result.code == ExitCode.FINDINGS
    assert ("[drift-edited]" in result.out, "[drift-rebuild]" in result.out) == (True, True)


def test_accepted_findings_that_are_fixed_are_named(consumer: Project) -> None:
    edit(consumer)
    consumer.done("check", "--write-baseline", "baseline.json")
    consumer.done("sync", "--force")
    result = consumer.done("check", "--baseline", "baseline.json")
    assert result.err == (
        "fixed, to be taken out of baseline.json: `vendored/demo/fwd.py` does not have the recorded bytes "
        "[drift-edited]\n"
    )


def test_a_baseline_that_is_not_there_is_a_usage_error(consumer: Project) -> None:
    said = consumer.refused(ExitCode.USAGE, "check", "--baseline", "baseline.json")
    assert said == (
        "error: there is no baseline `baseline.json` that can be read\n\n"
        "hint: accept today's findings with `vendor-tool check --write-baseline baseline.json`\n"
    )


def test_a_clean_check_is_not_remembered_for_another_baseline(consumer: Project) -> None:
    consumer.done("check")
    consumer.refused(ExitCode.USAGE, "check", "--baseline", "baseline.json")


# ---- what a formatter did ---------------------------------------------------------------------------------


def test_a_formatters_work_is_called_that(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": "def fwd( n ):\n\n    return (n)\n"})
    said = "layout alone differs, as after a formatter (`vendor-tool fence --write` keeps formatters away)"
    out = consumer.run("check").out
    assert f"vendored/demo/fwd.py:1: error: `vendored/demo/fwd.py` does not have the recorded bytes: {said} [" in out
    assert f"rules and patches: {said} [drift-rebuild]\n" in consumer.run("check", "--rebuild").out


def test_a_change_of_code_is_not_called_layout(consumer: Project) -> None:
    edit(consumer)
    assert "layout" not in consumer.run("check", "--rebuild").out


def test_the_locks_tool_versions_explain_a_difference_of_layout(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": "def fwd( n ):\n    return n\n"})
    recorded = re.search(r'libcst: "([\d.]+)"', consumer.lock)
    assert recorded
    consumer.write({"vendor.lock.yaml": consumer.lock.replace(recorded[0], 'libcst: "0.0.1"')})
    assert f"; libcst 0.0.1 in the lock, {recorded[1]} here [drift-rebuild]\n" in consumer.run("check", "--rebuild").out
