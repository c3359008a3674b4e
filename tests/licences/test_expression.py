"""SPDX expressions against an allow-list."""

import pytest

from vendor_tool.errors import UsageError
from vendor_tool.licences.expression import canonical, problem

ALLOW = ("Apache-2.0", "MIT")


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("mit", "MIT"),
        ("GPL-3.0", "GPL-3.0-only"),
        ("mit or apache-2.0", "MIT OR Apache-2.0"),
        ("MIT AND (BSD-3-Clause OR ISC)", "MIT AND (BSD-3-Clause OR ISC)"),
        ("LicenseRef-Demo", "LicenseRef-Demo"),
        ("GPL-2.0-only WITH Classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ],
)
def test_an_expression_has_one_spelling(text: str, spelled: str) -> None:
    assert canonical(text) == spelled


@pytest.mark.parametrize("text", ["Apache-2.0 OR", "", "MIT AND AND ISC", "Demo-1.0", "(MIT"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        canonical(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("MIT", None),
        ("MIT OR GPL-3.0-only", None),
        ("MIT AND Apache-2.0", None),
        ("GPL-3.0-only", "`GPL-3.0-only` not allowed"),
        ("MIT AND GPL-3.0-only", "`GPL-3.0-only` not allowed"),
        ("(MIT AND ISC) OR GPL-3.0-only", "`ISC` not allowed"),
        ("LicenseRef-Demo", "`LicenseRef-Demo` not allowed"),
        ("Demo-1.0", "`Demo-1.0` is no SPDX licence identifier"),
    ],
)
def test_a_choice_needs_one_side_and_a_conjunction_all(text: str, why: str | None) -> None:
    assert problem(text, ALLOW) == why


def test_without_a_list_every_real_expression_is_allowed() -> None:
    assert problem("GPL-3.0-only", ()) is None
    assert problem("Demo-1.0", ()) is not None


def test_an_exception_belongs_to_its_licence() -> None:
    pair = "GPL-2.0-only WITH Classpath-exception-2.0"
    assert problem(pair, (pair,)) is None
