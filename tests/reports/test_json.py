import json
import re
from importlib.resources import files
from pathlib import Path

from jsonschema import Draft202012Validator

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, PLACE, RULES
from vendor_tool.reports import json as report

TOP = Path(__file__).parents[2]
SCHEMA = json.loads(files("vendor_tool.reports").joinpath("findings.schema.json").read_text("utf-8"))


def test_schema_ships_with_the_package_and_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_report_fits_the_schema() -> None:
    for findings in ([], FINDINGS):
        Draft202012Validator(SCHEMA).validate(json.loads(report.render(findings, RULES, **PLACE)))


def test_every_rule_that_exists_fits_the_schema() -> None:
    wanted = re.compile(SCHEMA["$defs"]["finding"]["properties"]["rule"]["pattern"])
    pages = [(TOP / "docs/reference" / name).read_text("utf-8") for name in ("findings.md", "audit-rules.md")]
    ids = [
        found
        for page in pages
        for found in re.findall(r"^\| `?([\w-]+)`? \| (?:error|warning|note) \|", page, re.MULTILINE)
    ]
    assert {"drift-edited", "LIC-A1", "PROV-2"} <= set(ids)
    assert [one for one in ids if not wanted.search(one)] == []


def test_schema_names_every_key_that_is_written() -> None:
    document = json.loads(report.render([EDITED], RULES, **PLACE))
    assert set(document) == set(SCHEMA["properties"])
    assert set(document["findings"][0]) == set(SCHEMA["$defs"]["finding"]["properties"])
    assert set(document["rules"][0]) == set(SCHEMA["$defs"]["rule"]["properties"])


def test_text_of_strangers_arrives_as_it_was() -> None:
    [finding] = json.loads(report.render([HOSTILE], RULES, **PLACE))["findings"]
    assert (finding["message"], finding["path"]) == (HOSTILE.message, HOSTILE.path)


def test_same_finding_twice_has_two_fingerprints() -> None:
    marks = [f["fingerprint"] for f in json.loads(report.render([EDITED, EDITED], RULES, **PLACE))["findings"]]
    assert [mark.partition(":")[2] for mark in marks] == ["1", "2"]
