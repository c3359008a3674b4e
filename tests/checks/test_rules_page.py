"""The reference page lists exactly the rules that exist, in the words of their tables."""

import re
from pathlib import Path

from vendor_tool import stamp
from vendor_tool.checks import apache, copyleft, distribution, licences, parity, provenance, requirements

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "audit-rules.md").read_text("utf-8")
RULES = [
    one
    for check in (apache, licences, copyleft, provenance, distribution, requirements, parity)
    for one in check.RULES.values()
]


def test_every_rule_stands_on_the_page_as_its_table_has_it() -> None:
    rows = re.findall(r"^\| ((?:LIC|PROV|DIST|REQ|PAR)-\S+) \| (\w+) \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
    assert rows == [(one.id, one.level, one.title, one.help) for one in RULES]


def test_an_id_stands_for_one_rule() -> None:
    assert len({one.id for one in RULES}) == len(RULES)


def test_the_rules_of_the_specification_are_all_there() -> None:
    wanted = [f"LIC-A{number}" for number in range(1, 6)] + ["LIC-M1", "LIC-B1", "LIC-B2", "LIC-B3"]
    wanted += [f"LIC-P{number}" for number in range(1, 5)] + [f"LIC-X{number}" for number in range(1, 8)]
    wanted += [f"PROV-{number}" for number in range(1, 12)] + ["DIST-1", "DIST-2", "DIST-3"]
    assert set(wanted) <= {one.id for one in RULES}


def test_the_names_that_a_header_may_use_are_those_that_are_filled_in() -> None:
    sentence = PAGE[PAGE.index("Known names are") : PAGE.index("All other braces")]
    listed = sentence[: sentence.index(";")]
    assert tuple(re.findall(r"\{(\w+)\}", listed)) == stamp.NAMES
