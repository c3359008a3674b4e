"""A project that vendored one small kernel, as a sync leaves it, with a real upstream behind it."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tests.support.upstream import repository
from vendor_tool import lockfile
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, At, Lock, Recorded, RecordedImport, Resolved

UPSTREAM_FILE = "plugins/ops/double.py"
VENDORED_FILE = "vendored/demo/double.py"

KERNEL = '''"""Doubles a tensor."""

import torch


def double(x):
    out = torch.empty_like(x)
    out.copy_(x * 2)
    return out
'''

TESTS = """import pytest

pytestmark = pytest.mark.kernel("demo", "double.py", reference="references:double")


def test_computes_the_definition(vendored, reference, tolerance):
    import torch
    from vendor_tool.parity.compare import poisoned

    x = torch.randn(64)
    with poisoned():
        y = vendored.double(x)
    tolerance.close("y", y, reference(x))


def test_is_upstreams_kernel(vendored, upstream, tolerance):
    import torch

    x = torch.randn(64)
    tolerance.identical("y", vendored.double(x), upstream.double(x))
"""

REFERENCES = """def double(x):
    return x + x
"""


@dataclass(frozen=True)
class Project:
    """The folder of a consumer, and what its parity runs said while they ran."""

    root: Path
    cache: Path
    said: list[str] = field(default_factory=list)

    @property
    def lock(self) -> Lock:
        """Its lock, read anew."""
        return lockfile.load(self.root / "vendor.lock.yaml")

    @property
    def access(self) -> Access:
        """Its way to the upstream, with a cache of its own."""
        return Access(self.cache, progress=self.said.append)

    def write(self, files: dict[str, str]) -> None:
        """Put files into the project."""
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def project(
    folder: Path,
    *,
    kernel: str = KERNEL,
    vendored: str | None = None,
    tests: str = TESTS,
    references: str = REFERENCES,
    extra: str = "",
    head: str = "",
) -> Project:
    """A project whose upstream `demo` publishes `kernel` and which vendored it, edited where `vendored` is given.

    `extra` is more lines of its entry in the lock, indented by four spaces; `head` more of the lock's top level.
    """
    source = repository(folder / "up.git")
    revision = source.commit({UPSTREAM_FILE: kernel})
    final = (vendored or kernel).encode()
    made = Project(folder / "project", folder / "cache")
    made.write(
        {
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-p', 'no:cacheprovider']\n",
            VENDORED_FILE: final.decode(),
            "tests/parity/test_double.py": tests,
            "tests/parity/references.py": references,
            "vendor.lock.yaml": f"version: 1\nproject: {{name: consumer}}\n{head}upstreams:\n  demo:\n"
            f"    url: {source.url}\n    revision: {revision}\n    from: plugins/ops\n    to: vendored/demo\n"
            f"    files: [double.py]\n{extra}",
        }
    )
    at = At(1, 1)
    resolved = Resolved(
        at=at,
        revision=revision,
        date="2023-11-14T22:13:20+00:00",
        intent=made.lock.upstreams["demo"].intent,
        seal="",
        tools={"libcst": "1.8.6"},
        files=(
            Recorded(UPSTREAM_FILE, source.blob(revision, UPSTREAM_FILE), VENDORED_FILE, sha256(final).hexdigest(), at),
        ),
    )
    path = made.root / "vendor.lock.yaml"
    path.write_text(edit.record_resolved(path.read_text(), "demo", resolved))
    return made


PACKAGE = {
    "src/twice/__init__.py": "",
    "src/twice/factor.py": "FACTOR = 2\n",
    "src/twice/ops/__init__.py": "from twice.ops.double import double\n",
    "src/twice/ops/double.py": "from twice.factor import FACTOR\n\n\ndef double(x):\n    return x * FACTOR\n",
}
"""An upstream that is imported at run time, with a package below `src`."""


def importing_project(folder: Path, *, tests: str, installed: dict[str, str]) -> Project:
    """A project that imports `twice.ops.double` at run time, and under `site` the package as it is installed.

    `installed` holds what a release has otherwise than the pinned source, by path below `src`.
    """
    source = repository(folder / "up.git")
    revision = source.commit(PACKAGE)
    made = Project(folder / "project", folder / "cache")
    release = {path.removeprefix("src/"): text for path, text in PACKAGE.items()} | installed
    made.write(
        {
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-p', 'no:cacheprovider']\n",
            **{f"site/{path}": text for path, text in release.items()},
            "tests/parity/test_double.py": tests,
            "tests/parity/references.py": REFERENCES,
            "vendor.lock.yaml": f"version: 1\nproject: {{name: consumer}}\nupstreams:\n  demo:\n"
            f"    url: {source.url}\n    revision: {revision}\n    imports: [twice.ops.double]\n",
        }
    )
    path = "src/twice/ops/double.py"
    resolved = Resolved(
        at=At(1, 1),
        revision=revision,
        date="2023-11-14T22:13:20+00:00",
        intent=made.lock.upstreams["demo"].intent,
        seal="",
        imports=(RecordedImport("twice.ops.double", path, source.blob(revision, path), 1),),
    )
    lock = made.root / "vendor.lock.yaml"
    lock.write_text(edit.record_resolved(lock.read_text(), "demo", resolved))
    return made
