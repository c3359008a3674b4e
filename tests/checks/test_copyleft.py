"""MPL-2.0 by file."""

from dataclasses import replace

from tests.checks.sound import BODY, FWD, entry, file, found, subject
from tests.support import rights
from vendor_tool.checks import copyleft
from vendor_tool.checks.subject import Artefact
from vendor_tool.model import FileSpec, Upstream

HEAD = "# Demo code under the Mozilla Public License, v. 2.0.\n# There is no warranty of any kind.\n"
PRISTINE = HEAD + BODY
LOCAL = HEAD + "# Modified by Us\n" + BODY


def covered(text: str = LOCAL, license_: str = "MPL-2.0", upstream: str = PRISTINE) -> Upstream:
    one = entry(text, upstream=upstream)
    return replace(one, files=(FileSpec("fwd.py", None, one.at, license=license_),))


def test_a_file_that_keeps_its_header_is_sound() -> None:
    assert found(copyleft, subject(covered(), {FWD: LOCAL}, upstream=PRISTINE)) == []


def test_p1_and_p2_the_header_stays() -> None:
    bare = "# Modified by Us\n" + BODY
    assert found(copyleft, subject(covered(bare), {FWD: bare}, upstream=PRISTINE)) == [
        ("LIC-P1", FWD, 1, "upstream's `ops/fwd.py` says that it is MPL-2.0, the file here does not"),
        (
            "LIC-P2",
            FWD,
            1,
            "2 notice lines of upstream's `ops/fwd.py` are gone, the first: "
            "`Demo code under the Mozilla Public License, v. 2.0.`",
        ),
    ]


def test_p1_a_file_cannot_be_relicensed_in_the_lock() -> None:
    assert found(copyleft, subject(covered(license_="Apache-2.0"), {FWD: LOCAL}, upstream=PRISTINE)) == [
        ("LIC-P1", FWD, None, "is MPL-2.0 by its header, the lock gives Apache-2.0")
    ]


def test_p3_compiled_files_without_word_of_their_source() -> None:
    built = Artefact("ours.whl", "wheel", None, (), (), (), {}, frozenset({"ours/x.so"}))
    whole = subject(covered(), {FWD: LOCAL}, upstream=PRISTINE)
    assert [one[0] for one in found(copyleft, replace(whole, artefact=built))] == ["LIC-P3"]
    said = replace(built, texts={"licenses/NOTICE": rights.REVISION.encode()})
    assert found(copyleft, replace(whole, artefact=said)) == []
    assert found(copyleft, replace(whole, artefact=replace(built, files=frozenset({"ours/x.so", FWD})))) == []


def test_p4_a_file_that_excludes_secondary_licences_beside_a_gpl_file() -> None:
    upstream = HEAD + "# This file is Incompatible With Secondary Licenses.\n" + BODY
    local = upstream + "# Modified\n"
    gpl = rights.upstream(file(name="gpl.py"), name="gpl", declared="GPL-3.0-only")
    one = covered(local, upstream=upstream)
    told = found(copyleft, subject(one, {FWD: local}, upstream=upstream, others=[gpl]))
    assert told == [("LIC-P4", FWD, None, "may not be combined with GPL files, and `vendored/mid/gpl.py` is one")]
    assert found(copyleft, subject(one, {FWD: local}, upstream=upstream)) == []
