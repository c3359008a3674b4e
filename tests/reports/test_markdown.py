"""Read back with a CommonMark and table parser, the one that rich brings along."""

import pytest
from markdown_it import MarkdownIt

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, PLACE, RULES
from vendor_tool.findings import Finding
from vendor_tool.reports import markdown


def cells(text: str) -> list[str]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "td_open"]


def test_every_finding_is_one_row_of_four_cells() -> None:
    assert len(cells(markdown.render(FINDINGS, RULES, **PLACE))) == 4 * len(FINDINGS)


def test_no_markup_of_a_finding_is_rendered() -> None:
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown.render([HOSTILE], RULES, **PLACE))
    assert "<b>" not in html
    assert "</failure>" not in html
    assert "<a " not in html
    assert "&lt;/failure&gt;" in html


@pytest.mark.parametrize(
    ("mention", "inert"), [("@someone", "@&#8203;someone"), ("a/b#12", "a/b#&#8203;12"), ("see !12", "see !&#8203;12")]
)
def test_nobody_is_notified_and_nothing_is_linked(mention: str, inert: str) -> None:
    assert inert in markdown.render([Finding("odd", "note", mention)], RULES, **PLACE)


@pytest.mark.parametrize(
    ("message", "rendered"),
    [
        ("run `a | b` now", "run `a \\| b` now"),
        ("one ` alone", "one \\` alone"),
        ("two `` in a row", "two \\`\\` in a row"),
        ("a\nb", "a<br>b"),
    ],
)
def test_back_ticked_parts_are_code_and_the_rest_is_text(message: str, rendered: str) -> None:
    assert markdown.prose(message) == rendered


def test_code_holds_back_ticks_of_its_own() -> None:
    assert markdown.code("a``b`") == "``` a``b` ```"


def test_heading_holds_the_counts() -> None:
    assert markdown.render([EDITED], RULES, **PLACE).startswith("### vendor-tool: 1 error\n")
    assert markdown.render([], RULES, **PLACE) == "### vendor-tool: no findings\n"
