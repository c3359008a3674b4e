"""Apache-2.0, section 4."""

from dataclasses import replace

from tests.checks.sound import BODY, FWD, HEADER, LOCAL, PRISTINE, entry, file, found, subject
from tests.support import rights
from vendor_tool.checks import apache
from vendor_tool.checks.subject import Artefact

NOTICE_TEXT = "Mid Plugins\nCopyright 2024 Mid\n\nFirst written for the Sample Collection.\n"
NOTICE = rights.kept("NOTICE", "vendored/LICENSES/mid/NOTICE", NOTICE_TEXT.encode())


def test_a1_the_text_has_to_be_there_whole() -> None:
    cut = rights.APACHE.decode().replace("perpetual,", "perpetual, local,")
    changes = {"LICENSE": "Ours, all rights reserved.\n", rights.MID_LICENSE.to: cut}
    assert found(apache, subject(changes=changes)) == [
        ("LIC-A1", None, None, "no unmodified Apache-2.0 text in the project, though mid came under it")
    ]


def test_a1_the_artefact_needs_it_too() -> None:
    built = Artefact("ours.whl", "wheel", None, (), (), (), {"licenses/LICENSE": rights.MIT})
    assert found(apache, subject(artefact=built)) == [
        ("LIC-A1", "pyproject.toml", None, "`ours.whl` holds no Apache-2.0 text, though mid came under it")
    ]
    assert found(apache, subject(artefact=replace(built, texts={"licenses/LICENSE": rights.APACHE}))) == []


def test_a2_a_changed_file_says_who_changed_it() -> None:
    silent = LOCAL.replace("# Modified by Us\n", "")
    assert found(apache, subject(entry(silent), {FWD: silent})) == [
        ("LIC-A2", FWD, 1, "differs from `ops/fwd.py` of mid, and its header does not say who changed it")
    ]


def test_a2_an_untouched_file_needs_no_notice() -> None:
    assert found(apache, subject(entry(PRISTINE), {FWD: PRISTINE})) == []


def test_a2_upstream_s_own_change_notice_is_not_ours() -> None:
    upstream = "# Modified by Mid Labs\n" + PRISTINE
    local = HEADER.replace("# Modified by Us\n", "") + upstream
    told = found(apache, subject(entry(local, upstream=upstream), {FWD: local}, upstream=upstream))
    assert [one[0] for one in told] == ["LIC-A2"]


def test_a3_lines_of_the_upstream_header_stay() -> None:
    upstream = "# Copyright 2023 First Author\n# Attribution: the Sample Collection\n" + PRISTINE
    told = found(apache, subject(entry(upstream=upstream), upstream=upstream))
    assert told == [
        ("LIC-A3", FWD, 1, "line 1 of upstream's `ops/fwd.py` is gone: `Copyright 2023 First Author`"),
        ("LIC-A3", FWD, 1, "line 2 of upstream's `ops/fwd.py` is gone: `Attribution: the Sample Collection`"),
    ]
    kept = HEADER + upstream
    assert found(apache, subject(entry(kept, upstream=upstream), {FWD: kept}, upstream=upstream)) == []


def test_a3_the_holder_stands_in_the_file_or_in_notice_under_that_upstream() -> None:
    nameless = LOCAL.replace(rights.APACHE_HOLDER, "Copyright 2026 Us")
    missing = (
        "LIC-A3",
        FWD,
        1,
        f"`{rights.APACHE_HOLDER}` of the licence is named neither in the file nor in NOTICE under mid",
    )
    assert missing not in found(apache, subject(entry(nameless), {FWD: nameless}))
    assert missing in found(apache, subject(entry(nameless), {FWD: nameless, "NOTICE": None}))
    elsewhere = f"other\n-----\n{rights.APACHE_HOLDER}\n\nmid\n---\nProject: {rights.MID}\n"
    assert missing in found(apache, subject(entry(nameless), {FWD: nameless, "NOTICE": elsewhere}))


def test_a4_every_paragraph_of_an_upstream_notice_is_in_ours() -> None:
    one = rights.upstream(file(), notice=NOTICE)
    told = found(apache, subject(one, {NOTICE.to: NOTICE_TEXT}))
    first, second = "Mid Plugins", "First written for the Sample Collection."
    assert told == [
        ("LIC-A4", "NOTICE", None, f"NOTICE lacks a paragraph of `NOTICE` of mid: `{paragraph}`")
        for paragraph in (first, second)
    ]
    whole = subject(
        one,
        {
            NOTICE.to: NOTICE_TEXT,
            "NOTICE": f"Ours.\n\nmid\n---\n{rights.APACHE_HOLDER}\n\n    {NOTICE_TEXT.replace(chr(10), chr(10) + '    ')}",
        },
    )
    assert found(apache, whole) == []


def test_a4_a_document_says_that_there_is_none() -> None:
    silent = {"NOTICE": f"mid\n---\n{rights.APACHE_HOLDER}\n", "vendored/PROVENANCE.md": None}
    (one,) = apache.check(subject(changes=silent))
    assert (one.rule, one.level) == ("LIC-A4", "note")
    assert one.message == f"no document says whether mid has a NOTICE file at {rights.REVISION[:12]}"


def test_a5_a_header_that_names_only_the_local_company_hides_the_author() -> None:
    ours = LOCAL.replace(rights.APACHE_HOLDER, "Copyright 2026 Us")
    assert found(apache, subject(entry(ours), {FWD: ours})) == [
        ("LIC-A5", FWD, 1, "the header names only `Copyright 2026 Us`, though 91% of the code is mid's")
    ]
    rewritten = ours.replace(BODY, "\n\ndef other():\n    return [number for number in range(17) if number % 3]\n")
    assert found(apache, subject(entry(rewritten), {FWD: rewritten})) == []
