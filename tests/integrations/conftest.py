from pathlib import Path

import pytest

from tests.integrations.runner import TOP, Runner
from tests.integrations.stand_ins import install
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
    program = f"import sys\nsys.path.insert(0, {str(TOP)!r})\nfrom vendor_tool.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    install(runner.programs, "vendor-tool", program)
    return runner
