from tests.reports.samples import EDITED, MOVED, PLACE, RULES
from vendor_tool.findings import Finding
from vendor_tool.reports import text


def test_no_findings_are_said_to_be_none() -> None:
    assert text.render([], RULES, **PLACE) == "no findings\n"


def test_color_adds_nothing_that_words_lack() -> None:
    colored = text.render([EDITED, MOVED], RULES, **PLACE, color=True)
    assert "\x1b[31merror\x1b[0m" in colored
    for code in ("\x1b[1m", "\x1b[31m", "\x1b[36m", "\x1b[0m"):
        colored = colored.replace(code, "")
    assert colored == text.render([EDITED, MOVED], RULES, **PLACE)


def test_width_wraps_between_words_and_marks_what_continues() -> None:
    assert text.render([EDITED], RULES, lock="vendor.lock.yaml", root=".", width=72) == (
        "slime\n"
        "vendored/glm5/indexer.py:12: error: `vendored/glm5/indexer.py` was\n"
        "    | edited: 3 lines differ from the record [file-edited]\n"
        "    lock: vendor.lock.yaml:40\n"
        "    side: the local file changed\n"
        "    fix: vendor-tool sync slime --force\n"
        "\n"
        "1 error in 1 upstream\n"
    )


def test_plurals_are_right() -> None:
    notes = [Finding("r", "note", str(n), upstream=name) for n, name in enumerate(("a", "a", "b"))]
    assert text.render(notes, RULES, **PLACE).endswith("\n3 notes in 2 upstreams\n")
