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

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]  # a dependency on Python 3.10 only

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

HOOKS = ".pre-commit-config.yaml"
ODD = {
    "a block of four spaces": (HOOKS, "exclude: |\n    (?x)^(\n        docs/.*\n    )$\nrepos: []\n"),
    "a block of tabs in it": (HOOKS, "exclude: |\n  (?x)^(\n  \tdocs/.*\n  )$\nrepos: []\n"),
    "a block with an indicator": (HOOKS, "exclude: |2-\n  (?x)^(docs/.*)$\nrepos: []\n"),
    "a block with a comment": (HOOKS, "exclude: |  # why\n  (?x)^(\n    docs/.*\n  )$\n\n\nrepos: []\n"),
    "a block at the end": (HOOKS, "repos: []\nexclude: |\n  (?x)^(docs/.*)$"),
    "a block of windows": (HOOKS, "exclude: |\r\n  (?x)^(\r\n    docs/.*\r\n  )$\r\nrepos: []\r\n"),
    "a folded block": (HOOKS, "exclude: >-\n  (?x)^(docs/.*|\n  x/.*)$\nrepos: []\n"),
    "a block that ends without a newline": (HOOKS, "exclude: |-\n  ^docs/\nrepos: []\n"),
    "a line of windows": (HOOKS, "exclude: ^docs/\r\nrepos: []\r\n"),
    "no exclude, of windows": (HOOKS, "# head\r\nrepos: []\r\n"),
    "a quoted key": (HOOKS, '"exclude": ^docs/\nrepos: []\n'),
    "the value on the next line": (HOOKS, "exclude:\n  ^docs/\nrepos: []\n"),
    "a plain value on two lines": (HOOKS, "exclude: ^docs/|\n  x\nrepos: []\n"),
    "a double-quoted value on two lines": (HOOKS, 'exclude: "^docs/|\\\n  ^x/"\nrepos: []\n'),
    "an anchor": (HOOKS, "exclude: &x ^docs/\nrepos: []\n"),
    "an anchor that an alias names": (HOOKS, "files: &x ^docs/\nexclude: ^docs/\nrepos: [*x]\n"),
    "merge keys": (HOOKS, "x: &x {a: 1}\nexclude: ^docs/\nrepos: [{<<: *x}]\n"),
    "two excludes, of which the last counts": (HOOKS, "exclude: ^a/\nexclude: ^docs/\nrepos: []\n"),
    "a document with marks": (HOOKS, "---\nrepos:\n- repo: local\n  hooks: []\n...\n"),
    "an indented top": (HOOKS, "  repos: []\n  fail_fast: true\n"),
    "brackets at the top": (HOOKS, "{repos: [], exclude: '^docs/'}\n"),
    "a byte order mark": (HOOKS, "\ufeffexclude: ^docs/\nrepos: []\n"),
    "an array of windows": ("ruff.toml", 'extend-exclude = [\r\n  "a"\r\n]\r\n'),
    "a quoted name": ("pyproject.toml", '[tool.ruff]\n"extend-exclude" = ["a"]\n'),
    "a spaced head": ("pyproject.toml", "[ tool . ruff ]\nline-length = 90"),
    "tests for the report only": ("pyproject.toml", "[tool.coverage.report]\nshow_missing = true\n"),
    "an omit of tabs": ("setup.cfg", "[coverage:run]\nomit:\n\ttests/*\n\n\ta/*\nbranch = True\n"),
    "an indented omit": (".coveragerc", "[run]\n  branch = true\n  omit = tests/*\n"),
    "an omit of windows": (".coveragerc", "[run]\r\nomit =\r\n    tests/*\r\n"),
    "ignored paths of windows": (".licenserc.yaml", "header:\r\n  paths-ignore:\r\n    - a\r\n"),
    "ignored paths at the keys' place": (".licenserc.yaml", "header:\n    paths-ignore:\n    - a\n"),
    "two rules of headers": (
        ".licenserc.yaml",
        "header:\n  - license: {spdx-id: MIT}\n    paths-ignore:\n      - a\n"
        "  - license: {spdx-id: MIT}\n    paths-ignore:\n      - b\n",
    ),
    "no ignored paths": (".licenserc.yaml", "header:\n  license: {spdx-id: MIT}\ndependency: {}\n"),
    "attributes below": (".gitattributes", "vendored/** -text\n* text=auto\n"),
}


@pytest.mark.parametrize(("name", "before"), ODD.values(), ids=ODD)
def test_odd_ways_to_write_are_followed(name: str, before: str) -> None:
    assert {f.rule for f in fence.check(LOCK, {name: before})} == {"fence-missing"}
    after = fence.apply(LOCK, {name: before})[name]
    assert said(name, after) == said(name, before)
    assert fence.check(LOCK, {name: after}) == []
    assert fence.apply(LOCK, {name: after}) == {}, "twice is the same as once"
    larger = fence.apply(LARGER, {name: before})[name]
    assert fence.apply(LOCK, {name: larger})[name] == after
    remaining = iter(after)
    assert all(char in remaining for char in before), "the user's characters are there, in their order"
    assert ("\r\n" in before) == ("\r\n" in after)
    assert "\r\n" not in before or "\n" not in after.replace("\r\n", "")


def said(name: str, text: str) -> object:
    """What the tool's own parser makes of a configuration, without what the fence is for."""
    if name.endswith(".toml"):
        table = tomllib.loads(text)
        for part in ("tool", "ruff") if name == "pyproject.toml" and "ruff" in text else ():
            table = table.get(part, {})
        return {key: value for key, value in table.items() if key not in ("extend-exclude", "force-exclude", "tool")}
    if name.endswith(".yaml"):
        found = yaml.safe_load(text)
        headers = found.get("header", [])
        for header in headers if isinstance(headers, list) else [headers]:
            header.pop("paths-ignore", None)
        return {key: value for key, value in found.items() if key != "exclude"}
    if name == ".gitattributes":
        return None
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return {section: {key: value for key, value in parser[section].items() if key != "omit"} for section in parser}


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
        (
            ".licenserc.yaml",
            "header: {}\n",
            "`header` in `.licenserc.yaml` stands in brackets, which leave no room for lines",
        ),
        (
            ".licenserc.yaml",
            "header:\n  paths-ignore: [a, b]\n",
            "`paths-ignore` in `.licenserc.yaml` stands in brackets, which leave no room for lines",
        ),
        (
            ".pre-commit-config.yaml",
            "exclude: |\n  ^docs/\nrepos: []\n",
            "`exclude` in `.pre-commit-config.yaml` is a block without `(?x)`",
        ),
        (
            ".pre-commit-config.yaml",
            "{repos: [], exclude: ^docs/}\n",
            "`exclude` in `.pre-commit-config.yaml` stands in brackets without quotes",
        ),
        (
            ".pre-commit-config.yaml",
            "{repos: []}\n",
            "`.pre-commit-config.yaml` is written in a way that leaves no room for the excludes of pre-commit; it was "
            "not changed",
        ),
        (
            ".pre-commit-config.yaml",
            "files: &x ^a/\nexclude: *x\nrepos: []\n",
            "`.pre-commit-config.yaml` is written in a way that leaves no room for the excludes of pre-commit; it was "
            "not changed",
        ),
        (".pre-commit-config.yaml", "exclude:\nrepos: []\n", "`exclude` in `.pre-commit-config.yaml` is not a text"),
        (".pre-commit-config.yaml", "- a\n", "`.pre-commit-config.yaml` does not hold keys and values"),
        (
            ".pre-commit-config.yaml",
            "exclude: |\n a\nb\n",
            ".pre-commit-config.yaml:4:1: not valid YAML: could not find expected ':'",
        ),
        (
            "pyproject.toml",
            "[tool]\nruff = {line-length = 100}\n",
            "`tool.ruff` is written without a `[tool.ruff]` line",
        ),
        (
            "ruff.toml",
            "x = 1\nx = 2\n",
            "`ruff.toml` is not valid TOML: Cannot overwrite a value (at line 2, column 6)",
        ),
        (
            ".coveragerc",
            "[run]\nomit = a\nomit = b\n",
            "`.coveragerc` is not valid: While reading from '<string>' [line 3]: option 'omit' in section 'run' already "
            "exists",
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
