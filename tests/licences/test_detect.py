"""Detection of licence texts: known ones, ones with something added, and ones that are no licence."""

import subprocess
import sys
from pathlib import Path

import pytest

from vendor_tool.licences.detect import classifier, detect, fingerprint, known_texts

TEXTS = Path(__file__).parent / "texts"
APACHE, MIT, BSD3, BSD2 = (
    (TEXTS / f"{name}.txt").read_text("utf-8") for name in ("Apache-2.0", "MIT", "BSD-3-Clause", "BSD-2-Clause")
)
FILLED = APACHE.replace("Copyright [yyyy] [name of copyright owner]", "Copyright 2025 The Demo Authors")


@pytest.mark.parametrize(
    ("text", "spdx", "holder"),
    [
        (FILLED, "Apache-2.0", "Copyright 2025 The Demo Authors"),
        (FILLED[: FILLED.index("APPENDIX")], "Apache-2.0", None),
        (MIT, "MIT", "Copyright (c) 2024 The Demo Authors"),
        (MIT.replace("MIT License\n\n", ""), "MIT", "Copyright (c) 2024 The Demo Authors"),
        ("\n".join(f"    {line}" for line in MIT.splitlines()), "MIT", "Copyright (c) 2024 The Demo Authors"),
        ("\n".join(f"// {line}" for line in BSD3.splitlines()), "BSD-3-Clause", "Copyright (c) 2022, The Demo Authors"),
        (BSD3, "BSD-3-Clause", "Copyright (c) 2022, The Demo Authors"),
        (BSD2, "BSD-2-Clause", "Copyright (c) 2021 The Demo Authors"),
        (MIT.replace("\n", "\r\n"), "MIT", "Copyright (c) 2024 The Demo Authors"),
    ],
    ids=["apache", "apache-no-appendix", "mit", "mit-no-title", "indented", "commented", "bsd-3", "bsd-2", "crlf"],
)
def test_known_text_is_plain_and_names_its_holder(text: str, spdx: str, holder: str | None) -> None:
    found = detect(text)
    assert (found.spdx, found.extra, found.plain) == (spdx, (), True)
    assert found.holders == ((holder,) if holder else ())
    assert found.coverage > 95


def test_title_holders_and_rules_around_the_terms_are_no_further_terms() -> None:
    text = (
        f"{'=' * 40}\nThe MIT License (MIT)\n{'=' * 40}\n\nCopyright (c) 2021, 2023 A. Writer\n© 2024 B. Writer\n" + MIT
    )
    assert detect(text).extra == ()
    assert detect(text).holders == (
        "Copyright (c) 2021, 2023 A. Writer",
        "© 2024 B. Writer",
        "Copyright (c) 2024 The Demo Authors",
    )


HIDDEN = "Until March of next year the project stands under further terms with Example Corp."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (MIT.replace("The Demo Authors\n", f"The Demo Authors\n{HIDDEN}\n"), HIDDEN),
        (MIT + "\nWho serves more than a million users must ask first.\n", "Who serves more than a million users must ask first."),
        (BSD3 + "\nNo military use.\n", "No military use."),
        ('"Demo Clause" Condition v1.0\n\nYou may not sell the software.\n\n' + FILLED, "You may not sell the software."),
        (BSD3 + "\nThe folder `closed/` is under an EULA.\n", "The folder `closed/` is under an EULA."),
        (FILLED.replace("Demo Authors\n", "Demo Authors\n   Jane Roe must be asked.\n"), "Jane Roe must be asked."),
        ("Parts of this project are under other licences.\n\n" + MIT, "Parts of this project are under other licences."),
    ],
    ids=["among-the-holders", "users-clause", "military", "sale", "carve-out", "in-the-appendix", "preamble"],
)  # fmt: skip
def test_a_line_that_is_no_known_text_is_told(text: str, line: str) -> None:
    found = detect(text)
    assert line in found.extra
    assert not found.plain


@pytest.mark.parametrize(
    "text",
    [
        MIT.replace("without restriction", "for purposes of study"),
        MIT.replace("The above copyright", "It must not be used by soldiers.\n\nThe above copyright"),
        "# Demo\n\nA project.\n\n## Licence\n\nMIT, see the file LICENSE.\n",
        "import os\n\n\ndef main():\n    return os.getcwd()\n",
        "",
    ],
    ids=["a-word-changed", "a-sentence-inside", "readme", "code", "empty"],
)
def test_what_is_no_known_licence_comes_out_as_none(text: str) -> None:
    assert not detect(text).plain


def test_two_texts_in_one_file_both_have_to_be_kept() -> None:
    assert detect(MIT + "\n" + "-" * 30 + "\n\n" + BSD2).spdx == "BSD-2-Clause AND MIT"


def test_a_preamble_longer_than_the_text_hides_no_licence() -> None:
    preamble = "\n".join(f"Contributor number {number} joined the project some years ago." for number in range(20))
    found = detect(f"{preamble}\n\n{BSD3}")
    assert found.spdx == "BSD-3-Clause"
    assert len(found.extra) == 20


def test_a_placeholder_for_the_holder_is_seen() -> None:
    assert detect(APACHE).template
    assert not detect(FILLED).template


def test_a_tag_alone_is_an_identifier_without_a_text() -> None:
    found = detect("Licence of the demo\n\nSPDX-License-Identifier: Apache-2.0\n\nCopyright 2024 The Demo Authors\n")
    assert (found.spdx, found.evidence, found.coverage) == ("Apache-2.0", "tag", 0.0)
    assert found.holders == ("Copyright 2024 The Demo Authors",)


@pytest.mark.parametrize("text", [FILLED, MIT, BSD3, BSD2], ids=["apache", "mit", "bsd-3", "bsd-2"])
def test_the_list_that_ships_agrees_with_the_matcher(text: str) -> None:
    assert {one.spdx for one in known_texts(text)} == {one.spdx for one in classifier(text)}


def test_the_list_that_ships_is_strict_to_the_word() -> None:
    assert known_texts(MIT.replace("sublicense", "lend")) == []


def test_layout_does_not_change_a_fingerprint() -> None:
    assert fingerprint("Permission is  hereby\n * granted") == fingerprint("permission is hereby granted")


def test_a_giant_is_read_to_a_limit_and_never_plain() -> None:
    found = detect(MIT + "\n" + "and so on " * 60_000)
    assert found.extra[-1] == "(the text is longer than any licence)"
    assert not found.plain


def test_without_the_matcher_the_known_texts_are_still_known() -> None:
    code = (
        "import sys; sys.modules['licenseclassifier'] = None\n"
        "from vendor_tool.licences.detect import detect\n"
        "texts = [sys.stdin.read(), 'Anybody may do anything with this demo, and with all that comes of it.']\n"
        "print([detect(text).spdx for text in [texts[0], texts[0] + 'No military use.', texts[1]]], detect(texts[0]).holders)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], input=MIT, capture_output=True, text=True, check=True)
    assert ran.stdout == "['MIT', 'MIT', None] ('Copyright (c) 2024 The Demo Authors',)\n"
