"""Licences of what was vendored."""

from dataclasses import replace
from hashlib import sha256

import pytest

from tests.checks.sound import FACTS, FWD, HEADER, LOCAL, PRISTINE, entry, file, found, subject
from tests.support import rights
from vendor_tool import legal
from vendor_tool.checks import licences
from vendor_tool.checks.subject import Artefact, Head
from vendor_tool.legal import Ancestor
from vendor_tool.model import FileSpec, Upstream

BSD_LICENSE = rights.kept(
    "LICENSE", rights.MID_LICENSE.to, rights.BSD, "BSD-3-Clause", "Copyright (c) 2022, The Demo Authors"
)


def built(*texts: bytes) -> Artefact:
    return Artefact(
        "ours.whl", "wheel", None, (), (), (), {f"licenses/{number}": text for number, text in enumerate(texts)}
    )


def bsd() -> Upstream:
    return rights.upstream(file(), license_=BSD_LICENSE, declared="BSD-3-Clause")


def test_m1_the_text_of_an_ancestor_travels_with_the_file() -> None:
    message = f"comes from roots/kern, and the project holds no copy of its MIT text of `{rights.MIT_HOLDER}`"
    assert found(licences, subject(changes={rights.ROOT_LICENSE.to: None})) == [("LIC-M1", FWD, 1, message)]


def test_m1_another_holder_s_text_is_no_copy() -> None:
    other = rights.MIT.decode().replace("The Demo Authors", "Somebody Else")
    assert [
        one[0]
        for one in found(
            licences, subject(changes={rights.ROOT_LICENSE.to: None, "vendored/LICENSES/x/LICENSE": other})
        )
    ] == ["LIC-M1"]


def test_m1_a_copy_under_another_name_or_layout_is_a_copy() -> None:
    indented = "\n".join(f"    {line}" for line in rights.MIT.decode().splitlines())
    changes = {rights.ROOT_LICENSE.to: None, "vendored/LICENSES/all": "Third parties\n\n" + indented}
    assert found(licences, subject(changes=changes)) == []


def test_m1_the_artefact_needs_it_too() -> None:
    message = f"comes from roots/kern, and `ours.whl` holds no copy of its MIT text of `{rights.MIT_HOLDER}`"
    assert found(licences, subject(artefact=built(rights.APACHE))) == [("LIC-M1", FWD, 1, message)]
    assert found(licences, subject(artefact=built(rights.APACHE, rights.MIT))) == []


def test_b1_and_b2_a_bsd_text_is_in_the_tree_and_in_the_wheel() -> None:
    text = {rights.MID_LICENSE.to: rights.BSD.decode()}
    assert found(licences, subject(bsd(), text)) == []
    assert [one[0] for one in found(licences, subject(bsd(), {rights.MID_LICENSE.to: None}))] == ["LIC-B1"]
    assert [one[0] for one in found(licences, subject(bsd(), text, artefact=built(rights.APACHE)))] == ["LIC-B2"]
    assert found(licences, subject(bsd(), text, artefact=built(rights.BSD))) == []


def test_b3_a_holder_s_name_beside_praise_is_shown_to_a_person() -> None:
    changes = {
        rights.MID_LICENSE.to: rights.BSD.decode(),
        "README.md": "# Ours\n\nOfficially endorsed by The Demo Authors.\n",
    }
    assert found(licences, subject(bsd(), changes)) == [
        ("LIC-B3", "README.md", 3, "a holder of mid is named beside a word of endorsement")
    ]


def test_x1_a_header_that_names_another_licence() -> None:
    upstream = "# SPDX-License-Identifier: ISC\n" + PRISTINE
    told = found(licences, subject(entry(upstream=upstream), upstream=upstream))
    assert told == [("LIC-X1", FWD, 1, "upstream's `ops/fwd.py` names ISC, the lock gives Apache-2.0")]
    local = HEADER + "# SPDX-License-Identifier: ISC\n" + PRISTINE
    assert found(licences, subject(entry(local), {FWD: local})) == [
        ("LIC-X1", FWD, 4, "the header names ISC, the lock gives Apache-2.0")
    ]


def test_x1_the_lock_s_word_on_the_file_and_an_ancestor_s_licence_are_known() -> None:
    upstream = "# SPDX-License-Identifier: ISC\n# MIT License\n" + PRISTINE
    one = entry(upstream=upstream)
    allowed = replace(one, files=(FileSpec("fwd.py", None, one.at, license="ISC"),))
    assert found(licences, subject(allowed, upstream=upstream)) == []


def test_x1_the_lock_against_the_licence_file() -> None:
    assert found(licences, subject(replace(entry(), license="MIT"))) == [
        ("LIC-X1", None, None, "`LICENSE` of mid is Apache-2.0, the lock says MIT")
    ]


def test_x1_a_gnu_text_does_not_say_whether_later_versions_are_meant() -> None:
    gnu = replace(rights.MID_LICENSE, spdx="GPL-2.0-only")
    one = rights.upstream(file(), license_=gnu, declared="GPL-2.0-or-later")
    assert [item for item in found(licences, subject(one)) if item[1] is None] == []


TERMS = rights.MIT.replace(b"Demo Authors\n", b"Demo Authors\nFurther terms with Example Corp apply.\n")
WITH_TERMS = rights.kept("LICENSE", rights.ROOT_LICENSE.to, TERMS, "MIT", rights.MIT_HOLDER)


def test_x2_further_terms_are_told_until_somebody_acknowledges_them() -> None:
    ancestor = replace(rights.ANCESTOR, license=WITH_TERMS, extra_terms=True)
    one = entry(facts=replace(FACTS, ancestors=(ancestor,)))
    changes = {WITH_TERMS.to: TERMS.decode()}
    words = "Further terms with Example Corp apply."
    assert found(licences, subject(one, changes)) == [
        ("LIC-X2", WITH_TERMS.to, None, f"`LICENSE` of roots/kern holds more than the MIT text: `{words}`")
    ]
    assert found(licences, subject(replace(one, acknowledge={sha256(TERMS).hexdigest(): "read"}), changes)) == []
    assert found(licences, subject(replace(one, acknowledge={"0" * 64: "another text"}), changes)) != []


def test_x3_a_licence_that_changed_upstream() -> None:
    assert rights.MID_LICENSE.blob != "f" * 40
    same = Head(license_blob=rights.MID_LICENSE.blob)
    assert found(licences, subject(heads={"mid": same})) == []
    assert found(licences, subject(heads={"mid": replace(same, license_blob="f" * 40, notice_blob="e" * 40)})) == [
        ("LIC-X3", None, None, f"the licence file of mid changed since {rights.REVISION[:12]}"),
        ("LIC-X3", None, None, f"the NOTICE file of mid changed since {rights.REVISION[:12]}"),
    ]


def test_x4_no_text_is_no_permission() -> None:
    one = rights.upstream(file(), license_=None)
    assert found(licences, subject(one)) == [
        ("LIC-X4", None, None, f"no licence text of mid/plugins at {rights.REVISION[:12]}")
    ]
    owed = Ancestor(rights.ROOT, rights.ROOT_REVISION, (), owed="the commit cannot be fetched")
    message = f"no licence text of roots/kern at {rights.ROOT_REVISION[:12]}: the commit cannot be fetched"
    assert found(licences, subject(entry(facts=legal.Facts(ancestors=(owed,))))) == [("LIC-X4", None, None, message)]


def test_x4_an_entry_that_was_never_synced_is_no_clean_one() -> None:
    assert found(licences, subject(replace(entry(), resolved=None))) == [
        ("LIC-X4", None, None, "mid was never synced, so nothing is known of its licence")
    ]


def test_x5_what_the_project_does_not_allow() -> None:
    verdicts = {"MIT": "`MIT` not allowed"}
    assert found(licences, subject(verdicts=verdicts)) == [("LIC-X5", None, None, "mid: MIT: `MIT` not allowed")]


@pytest.mark.parametrize(("name", "there"), [("LICENSE-DEMO", False), ("LICENSE", True), ("vendored/LICENSES", True)])
def test_x6_a_licence_file_that_the_header_sends_readers_to(name: str, there: bool) -> None:
    local = HEADER + f"# See the {name} file\n" + PRISTINE
    expected = [] if there else [("LIC-X6", FWD, 4, f"refers to `{name}`, which is not in the project")]
    assert found(licences, subject(entry(local), {FWD: local})) == expected


def test_x7_a_template_that_was_never_filled_in() -> None:
    assert found(licences, subject(changes={"LICENSE": rights.APACHE_TEMPLATE.decode()})) == [
        ("LIC-X7", "LICENSE", None, "`LICENSE` still holds the placeholder of its template for the holder")
    ]


def test_rules_that_compare_with_upstream_are_silent_without_its_bytes() -> None:
    assert found(licences, subject(entry(LOCAL), pristine={}, upstream_headers={})) == []
