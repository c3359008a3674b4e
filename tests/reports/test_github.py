import re
from urllib.parse import unquote

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, MOVED, PLACE, RULES
from vendor_tool.reports import github


def test_annotation_reads_back_as_it_was_meant() -> None:
    line = github.render([HOSTILE], RULES, **PLACE).split("\n")[0]
    match = re.fullmatch(r"::warning file=([^,]*),line=([^,]*),title=([^,:]*)::(.*)", line)
    assert match is not None
    path, number, title, message = (unquote(part) for part in match.groups())
    assert (path, number, title) == (f"third_party/{HOSTILE.path}", "7", "50 %, a: title | <b> [odd]")
    assert message.startswith('pipe | `a|b` ]]> </failure> "q" & %0A é 💥 \\x1b[2J\\x00\\u202e\\x0d\n::error::gone\n')


def test_errors_come_before_what_github_may_drop() -> None:
    lines = github.render(FINDINGS, RULES, **PLACE).splitlines()
    assert [line.split(" ")[0] for line in lines[:4]] == ["::error", "::warning", "::notice", "::notice"]


def test_each_finding_is_one_line_and_the_counts_are_the_last() -> None:
    assert github.render([EDITED, MOVED], RULES, **PLACE).count("\n") == 3
    assert github.render([], RULES, **PLACE) == "no findings\n"
