"""Which lines name a copyright holder, and which only use the word."""

import pytest

from vendor_tool.licences.holders import copyright_line, holders, is_placeholder


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Copyright (c) 2024 The Demo Authors", "Copyright (c) 2024 The Demo Authors"),
        ("   Copyright 2025 Example AI", "Copyright 2025 Example AI"),
        ("# Copyright © Example GmbH", "Copyright © Example GmbH"),
        ("// (c) 2019 A. Writer <a@example.invalid>", "(c) 2019 A. Writer <a@example.invalid>"),
        (" * Copyright (C) 2010-2024, Müller & Søn. All rights reserved. */", "Copyright (C) 2010-2024, Müller & Søn. All rights reserved."),
        ("Copyright (c) Tile Example.", "Copyright (c) Tile Example."),
        ("© 2023 Example", "© 2023 Example"),
        ("# SPDX-FileCopyrightText: 2024 Example Corp", "SPDX-FileCopyrightText: 2024 Example Corp"),
        ("Copyright Example Labs", "Copyright Example Labs"),
        ("Copyright 2020 by Jo Writer", "Copyright 2020 by Jo Writer"),
    ],
)  # fmt: skip
def test_a_holder_line_is_kept_as_it_stands(line: str, found: str) -> None:
    assert copyright_line(line) == found


@pytest.mark.parametrize(
    "line",
    [
        "copyright notice that is included in or attached to the work",
        "COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER",
        "Redistributions must retain the above copyright notice",
        "copyright license to reproduce, prepare Derivative Works of,",
        "Copyright and related rights",
        "Copyright law",
        "the copyright of 2024 is ours",
        "no rights here",
        "",
    ],
)
def test_a_sentence_about_copyright_names_nobody(line: str) -> None:
    assert copyright_line(line) is None


def test_placeholders_are_no_holders() -> None:
    assert is_placeholder("Copyright [yyyy] [name of copyright owner]")
    assert holders("Copyright [yyyy] [name of copyright owner]\nCopyright (c) <year> <owner>\n") == ()


def test_a_holder_is_listed_once_in_the_order_of_the_text() -> None:
    assert holders("Copyright 2024 B\n\nCopyright 2023 A\nCopyright 2024 B\n") == (
        "Copyright 2024 B",
        "Copyright 2023 A",
    )
