"""`docs/reference/findings.md` lists the findings that the program has, at their levels, and no others."""

import re
from pathlib import Path

import pytest

from vendor_tool import codegen, fence, outdated
from vendor_tool.checks import drift
from vendor_tool.findings import RuleInfo
from vendor_tool.transform import dynamic, shim_proof

PAGE = (Path(__file__).parent.parent / "docs/reference/findings.md").read_text("utf-8")
TABLES = (drift.RULES, fence.RULES, outdated.RULES, dynamic.RULES, shim_proof.RULES, codegen.RULES)
RULES: dict[str, RuleInfo] = {name: rule for table in TABLES for name, rule in table.items()}
ROWS: list[tuple[str, str]] = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", PAGE, re.MULTILINE)


def test_the_page_lists_every_finding_once_at_its_level() -> None:
    assert sorted(ROWS) == sorted((rule.id, rule.level) for rule in RULES.values())


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_the_page_says_what_the_program_says(rule: RuleInfo) -> None:
    title = rule.title.rstrip(".")
    assert f"| `{rule.id}` | {rule.level} | {title[:1].upper()}{title[1:]}. {rule.help} |\n" in PAGE
