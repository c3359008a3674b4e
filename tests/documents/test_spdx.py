"""The SPDX document against the reference implementation."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from tests.support import rights
from vendor_tool.documents import spdx
from vendor_tool.errors import UsageError
from vendor_tool.legal import Facts

FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 2\n")
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={FILE.to: (rights.origin(),)})
LOCK = rights.lock(rights.upstream(FILE, facts=FACTS))
TEXTS = {FILE.to: b"x = 2\n"}


@pytest.mark.parametrize("declared", ["Apache-2.0", "LicenseRef-Demo", "MIT OR Apache-2.0"])
def test_the_document_is_valid_by_the_reference_implementation(tmp_path: Path, declared: str) -> None:
    lock = rights.lock(replace(rights.upstream(FILE, facts=FACTS), license=declared))
    path = tmp_path / "demo.spdx.json"
    path.write_bytes(spdx.render(lock, TEXTS))
    problems = validate_full_spdx_document(parse_file(str(path)))
    assert [one.validation_message for one in problems] == []


def test_files_descend_from_the_upstream_and_the_upstream_from_its_ancestor() -> None:
    data = json.loads(spdx.render(LOCK, TEXTS))
    names = {one["SPDXID"]: one["name"] for one in data["packages"]} | {
        one["SPDXID"]: one["fileName"] for one in data["files"]
    }
    told = [
        (names[one["spdxElementId"]], names[one["relatedSpdxElement"]])
        for one in data["relationships"]
        if one["relationshipType"] == "DESCENDANT_OF"
    ]
    assert told == [("mid-vendored", "mid"), ("./vendored/mid/fwd.py", "mid"), ("mid", "roots__kern")]
    places = {one["name"]: one["downloadLocation"] for one in data["packages"]}
    assert places["mid"] == f"git+https://github.com/mid/plugins@{rights.REVISION}"


def test_the_date_is_the_newest_revision_s_in_utc() -> None:
    assert json.loads(spdx.render(LOCK, TEXTS))["creationInfo"]["created"] == "2026-03-04T04:06:07Z"


def test_a_file_that_is_not_there_stops_the_run() -> None:
    with pytest.raises(UsageError, match="`vendored/mid/fwd.py` is recorded and not there"):
        spdx.render(LOCK, {})
