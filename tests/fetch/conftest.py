"""A server with one repository behind it, and an empty cache."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.server import Server, serve
from tests.support.upstream import Repository, repository
from vendor_tool.model import Access


@pytest.fixture
def access(tmp_path: Path) -> Access:
    """An empty cache."""
    return Access(tmp_path / "cache")


@pytest.fixture
def kernels(tmp_path: Path) -> Repository:
    """An empty repository, which `server` serves as `/kernels.git`."""
    return repository(tmp_path / "served" / "kernels.git")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Serves the folder that `kernels` lies in."""
    with serve(tmp_path / "served") as running:
        yield running
