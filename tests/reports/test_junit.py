from xml.etree import ElementTree

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, MOVED, PLACE, RULES
from vendor_tool.reports import junit


def test_report_is_well_formed_and_its_counts_are_those_of_its_cases() -> None:
    root = ElementTree.fromstring(junit.render(FINDINGS, RULES, **PLACE).encode())
    suites = [root, *root.iter("testsuite")]
    assert len(suites) == 4
    for suite in suites:
        assert suite.get("tests") == str(len(list(suite.iter("testcase"))))
        assert suite.get("failures") == str(len(list(suite.iter("failure"))))


def test_notes_pass_and_the_rest_fails() -> None:
    root = ElementTree.fromstring(junit.render([EDITED, MOVED], RULES, **PLACE).encode())
    assert [[child.tag for child in case] for case in root.iter("testcase")] == [["system-out"], ["failure"]]


def test_hostile_message_stays_inside_its_element() -> None:
    root = ElementTree.fromstring(junit.render([HOSTILE], RULES, **PLACE).encode())
    [failure] = root.iter("failure")
    assert failure.get("message") == (
        'pipe | `a|b` ]]> </failure> "q" & %0A é 💥 \\x1b[2J\\x00\\u202e\\x0d\n::error::gone\n'
        "@someone closes #12 [x](y) ``"
    )


def test_no_findings_are_a_case_that_passes() -> None:
    root = ElementTree.fromstring(junit.render([], RULES, **PLACE).encode())
    [case] = root.iter("testcase")
    assert (root.get("tests"), root.get("failures"), case.get("name"), list(case)) == ("1", "0", "no findings", [])
