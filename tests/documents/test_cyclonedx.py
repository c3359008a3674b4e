"""The CycloneDX document against the official schema, and what it says of a file's line of descent."""

import json
from dataclasses import replace
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.support import rights
from vendor_tool.documents import cyclonedx
from vendor_tool.legal import Facts, Origin
from vendor_tool.model import At, PatchSpec, RecordedImport

LOCAL = b"x = 2\n"
FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", LOCAL)
CHAIN = (
    Origin(rights.MID, rights.REVISION, "ops/old.py", 1, 2, "ops/fwd.py"),
    rights.origin(hop=2, named_in="ops/old.py"),
)
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={FILE.to: CHAIN})
PATCH = "Description: pad\n\n--- a/vendored/mid/fwd.py\n+++ b/vendored/mid/fwd.py\n"
ENTRY = replace(rights.upstream(FILE, facts=FACTS), patches=(PatchSpec("patches/mid/0001-pad.patch", At(1, 1)),))
USED = rights.upstream(name="used", url="https://github.com/Acme/Used", declared="MIT OR Apache-2.0")
assert USED.resolved is not None
USED = replace(USED, resolved=replace(USED.resolved, imports=(RecordedImport("used.go", "used.py", "c" * 40, 7),)))
LOCK = rights.lock(ENTRY, USED)
TEXTS = {FILE.to: LOCAL, "patches/mid/0001-pad.patch": PATCH.encode()}


def components() -> dict[str, Any]:
    return {one["bom-ref"]: one for one in json.loads(cyclonedx.render(LOCK, TEXTS))["components"]}


def test_the_document_is_valid_by_the_official_schema() -> None:
    data = cyclonedx.render(LOCK, TEXTS).decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(data) is None
    broken = data.replace('"type": "unofficial"', '"type": "ours"')
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_the_pedigree_is_nested_from_the_direct_upstream_to_the_root() -> None:
    direct = components()[f"file:{FILE.to}"]["pedigree"]["ancestors"]
    names = []
    while direct:
        (one,) = direct
        names.append((one["name"], one["licenses"][0]["expression"], one["purl"]))
        direct = one.get("pedigree", {}).get("ancestors", [])
    b, a = rights.REVISION, rights.ROOT_REVISION
    assert names == [
        ("ops/fwd.py", "Apache-2.0", f"pkg:github/mid/plugins@{b}#ops/fwd.py"),
        ("ops/old.py", "Apache-2.0", f"pkg:github/mid/plugins@{b}#ops/old.py"),
        ("examples/fwd.py", "MIT", f"pkg:github/roots/kern@{a}#examples/fwd.py"),
    ]


def test_hashes_ids_patches_and_licences_are_those_of_the_file() -> None:
    one = components()[f"file:{FILE.to}"]
    assert one["hashes"] == [{"alg": "SHA-256", "content": FILE.sha256}]
    assert one["swhid"] == [f"swh:1:cnt:{rights.blob(LOCAL)}"]
    assert one["licenses"] == [{"expression": "Apache-2.0 AND MIT"}]
    assert [patch["diff"]["text"]["content"] for patch in one["pedigree"]["patches"]] == [PATCH]
    assert one["pedigree"]["ancestors"][0]["copyright"] == rights.APACHE_HOLDER


def test_what_is_imported_and_not_copied_is_an_optional_library() -> None:
    one = components()["import:used"]
    assert (one["type"], one["scope"], one["version"]) == ("library", "optional", rights.REVISION)
    assert one["purl"] == f"pkg:github/acme/used@{rights.REVISION}"


def test_the_same_lock_gives_the_same_bytes_and_another_file_another_serial_number() -> None:
    assert cyclonedx.render(LOCK, TEXTS) == cyclonedx.render(LOCK, TEXTS)
    serial = [json.loads(cyclonedx.render(LOCK, texts))["serialNumber"] for texts in (TEXTS, {**TEXTS, FILE.to: b""})]
    assert len(set(serial)) == 2
