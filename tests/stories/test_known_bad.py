"""`known-bad:` notes in a lock, held against what is installed and what `requires:` allows, odd versions included."""

from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": "def fwd(n):\n    return n\n"})
    return made


def noted(tmp_path: Path, upstream: Repository, note: str, *, requires: str = ">1") -> Project:
    """A project with one note, on the distribution `odd-kernels`."""
    one = entry(
        upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]", more=f"requires: {{odd-kernels: '{requires}'}}"
    )
    text = f"known-bad:\n  - {{versions: {{odd-kernels: '{note}'}}, reason: NaN}}\n"
    made = project(tmp_path / "proj", lock(one, shims="") + text)
    made.done("sync")
    return made


def installed(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the distribution on the path, in this version."""
    metadata = folder / "odd_kernels-1.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: odd-kernels\n{version}")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.parametrize("note", ["===foo", "===1.0", "==1.*", ">=1"])
def test_every_range_that_pip_reads_is_read(tmp_path: Path, upstream: Repository, note: str) -> None:
    consumer = noted(tmp_path, upstream, note)
    assert ("[known-bad-allowed]" in consumer.done("outdated").out) is (not note.startswith("==="))


def test_a_range_that_pip_cannot_read_is_a_usage_error(tmp_path: Path, upstream: Repository) -> None:
    consumer = noted(tmp_path, upstream, "foo")
    said = consumer.refused(ExitCode.USAGE, "outdated")
    assert "`foo` is no range of versions, for `odd-kernels` in `known-bad:`\n" in said
    assert said.startswith("error: line ")


def test_so_is_one_under_requires(tmp_path: Path, upstream: Repository) -> None:
    consumer = noted(tmp_path, upstream, ">=1", requires="newest")
    said = consumer.refused(ExitCode.USAGE, "outdated")
    assert "`newest` is no range of versions, for `odd-kernels` in `requires:` of `demo`\n" in said


@pytest.mark.parametrize("version", ["Version: 1.0-ubuntu~x\n", ""])
def test_of_an_installed_version_that_cannot_be_ordered_nothing_is_claimed(
    tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    consumer = noted(tmp_path, upstream, ">=1,<2", requires=">2")
    installed(tmp_path / "site", version, monkeypatch)
    out = consumer.done("outdated", "--exit-code").out
    assert "[known-bad-unclear]" in out
    assert "installed here, is no version by PEP 440" in out


def test_an_installed_version_that_is_bad_is_found(
    tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = noted(tmp_path, upstream, ">=1,<2", requires=">2")
    installed(tmp_path / "site", "Version: 1.5\n", monkeypatch)
    assert "`odd-kernels` 1.5 is known to be bad: NaN [known-bad-version]" in consumer.run("outdated").out
