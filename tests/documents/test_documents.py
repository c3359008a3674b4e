"""All documents together, as `sync` writes and `check` compares them."""

import subprocess
import sys
from dataclasses import replace

from tests.support import rights
from vendor_tool import documents

FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 1\n")
LOCK = rights.lock(replace(rights.upstream(FILE), docstring=True))


def test_a_second_rendering_from_the_first_one_s_files_is_the_same() -> None:
    once = documents.render(LOCK, {"REUSE.toml": b"version = 1\n", "NOTICE": b"Ours\n"})
    assert sorted(once) == ["NOTICE", "REUSE.toml", "vendored/PROVENANCE.md", "vendored/mid/__init__.py"]
    assert documents.render(LOCK, {path: blob.data for path, blob in once.items()}) == once


def test_everything_that_is_read_is_named_and_nothing_else_is_written() -> None:
    once = documents.render(LOCK, {})
    assert set(documents.inputs(LOCK)) >= {"NOTICE", "REUSE.toml", "vendored/mid/__init__.py"}
    assert set(once) == {"NOTICE", "vendored/PROVENANCE.md", "vendored/mid/__init__.py"}


def test_rendering_loads_none_of_the_heavy_packages() -> None:
    code = "import sys, vendor_tool.documents; print([n for n in ('git', 'libcst', 'requests', 'yaml', 'rich', 'licenseclassifier', 'license_expression') if n in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
