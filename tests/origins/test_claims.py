"""The shapes in which source files say where they are from, one test for each that was met, and what is none."""

from dataclasses import dataclass

import pytest

from vendor_tool.legal import Claim
from vendor_tool.origins import claims

SHA = "0123456789abcdef0123456789abcdef01234567"
KERN = "https://github.com/acme/kern"
FILE = f"{KERN}/blob/{SHA}/ops/fwd.py"


@dataclass(frozen=True)
class Shape:
    """One shape: the number that the survey gave it, the text, and each claim as `told` shows it."""

    number: int
    text: str
    claims: list[str]
    path: str = "a.py"


def told(claim: Claim) -> str:
    """Tier, place and state of a claim in one line; then whatever else it says."""
    parts = [claim.tier, claim.url or "-", claim.ref or "-", claim.path or "-", claim.state]
    parts += [f"L{claim.lines[0]}-{claim.lines[1]}"] if claim.lines else []
    parts += [f"{old}->{new}" for old, new in claim.renames]
    parts += list(claim.licenses)
    parts += [f"({one})" for one in claim.holders]
    parts += [f"hop {claim.hop}"] if claim.hop > 1 else []
    return " ".join(parts)


PINNED = f"A {KERN} {SHA} ops/fwd.py pinned"
SHAPES = [
    Shape(1, "# Copied from acme.ops.fwd.Layer.forward", ["B - - acme.ops.fwd.Layer.forward path"]),
    Shape(
        2,
        "# Copied from acme.ops.fwd.Layer with Layer->Block,old->new",
        ["B - - acme.ops.fwd.Layer path Layer->Block old->new"],
    ),
    Shape(3, f"# Adapted from {FILE}", [PINNED]),
    Shape(4, f"# Adapted from\n# {FILE}", [PINNED]),
    Shape(4, f"# Adapted from\n# {KERN}/blob/main/ops/fwd.py", [f"A {KERN} main ops/fwd.py branch"]),
    Shape(4, f"# Adapted from\n# {KERN}/blob/v0.6.1/ops/fwd.py", [f"A {KERN} v0.6.1 ops/fwd.py tag"]),
    Shape(5, f"# Adapted from: {FILE}", [PINNED]),
    Shape(5, f"# adapted from Kern: {FILE}", [PINNED]),
    Shape(6, f"# Adapted and optimized from\n# {FILE}", [PINNED]),
    Shape(6, f"# Copied and adapted from: {KERN}", [f"A {KERN} - - unpinned"]),
    Shape(7, f"# Adapt from {FILE}", [PINNED]),
    Shape(8, "# adapted from acme.ops.fwd", ["B - - acme.ops.fwd path"]),
    Shape(9, f"# Modified from {FILE}", [PINNED]),
    Shape(9, "# Modified from acme.ops.fwd", ["B - - acme.ops.fwd path"]),
    Shape(10, f"# taken from {FILE}", [PINNED]),
    Shape(10, f"# taken and modified from {FILE}", [PINNED]),
    Shape(10, f"# taken and edited from {FILE}", [PINNED]),
    Shape(11, f"# Copied from: {FILE}#L27", [f"{PINNED} L27-27"]),
    Shape(11, f"# Copied from {FILE}#L27-L31", [f"{PINNED} L27-31"]),
    Shape(12, f"# Borrowed from `{FILE}`", [PINNED]),
    Shape(13, "# Ported from kern/ops/fwd.py", ["B - - kern/ops/fwd.py path"]),
    Shape(13, f"# Port of {FILE}", [PINNED]),
    Shape(13, f"# Faithful port of the kern's forward\n# ({FILE}): the loop", [PINNED]),
    Shape(14, f"# Vendored verbatim from acme/kern PR #12 @ {SHA}", [f"B {KERN} {SHA} - pinned"]),
    Shape(14, f"# Vendored from acme/kern at {SHA}", [f"B {KERN} {SHA} - pinned"]),
    Shape(15, "# Forked from acme/kern-x @ 0123abc, `fwd` in ops", ["B https://github.com/acme/kern-x 0123abc - unpinned"]),
    Shape(16, f"# Adapted from Acme/Kern ({KERN}) at {SHA}, MIT", [f"A {KERN} {SHA} - pinned MIT"]),
    Shape(17, f"# Based on {FILE}", [PINNED]),
    Shape(17, f'"""Demo.\n\nThis file is based on {FILE}.\n"""', [PINNED]),
    Shape(17, "# This is based on https://arxiv.org/abs/2001.00001", ["R - - - unpinned"]),
    Shape(18, f"# Inspired by {FILE}", [f"R {KERN} {SHA} ops/fwd.py pinned"]),
    Shape(
        19,
        f"# A reimplementation of {FILE}\n# and {KERN}/blob/{SHA}/ops/bwd.py",
        [PINNED, f"A {KERN} {SHA} ops/bwd.py pinned"],
    ),
    Shape(
        20,
        f"# This file is taken from {FILE}, which is adapted from roots/kern-y",
        [PINNED, "B https://github.com/roots/kern-y - - unpinned hop 2"],
    ),
    Shape(
        21,
        f"# Taken from {FILE}\n# which was originally adapted from\n# https://github.com/roots/kern/blob/{SHA}/a.py",
        [PINNED, f"A https://github.com/roots/kern {SHA} a.py pinned hop 2"],
    ),
    Shape(
        22,
        f"# Portions of this code are from Acme Kern project\n# Copyright (c) 2025 Acme\n# MIT License - {KERN}/blob/main/LICENSE",
        [f"A {KERN} - - unpinned MIT (Copyright (c) 2025 Acme)"],
    ),
    Shape(23, "# Heavily modified from kern/ops/fwd.py", ["B - - kern/ops/fwd.py path"]),
    Shape(24, "# Adapted from kern_plugins/models/ops/fwd.py for Demo-V4.", ["B - - kern_plugins/models/ops/fwd.py path"]),
    Shape(25, "# Copy from fwd.py, adapted for Demo", ["B - - fwd.py path"]),
    Shape(
        26,
        f"# Includes Apache-2.0 code adapted from Acme/Kern. Upstream references:\n# - {KERN}\n# - {FILE}",
        [f"A {KERN} - - unpinned Apache-2.0", f"A {KERN} {SHA} ops/fwd.py pinned Apache-2.0"],
    ),
    Shape(
        27,
        "# Upstream attribution:\n"
        f"#   Project: Kern, {KERN}\n"
        f"#   Revision: {SHA}, demo branch\n"
        "#   License: Apache-2.0, copyright 2025 Acme\n"
        "#   Original source:\n"
        f"# {FILE}",
        [f"{PINNED} Apache-2.0 (copyright 2025 Acme)"],
    ),
    Shape(
        28,
        '"""Demo.\n\n'
        f"* Upstream revision: ``{SHA}``\n"
        f"* Upstream source tree:\n  {KERN}/tree/{SHA}/ops\n\n"
        "==========  ====================\n"
        "Local file  Upstream file (ops/)\n"
        "==========  ====================\n"
        "``b.py``    ``fwd.py``\n"
        "``c.py``    ``deep/bwd.py``\n"
        "==========  ====================\n"
        '"""',
        [f"A {KERN} {SHA} ops pinned", PINNED, f"A {KERN} {SHA} ops/deep/bwd.py pinned"],
    ),
    Shape(
        29,
        f'"""Demo.\n\nVendored files (from {KERN}/tree/main/ep):\n    b.py  <- fwd.py\n"""',
        [f"A {KERN} main ep branch", f"A {KERN} main ep/fwd.py branch"],
    ),
    Shape(30, f"# Reference: {FILE}", [f"R {KERN} {SHA} ops/fwd.py pinned"]),
    Shape(30, f"# Ref code from {FILE}", [f"R {KERN} {SHA} ops/fwd.py pinned"]),
    Shape(31, f"# see {FILE}", [f"R {KERN} {SHA} ops/fwd.py pinned"]),
    Shape(32, f"# Source: {FILE}", [PINNED]),
    Shape(32, f"# Original code: {FILE}", [PINNED]),
    Shape(32, f"# From {FILE}", [PINNED]),
    Shape(33, f"# Adapted from {FILE}  # noqa: E501", [PINNED]),
    Shape(33, f"# (adapted from {FILE}).", [PINNED]),
    Shape(33, f"# Adapted from {FILE},", [PINNED]),
    Shape(
        34,
        "# SPDX-SnippetBegin\n# SPDX-License-Identifier: MIT\n# SPDX-SnippetCopyrightText: 2024 Acme\nx = 1\n# SPDX-SnippetEnd",
        ["C - - - none MIT (2024 Acme)"],
    ),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=[f"{one.number}-{index}" for index, one in enumerate(SHAPES)])
def test_a_shape_is_read_with_its_target_and_state(shape: Shape) -> None:
    assert [told(one) for one in claims(shape.text.encode() + b"\nx = 1\n", shape.path)] == shape.claims


def test_every_shape_of_the_survey_has_a_test() -> None:
    assert {one.number for one in SHAPES} == set(range(1, 35))


@pytest.mark.parametrize(
    ("link", "claim"),
    [
        (f"https://raw.githubusercontent.com/acme/kern/{SHA}/ops/fwd.py", f"A {KERN} {SHA} ops/fwd.py pinned"),
        (f"{KERN}/tree/{SHA}/ops", f"A {KERN} {SHA} ops pinned"),
        (f"{KERN}/commit/{SHA}", f"A {KERN} {SHA} - pinned"),
        (f"{KERN}/pull/12", f"A {KERN} - - unpinned"),
        (f"{KERN}/blob/0123abc/ops/fwd.py", f"A {KERN} 0123abc ops/fwd.py unpinned"),
        (f"{KERN}.git", f"A {KERN} - - unpinned"),
        (f"https://gitlab.com/a/b/c/-/blob/{SHA}/d.py", f"A https://gitlab.com/a/b/c {SHA} d.py pinned"),
        (f"https://huggingface.co/acme/kern/blob/{SHA}/m.py", f"A https://huggingface.co/acme/kern {SHA} m.py pinned"),
        ("https://gist.github.com/acme/0123abcd", "A https://gist.github.com/acme/0123abcd - - unpinned"),
        ("https://huggingface.co/papers/2001.00001", "R - - - unpinned"),
        ("https://docs.example.org/kern", "R - - - unpinned"),
    ],
)
def test_links_into_forges_are_taken_apart(link: str, claim: str) -> None:
    assert [told(one) for one in claims(f"# Adapted from {link}\n".encode(), "a.py")] == [claim]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cu", f"// Adapted from {FILE}\nint x;\n"),
        ("a.cpp", f"/* Adapted from {FILE} */\n"),
        ("a.h", f"/*\n * Adapted from\n * {FILE}\n */\n"),
        ("a.sh", f"#!/bin/sh\n# Adapted from {FILE}\n"),
        ("a.yaml", f"key: value  # Adapted from {FILE}\n"),
        ("a.py", f"def f():\n    '''Adapted from {FILE}.'''\n"),
        ("a.py", f"x = '# no comment'  # Adapted from {FILE}\n"),
    ],
)
def test_comments_of_other_kinds_are_read(path: str, text: str) -> None:
    assert [told(one) for one in claims(text.encode(), path)] == [PINNED]


@pytest.mark.parametrize(
    "text",
    [
        f'x = "Adapted from {FILE}"\n',
        "# you may obtain a copy of the License at\n#     http://www.apache.org/licenses/LICENSE-2.0\n",
        "# nor may products derived from this software be endorsed\n",
        "# to use, copy, modify, merge, publish\n",
        "# the value is taken from\n\nx = 1\n",
        "x = based_on(1)\n",
        f"# holds a copy of the state\n# for the layer, see also {FILE}\n".replace("see also", "and"),
        "",
    ],
    ids=["in-a-string", "apache", "bsd", "mit", "no-target", "code", "a-copy-of", "empty"],
)
def test_words_that_claim_nothing_are_left_alone(text: str) -> None:
    assert claims(text.encode(), "a.py") == []


def test_prose_is_told_in_the_tier_that_never_fails_anything() -> None:
    assert [told(one) for one in claims(b"# Adapted from the work of the Demo group\n", "a.py")] == ["C - - - none"]


def test_a_variable_is_not_taken_for_a_module() -> None:
    assert claims(b"# derived from model.config.hidden_size\n", "a.py") == []


def test_prose_behind_a_loose_verb_counts_where_rights_stand_near() -> None:
    text = b"# derived from the Demo encoder\n# Copyright (c) 2024 Demo\n"
    assert [told(one) for one in claims(text, "a.py")] == ["C - - - none (Copyright (c) 2024 Demo)"]
    assert claims(b"# derived from the batch\n", "a.py") == []


@pytest.mark.parametrize("words", ["a copy of", "based on", "portions of this file are from", "Original source:"])
def test_a_link_without_its_scheme_is_a_link(words: str) -> None:
    found = claims(f"import os\n\n# {words} github.com/acme/kern\n".encode(), "a.py")
    assert [told(one) for one in found] == [f"A {KERN} - - unpinned"]


def test_the_verb_s_line_is_told() -> None:
    assert [one.line for one in claims(f"x = 1\n\n# Adapted from\n# {FILE}\n".encode(), "a.py")] == [3]


def test_files_that_hold_no_comments_we_know_are_passed_over() -> None:
    assert claims(f"# Adapted from {FILE}\n".encode(), "a.bin") == []
    assert claims(f"# Adapted from {FILE}\n".encode(), "Makefile") == []


@pytest.mark.parametrize(
    "text",
    [
        "# adapted from " + "a/" * 200_000,
        "# copied" + ", " * 200_000 + "from x",
        "# " + "->" * 200_000 + " copied from x with a->b",
        '"""' + '\\"' * 100_000 + "adapted from ",
        "# adapted from http://" + "a" * 500_000,
        "# " + "=" * 200_000 + " local file  upstream file <- a.b",
    ],
    ids=["path", "commas", "arrows", "quotes", "link", "table"],
)
def test_a_line_without_end_does_not_stop_the_reading(text: str) -> None:
    assert len(claims(text.encode(), "a.py")) <= 1
