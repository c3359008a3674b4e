"""Severities that a project sets."""

from dataclasses import replace

import pytest

from tests.support import rights
from vendor_tool.checks import apache, levels
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import At, Project, Severity

FOUND = [Finding("LIC-A2", "error", "one"), Finding("LIC-A3", "error", "two")]


def test_a_level_of_the_lock_replaces_the_rule_s_own() -> None:
    lock = rights.lock(project=Project("x", audit=(Severity("LIC-A2", "note", "read", At(4, 5)),)))
    assert list(levels.apply(FOUND, lock, apache.RULES)) == [replace(FOUND[0], level="note"), FOUND[1]]


def test_a_rule_can_be_switched_off() -> None:
    lock = rights.lock(project=Project("x", audit=(Severity("LIC-A2", "off", "read", At(4, 5)),)))
    assert list(levels.apply(FOUND, lock, apache.RULES)) == [FOUND[1]]


def test_a_rule_that_does_not_exist_is_refused() -> None:
    lock = rights.lock(project=Project("x", audit=(Severity("LIC-Z9", "off", "read", At(4, 5)),)))
    with pytest.raises(UsageError, match=r"vendor\.lock\.yaml:4:5: `project: audit:` names no rule: `LIC-Z9`"):
        list(levels.apply(FOUND, lock, apache.RULES))
