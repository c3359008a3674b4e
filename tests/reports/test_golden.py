"""Each format, whole, over the shared samples; the files under `golden` are read by people before they change."""

from pathlib import Path

import pytest

from tests.reports.samples import FINDINGS, PLACE, RULES
from vendor_tool.reports import REPORTS

GOLDEN = {
    "text": "text.txt",
    "json": "json.json",
    "sarif": "sarif.sarif",
    "github": "github.txt",
    "junit": "junit.xml",
    "markdown": "markdown.md",
}


def test_every_format_has_a_golden_file() -> None:
    assert set(GOLDEN) == set(REPORTS)


@pytest.mark.parametrize("name", REPORTS)
def test_report_is_the_golden_file(name: str) -> None:
    golden = Path(__file__).parent / "golden" / GOLDEN[name]
    assert REPORTS[name].render(FINDINGS, RULES, **PLACE) == golden.read_text("utf-8")


@pytest.mark.parametrize("name", REPORTS)
def test_order_of_findings_does_not_change_the_report(name: str) -> None:
    render = REPORTS[name].render
    assert render(FINDINGS[::-1], RULES, **PLACE) == render(FINDINGS, RULES, **PLACE)


@pytest.mark.parametrize("name", REPORTS)
def test_report_holds_no_character_that_a_terminal_obeys(name: str) -> None:
    lines = REPORTS[name].render(FINDINGS, RULES, **PLACE).split("\n")
    assert [line for line in lines if not line.isprintable()] == []


@pytest.mark.parametrize("name", sorted(set(REPORTS) - {"github"}))
def test_no_line_of_a_finding_reads_as_a_command_to_githubs_runner(name: str) -> None:
    lines = REPORTS[name].render(FINDINGS, RULES, **PLACE).split("\n")
    assert [line for line in lines if line.lstrip().startswith("::")] == []
