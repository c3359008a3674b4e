import configparser
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.fence.locks import LOCK, upstream
from vendor_tool import fence
from vendor_tool.errors import UsageError

EVERYTHING = fence.entries(LOCK)
LARGER = replace(LOCK, upstreams={**LOCK.upstreams, "more": upstream("more", "vendored/more", ("vendored/more/c.py",))})
PYTHON = ("my kernel.py", "vendored/_tilelang.py", "vendored/one/")

CONFIGS = {
    "array on one line": ("pyproject.toml", '[tool.ruff]\nextend-exclude = ["a"] # keep\nline-length = 120\n'),
    "array on many lines": ("pyproject.toml", "[tool.ruff]\nextend-exclude = [\n  'a', # ] not the end\n]\n"),
    "array with a comma at its end": ("pyproject.toml", '[tool.ruff]\nextend-exclude = [\n  "a",\n]\n'),
    "empty array": ("pyproject.toml", "[tool.ruff]\nextend-exclude = []\n"),
    "no array": ("pyproject.toml", '[project]\nname = "x"\n\n[tool.ruff]  # ours\nline-length = 120\n'),
    "table below only": ("pyproject.toml", '[tool.ruff.lint]\nselect = ["E"]\n'),
    "windows line ends": ("pyproject.toml", '[tool.ruff]\r\nextend-exclude = ["a"]\r\n'),
    "no newline at the end": ("pyproject.toml", "[tool.ruff]\nline-length = 120"),
    "look-alike in a string": ("pyproject.toml", '[x]\ny = """\n[tool.ruff]\n"""\n[tool.ruff]\nline-length = 1\n'),
    "switched off": ("pyproject.toml", "[tool.ruff]\nforce-exclude = false\n"),
    "dotted name": ("pyproject.toml", '[tool]\nx = 1\n[tool.ruff]\nlint.select = ["E"]\n'),
    "ruff's own file": ("ruff.toml", '# head\nline-length = 120\n[lint]\nselect = ["E"]\n'),
    "two tools in one file": ("pyproject.toml", "[tool.ruff]\nline-length = 1\n[tool.coverage.run]\nbranch = true\n"),
    "coverage omits something": (".coveragerc", "[run]\nbranch = true\nomit =\n    tests/*\n[report]\nx = 1\n"),
    "coverage omits on the line": (".coveragerc", "[run]\nomit = tests/*\n"),
    "coverage omits nothing": (".coveragerc", "[run]\nbranch = true\n"),
    "coverage without a section": (".coveragerc", "[report]\nx = 1\n"),
    "setup.cfg": ("setup.cfg", "[metadata]\nname = x\n[coverage:run]\nbranch = true\n"),
    "hooks without exclude": (".pre-commit-config.yaml", "# head\nrepos: []\n"),
    "hooks with a plain exclude": (".pre-commit-config.yaml", "exclude: ^docs/  # generated\nrepos: []\n"),
    "hooks with a quoted exclude": (".pre-commit-config.yaml", "exclude: '^docs/'\nrepos: []\n"),
    "hooks with a double-quoted exclude": (".pre-commit-config.yaml", 'exclude: "^docs\\\\.x/"\nrepos: []\n'),
    "hooks with a verbose exclude": (
        ".pre-commit-config.yaml",
        "exclude: |\n  (?x)^(\n    docs/.*|\n    a$\n  )\nrepos: []\n",
    ),
    "attributes": (".gitattributes", "* text=auto eol=lf\n"),
    "licences": (".licenserc.yaml", "header:\n  paths-ignore:\n    - 'docs/**'\n  comment: on-failure\n"),
    "licences without items": (".licenserc.yaml", "header:\n  paths-ignore:\n  comment: on-failure\n"),
}


@pytest.mark.parametrize(("name", "before"), CONFIGS.values(), ids=CONFIGS)
def test_what_check_misses_apply_adds_once(name: str, before: str) -> None:
    assert {f.rule for f in fence.check(LOCK, {name: before})} == {"fence-missing"}
    after = fence.apply(LOCK, {name: before})[name]
    assert fence.check(LOCK, {name: after}) == []
    assert fence.apply(LOCK, {name: after}) == {}


@pytest.mark.parametrize(("name", "before"), CONFIGS.values(), ids=CONFIGS)
def test_apply_keeps_every_byte_of_the_user(name: str, before: str) -> None:
    after = fence.apply(LOCK, {name: before})[name]
    remaining = iter(after)
    kept = before.replace("force-exclude = false", "force-exclude = ")
    assert all(char in remaining for char in kept), "the user's characters are there, in their order"
    assert ("\r\n" in after) == ("\r\n" in before)
    assert "\n" not in after.replace("\r\n", "") or "\r\n" not in before


@pytest.mark.parametrize(("name", "before"), CONFIGS.values(), ids=CONFIGS)
def test_apply_follows_the_lock(name: str, before: str) -> None:
    larger = fence.apply(LARGER, {name: before})[name]
    assert fence.apply(LOCK, {name: larger})[name] == fence.apply(LOCK, {name: before})[name]


def test_stale_excludes_are_noted_at_their_line() -> None:
    before = "# head\nrepos: []\n"
    larger = fence.apply(LARGER, {".pre-commit-config.yaml": before})
    [finding] = fence.check(LOCK, larger)
    assert (finding.rule, finding.path, finding.line, finding.message) == (
        "fence-stale",
        ".pre-commit-config.yaml",
        2,
        "the pre-commit excludes were made from an older lock",
    )


def test_finding_says_what_is_lacking_and_what_mends_it() -> None:
    [finding] = fence.check(LOCK, {"pyproject.toml": '[tool.ruff]\nextend-exclude = ["vendored"]\n'})
    assert finding.message == "the ruff configuration lacks `my kernel.py`, `force-exclude`"
    assert (finding.path, finding.fix) == ("pyproject.toml", "vendor-tool fence --write")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.ruff]\nforce-exclude = true\nexclude = ['vendored/**', '*.py']\n"),
        (".pre-commit-config.yaml", "exclude: ^(vendored|patches)/|\\.py$\nrepos: []\n"),
        (".coveragerc", "[run]\nomit = vendored/*,my kernel.py\n"),
        ("pyproject.toml", "[project]\nname = 'no tool here'\n"),
        (".gitattributes", "*.png binary\n"),
        ("setup.cfg", "[metadata]\nname = x\n"),
    ],
)
def test_no_op_where_nothing_is_lacking(name: str, text: str) -> None:
    assert fence.check(LOCK, {name: text}) == []
    assert fence.apply(LOCK, {name: text}) == {}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pyproject.toml", "[tool]\nruff.line-length = 1\n", "`tool.ruff` is written without a `[tool.ruff]` line"),
        ("ruff.toml", 'extend-exclude = "a"\n', "`extend-exclude` is not an array"),
        (".licenserc.yaml", "header: {}\n", "`.licenserc.yaml` has no `paths-ignore`"),
        (
            ".pre-commit-config.yaml",
            "exclude: |\n  ^docs/\nrepos: []\n",
            "`exclude` in `.pre-commit-config.yaml` is a block without `(?x)`",
        ),
        (
            ".pre-commit-config.yaml",
            "exclude: ^(docs/\nrepos: []\n",
            "`exclude` in `.pre-commit-config.yaml` is not a regular expression: "
            "missing ), unterminated subpattern at position 1",
        ),
    ],
)
def test_configuration_without_room_is_refused_with_what_to_do_by_hand(name: str, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        fence.apply(LOCK, {name: text})
    assert caught.value.message == message
    assert caught.value.hint


# ---- what the tools themselves make of it -----------------------------------------------------------------


@pytest.mark.parametrize("case", [case for case, (name, _) in CONFIGS.items() if name.endswith(".toml")])
def test_ruff_leaves_named_files_alone(case: str, tmp_path: Path) -> None:
    name, before = CONFIGS[case]
    after = fence.apply(LOCK, {name: before.replace("line-length = 1\n", "line-length = 9\n")})[name]
    (tmp_path / name).write_text(after, newline="")
    files = ["my kernel.py", "vendored/one/a.py", "vendored/_tilelang.py", "ours.py"]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x=[ 1 ]\n")
    ruff = [sys.executable, "-m", "ruff", "format", "--no-cache", "--config", name, *files]
    subprocess.run(ruff, cwd=tmp_path, check=True, capture_output=True)
    assert [file for file in files if (tmp_path / file).read_text() != "x=[ 1 ]\n"] == ["ours.py"]


@pytest.mark.parametrize("case", [case for case, (name, _) in CONFIGS.items() if name == ".pre-commit-config.yaml"])
def test_pre_commit_excludes_what_is_fenced_and_what_the_user_excluded(case: str) -> None:
    name, before = CONFIGS[case]
    exclude = yaml.safe_load(fence.apply(LOCK, {name: before})[name])["exclude"]
    for path in ("vendored/one/inner/LICENSE", "my kernel.py", "patches/one/0001-a+b.patch"):
        assert re.search(exclude, path), path
    for path in ("ours.py", "src/vendored/one/a.py", "my kernel.pyi", "vendored/oneself.py"):
        assert not re.search(exclude, path), path
    user = yaml.safe_load(before).get("exclude")
    assert user is None or re.search(exclude, "docs.x/y" if "docs\\" in user else "docs/y")


@pytest.mark.parametrize("case", [case for case, (name, _) in CONFIGS.items() if name in (".coveragerc", "setup.cfg")])
def test_ini_reads_back_with_the_users_omits(case: str) -> None:
    name, before = CONFIGS[case]
    parser = configparser.RawConfigParser()
    parser.read_string(fence.apply(LOCK, {name: before})[name])
    omitted = parser.get("run" if name == ".coveragerc" else "coverage:run", "omit").strip().split("\n")
    assert sorted(omitted) == sorted(
        ["my kernel.py", "vendored/_tilelang.py", "vendored/one/*", *(["tests/*"] if "tests/*" in before else [])]
    )


def test_git_turns_no_line_ends_in_what_is_fenced(tmp_path: Path) -> None:
    name, before = CONFIGS["attributes"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / name).write_text(fence.apply(LOCK, {name: before})[name])
    paths = ["my kernel.py", "vendored/one/inner/b.py", "patches/one/0001-a+b.patch", "ours.py"]
    run = subprocess.run(
        ["git", "check-attr", "text", "--", *paths], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert [line.rpartition(" ")[2] for line in run.stdout.splitlines()] == ["unset", "unset", "unset", "auto"]


def test_licenserc_reads_back_with_the_users_paths() -> None:
    name, before = CONFIGS["licences"]
    ignored = yaml.safe_load(fence.apply(LOCK, {name: before})[name])["header"]["paths-ignore"]
    assert ignored[-1] == "docs/**"
    assert "vendored/one/**" in ignored


# ---- what is fenced ---------------------------------------------------------------------------------------


def test_inner_folders_are_part_of_outer_ones() -> None:
    assert "vendored/one/" in EVERYTHING
    assert not any("inner/" in entry and entry.startswith("vendored/one/") for entry in EVERYTHING)


def test_python_tools_are_told_of_code_alone() -> None:
    assert fence.entries(LOCK, python_only=True) == PYTHON


def test_snippets_are_what_apply_writes() -> None:
    snippets = fence.render(LOCK)
    assert set(snippets) == set(fence.KINDS)
    assert fence.check(LOCK, {"pyproject.toml": snippets["ruff"]}) == []
    assert fence.check(LOCK, {".pre-commit-config.yaml": snippets["pre-commit"]}) == []
