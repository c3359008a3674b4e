"""What the tool itself writes gives no finding."""

import pytest

from tests.checks.sound import found, subject
from vendor_tool.checks import apache, copyleft, distribution, licences, provenance, requirements


@pytest.mark.parametrize("check", [apache, licences, copyleft, provenance, distribution, requirements])
def test_a_sound_project_has_no_finding(check: object) -> None:
    assert found(check, subject()) == []  # type: ignore[arg-type]  # a module, as parametrize gives it
