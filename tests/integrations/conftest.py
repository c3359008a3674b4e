from pathlib import Path

import pytest

from tests.integrations.runner import Runner
from tests.integrations.stand_ins import PYTHON, TOOL, install
from tests.integrations.upgrading import Scene, begin
from tests.support.project import MIT, entry, lock, project
from tests.support.upstream import repository


@pytest.fixture
def vendored(tmp_path: Path) -> Runner:
    """A project with one vendored file, synced, and the real program on the path."""
    upstream = repository(tmp_path / "up.git")
    upstream.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "def fwd(n):\n    return n\n"})
    consumer = project(
        tmp_path / "proj", lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]"), shims="")
    )
    consumer.done("sync")
    runner = Runner(consumer.root, tmp_path / "runner")
    install(runner.programs, "vendor-tool", TOOL)
    install(runner.programs, "python3", PYTHON)
    return runner


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return begin(tmp_path)
