"""Parity tests import their references and inputs as modules of their own folder, and run as their user's own programs do."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def environment() -> None:
    """Leaves the home folder alone, unlike other tests: the runtime keeps its compiled kernels there."""
