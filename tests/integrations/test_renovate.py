"""The preset's expression, as Renovate uses it: once over the whole file, no flag but `g`."""

import json
import re
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent.parent
[MANAGER] = json.loads((TOP / "renovate/default.json").read_text("utf-8"))["customManagers"]
[EXPRESSION] = MANAGER["matchStrings"]
PATTERN = re.compile(EXPRESSION.replace("(?<", "(?P<"))
ONE, TWO = "1" * 40, "2" * 40


def matches(text: str) -> list[dict[str, str]]:
    return [match.groupdict() for match in PATTERN.finditer(text)]


def test_every_entry_of_this_repositorys_lock_is_found() -> None:
    found = matches((TOP / "vendor.lock.yaml").read_text("utf-8"))
    assert [(entry["depName"], entry["packageName"], entry["currentValue"]) for entry in found] == [
        ("slime", "https://github.com/THUDM/slime", "main"),
        ("miles", "https://github.com/yueming-yuan/miles", "deepseek-v4"),
        ("tilekernels", "https://github.com/deepseek-ai/TileKernels", "main"),
    ]
    assert [entry["currentDigest"] for entry in found] == [
        "8f5e2151943e9ed0bbffaed93741d3473abb58d9",
        "e561465d0b9bbf06188b7a5e2020dc7fd691f732",
        "36d9e45d38e204ebb87e6f6e833821eee0482fe5",
    ]


ENTRY = """upstreams:
  demo:
    url: https://example.org/demo.git
    branch: main
    revision: {one}
"""


@pytest.mark.parametrize(
    "text",
    [
        ENTRY,
        ENTRY.replace("{one}", '"{one}"')
        .replace("main", "'main'")
        .replace("https://example.org/demo.git", '"https://example.org/demo.git"'),
        ENTRY.replace("{one}", "'{one}'  # the release"),
        ENTRY.replace("\n", "\r\n"),
        ENTRY.replace(
            "    branch", "    mirrors: []  # none yet\n\n    # what to follow\n    license: MIT\n    branch"
        ),
        ENTRY.replace("  demo:", "  demo:  # a comment"),
    ],
    ids=["plain", "double-quoted", "single-quoted", "windows", "others between", "comment"],
)
def test_entry_is_found_however_it_is_written(text: str) -> None:
    assert matches(text.format(one=ONE)) == [
        {"depName": "demo", "packageName": "https://example.org/demo.git", "currentValue": "main", "currentDigest": ONE}
    ]


def test_recorded_revision_is_not_touched() -> None:
    text = ENTRY.format(one=ONE) + f"    resolved:\n      revision: {TWO}\n"
    [match] = PATTERN.finditer(text)
    assert TWO not in match[0]


def test_entry_without_a_branch_takes_nothing_from_its_neighbour() -> None:
    text = f"upstreams:\n  one:\n    url: https://example.org/one\n    revision: {ONE}\n  two:\n    url: u\n    branch: b\n    revision: {TWO}\n"
    assert matches(text) == [{"depName": "two", "packageName": "u", "currentValue": "b", "currentDigest": TWO}]


@pytest.mark.parametrize("revision", ["1234567", "main", "1" * 39, ""])
def test_what_is_no_full_revision_is_left_alone(revision: str) -> None:
    assert matches(ENTRY.format(one=revision)) == []


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("vendor.lock.yaml", True),
        ("third_party/vendor.lock.yml", True),
        ("my-vendor.lock.yaml", False),
        ("vendor.lock.yaml.bak", False),
    ],
)
def test_lockfiles_are_found_by_name(path: str, taken: bool) -> None:
    [pattern] = MANAGER["managerFilePatterns"]
    assert bool(re.search(pattern.strip("/").removesuffix("/"), path)) is taken
