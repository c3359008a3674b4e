"""What the head of a source file says about rights."""

from pathlib import Path

import pytest

from vendor_tool.legal import HeaderFacts
from vendor_tool.licences.header import header

APACHE = (Path(__file__).parent / "texts" / "Apache-2.0.txt").read_text("utf-8")
# the notice that the licence's own appendix asks to put into files
NOTICE = APACHE[APACHE.index('Licensed under the Apache License, Version 2.0 (the "License")') :].strip()


def commented(text: str, mark: str = "#") -> str:
    return "\n".join(f"{mark} {line.strip()}".rstrip() for line in text.splitlines()) + "\n"


CODE = "import os\n\n\ndef f():\n    return os\n"


@pytest.mark.parametrize(
    ("text", "path", "spdx", "evidence"),
    [
        ("# SPDX-License-Identifier: MIT\n" + CODE, "a.py", "MIT", "tag"),
        ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n# SPDX-License-Identifier: Apache-2.0\n", "a.py", "Apache-2.0", "tag"),
        ("// SPDX-License-Identifier: BSD-3-Clause\nint x;\n", "a.cu", "BSD-3-Clause", "tag"),
        ("/*\n * SPDX-License-Identifier: MIT OR Apache-2.0\n */\n", "a.cpp", "MIT OR Apache-2.0", "tag"),
        (commented(NOTICE) + CODE, "a.py", "Apache-2.0", "text"),
        ("/*\n" + NOTICE + "\n*/\nint x;\n", "a.h", "Apache-2.0", "text"),
        ('"""Demo.\n\n' + NOTICE + '\n"""\n' + CODE, "a.py", "Apache-2.0", "text"),
        ("# Licensed under the MIT license found in the LICENSE file.\n" + CODE, "a.py", "MIT", "phrase"),
        ("# This source code is licensed under the BSD-style license\n" + CODE, "a.py", "BSD-3-Clause", "phrase"),
        ("# Apache License 2.0\n" + CODE, "a.py", "Apache-2.0", "phrase"),
        ("# Copyright 2024 Demo\n# MIT License\n" + CODE, "a.py", "MIT", "phrase"),
        ("# Mozilla Public License, v. 2.0\n" + CODE, "a.py", "MPL-2.0", "phrase"),
    ],
)  # fmt: skip
def test_a_header_names_its_licence(text: str, path: str, spdx: str, evidence: str) -> None:
    found = header(text.encode(), path)
    assert found.spdx == spdx
    assert [one.evidence for one in found.mentions] == [evidence]


@pytest.mark.parametrize(
    "text",
    [CODE, "# A kernel for MITigation of bank conflicts.\n" + CODE, CODE + "# SPDX-License-Identifier: MIT\n", ""],
    ids=["no-header", "part-of-a-word", "after-the-code", "empty"],
)
def test_a_header_without_licence_names_none(text: str) -> None:
    assert header(text.encode()).spdx is None


def test_two_licences_are_both_named() -> None:
    text = commented("Copyright (c) 2025 Example Corp\n\n" + NOTICE) + "# Parts are under the MIT License.\n" + CODE
    assert header(text.encode()).spdx == "Apache-2.0 AND MIT"


def test_holders_changes_notices_and_licence_files_are_told_with_their_lines() -> None:
    text = (
        "# Copyright 2023 Demo Authors\n"
        "# Copyright (c) 2025, Example Corp. All rights reserved.\n"
        "# Modified by Example Corp: packed sequences\n"
        "# Attribution: first written for the Sample Collection\n"
        "# See the LICENSE-DEMO file in this repository\n" + CODE
    )
    found = header(text.encode())
    assert found.copyrights == (
        (1, "Copyright 2023 Demo Authors"),
        (2, "Copyright (c) 2025, Example Corp. All rights reserved."),
    )
    assert found.changes == ((3, "Modified by Example Corp: packed sequences"),)
    assert found.notices == ((4, "Attribution: first written for the Sample Collection"),)
    assert found.files == ((5, "LICENSE-DEMO"),)


def test_where_a_file_is_from_is_no_word_on_who_changed_it() -> None:
    assert header(b"# Adapted from demo/ops/a.py for the Demo model.\nx = 1\n").changes == ()


def test_bytes_that_are_no_utf_8_do_not_stop_the_reading() -> None:
    assert header("# Copyright 2020 Jos\xe9\n# SPDX-License-Identifier: MIT\n".encode("latin-1")).spdx == "MIT"


@pytest.mark.parametrize("text", ["import os\n\n# MIT License\n", "\n\nx = 1\n# MIT License\n"])
def test_a_comment_below_code_is_no_header(text: str) -> None:
    assert header(text.encode()) == HeaderFacts()
