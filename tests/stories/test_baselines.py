"""`--baseline` of check, audit and outdated: what a project accepts for now, in one file for all three."""

import json
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "def fwd(n):\n    return n + 1\n"
BASE = "baseline.json"


@pytest.fixture
def upstreams(tmp_path: Path) -> tuple[Repository, Repository]:
    made = repository(tmp_path / "one.git"), repository(tmp_path / "two.git")
    for each in made:
        each.commit({"LICENSE": MIT, "pkg/ops/fwd.py": FWD + f"# {each.path.name}\n"})
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstreams: tuple[Repository, Repository]) -> Project:
    """Two upstreams with news, a licence that the project does not allow, an edit by hand."""
    entries = [
        entry(each.url, each.git("rev-parse", "main"), "[fwd.py]", name=name, to=f"vendored/{name}")
        for name, each in zip(("one", "two"), upstreams, strict=True)
    ]
    made = project(
        tmp_path / "proj", lock(*entries, shims="").replace("allow: [Apache-2.0, MIT]", "allow: [Apache-2.0]")
    )
    made.done("sync")
    made.write({"vendored/one/fwd.py": "x = 1\n"})
    for number, each in enumerate(upstreams):
        each.commit({"pkg/ops/fwd.py": FWD + f"# {number} more\n"}, "Fix it")
    return made


COMMANDS = (("check",), ("audit",), ("outdated", "--exit-code"))


def accepted(consumer: Project) -> set[str]:
    return {item["rule"] for item in json.loads(consumer.read(BASE))["accepted"]}


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "audit", "outdated"])
def test_what_is_accepted_is_left_out_in_every_format(consumer: Project, command: tuple[str, ...]) -> None:
    assert consumer.run(*command).code == ExitCode.FINDINGS
    consumer.done(*command, "--write-baseline", BASE)
    assert consumer.done(*command, "--baseline", BASE).out == "no findings\n"
    for form in ("json", "sarif", "github", "junit", "markdown"):
        text = consumer.done(*command, "--baseline", BASE, "--format", form).out
        assert not any(rule in text for rule in accepted(consumer))


def test_one_file_serves_all_three_commands(consumer: Project) -> None:
    for command in COMMANDS:
        consumer.done(*command, "--write-baseline", BASE)
    before = consumer.read(BASE)
    assert {"drift-edited", "upstream-changed"} < accepted(consumer)
    for command in COMMANDS:
        result = consumer.done(*command, "--baseline", BASE)
        assert result.out == "no findings\n"
        assert "fixed" not in result.err
        consumer.done(*command, "--write-baseline", BASE)
    assert consumer.read(BASE) == before


def test_a_change_of_ours_that_came_later_is_new(consumer: Project, upstreams: tuple[Repository, Repository]) -> None:
    consumer.done("outdated", "--write-baseline", BASE)
    upstreams[1].commit({"pkg/ops/fwd.py": FWD + "# 2 more\n"}, "Go on")
    result = consumer.run("outdated", "--exit-code", "--baseline", BASE)
    assert result.code == ExitCode.FINDINGS
    assert result.out.count("[upstream-changed]") == result.out.count("[upstream-file-changed]") == 1
    assert result.out.startswith("two\n")


def test_of_upstreams_that_were_not_asked_or_gave_no_answer_nothing_is_called_fixed(
    consumer: Project, upstreams: tuple[Repository, Repository], tmp_path: Path
) -> None:
    consumer.done("outdated", "--write-baseline", BASE)
    before = consumer.read(BASE)
    assert "fixed" not in consumer.done("outdated", "two", "--baseline", BASE).err
    consumer.done("outdated", "two", "--write-baseline", BASE)
    assert consumer.read(BASE) == before
    upstreams[0].path.rename(tmp_path / "away.git")
    result = consumer.run("outdated", "--baseline", BASE)
    assert (result.code, "fixed" in result.err) == (ExitCode.UPSTREAM, False)
    assert consumer.run("outdated", "--write-baseline", BASE).code == ExitCode.UPSTREAM
    assert consumer.read(BASE) == before


def test_what_was_mended_is_named_by_the_command_that_found_it(consumer: Project) -> None:
    for command in COMMANDS:
        consumer.done(*command, "--write-baseline", BASE)
    consumer.done("sync", "--force", "one")
    consumer.done("sync", "one@main")
    named = [
        line for line in consumer.done("outdated", "--baseline", BASE).err.splitlines() if "to be taken out" in line
    ]
    rules = sorted(line.rpartition("[")[2] for line in named)
    assert rules == ["sibling-differs]", "upstream-changed]", "upstream-file-changed]"]


def test_a_check_without_rebuild_calls_nothing_fixed_that_only_a_rebuild_finds(consumer: Project) -> None:
    consumer.done("check", "--rebuild", "--write-baseline", BASE)
    assert "drift-rebuild" in accepted(consumer)
    assert "fixed" not in consumer.done("check", "--baseline", BASE).err


def test_another_bad_pin_and_another_reason_are_other_findings(
    consumer: Project, upstreams: tuple[Repository, Repository]
) -> None:
    def noted(issue: int) -> None:
        note = f"known-bad:\n  - {{upstream: two, reason: issue {issue}}}\n"
        consumer.write({"vendor.lock.yaml": consumer.lock.partition("known-bad:")[0] + note})

    def found() -> bool:
        return "[known-bad-pin]" in consumer.run("outdated", "--baseline", BASE).out

    noted(1)
    consumer.done("outdated", "--write-baseline", BASE)
    assert not found()
    noted(2)
    assert found()
    noted(1)
    assert not found()
    head, _, note = consumer.lock.partition("known-bad:")
    consumer.write({"vendor.lock.yaml": head})
    consumer.done("sync", "two@main")
    consumer.write({"vendor.lock.yaml": f"{consumer.lock}known-bad:{note}"})
    assert found()


def test_another_version_and_another_licence_are_other_findings(consumer: Project) -> None:
    consumer.done("audit", "--write-baseline", BASE)
    assert "GPL" not in consumer.done("audit", "--baseline", BASE).out
    for version in ("2.0", "3.0"):
        text = consumer.lock.replace("GPL-2.0-only", "GPL-3.0-only")
        if version == "2.0":
            text = text.replace("to: vendored/one\n", "to: vendored/one\n    license: GPL-2.0-only\n", 1)
        consumer.write({"vendor.lock.yaml": text})
        assert f"GPL-{version}-only" in consumer.run("audit", "--baseline", BASE).out
        consumer.done("audit", "--write-baseline", BASE)


@pytest.mark.parametrize("wrong", ['"rule": 2', '"message": null', '"fingerprint": []'])
def test_a_file_with_odd_types_in_it_is_no_baseline(consumer: Project, wrong: str) -> None:
    consumer.done("check", "--write-baseline", BASE)
    key = wrong.partition(":")[0]
    text = consumer.read(BASE).decode()
    item = text[text.index("    {") : text.rindex("  ]")].rstrip()
    odd = "\n".join(f"      {wrong}," if key in line else line for line in item.splitlines()).replace(
        f"{wrong},\n    }}", f"{wrong}\n    }}"
    )
    consumer.write({BASE: text.replace(item, f"{item},\n{odd}")})
    for argument in ("--baseline", "--write-baseline"):
        said = consumer.refused(ExitCode.USAGE, "check", argument, BASE)
        assert said.startswith(
            "error: `baseline.json` is not a baseline of findings\n\nhint: delete `baseline.json` and "
        )


def test_a_baseline_that_cannot_be_written_is_told_by_its_own_option(consumer: Project) -> None:
    assert consumer.refused(ExitCode.USAGE, "check", "--write-baseline", "nodir/base.json") == (
        "error: cannot write `nodir/base.json`: No such file or directory\n\nhint: name another `--write-baseline`\n"
    )
