import json
from importlib.resources import files

from jsonschema import Draft202012Validator

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, PLACE, RULES
from vendor_tool.reports import json as report

SCHEMA = json.loads(files("vendor_tool.reports").joinpath("findings.schema.json").read_text("utf-8"))


def test_schema_ships_with_the_package_and_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_report_fits_the_schema() -> None:
    for findings in ([], FINDINGS):
        Draft202012Validator(SCHEMA).validate(json.loads(report.render(findings, RULES, **PLACE)))


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
