"""The module that a parity test gets is the file that it names, whatever else goes by that name."""

import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.support.parity import Project, project
from vendor_tool.model import At, Recorded, Upstream
from vendor_tool.parity import kernel
from vendor_tool.parity.kernel import Kernel


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    """Leaves no module and no folder behind for other tests."""
    path = [*sys.path]
    yield
    sys.path[:] = path
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("plugin", "forked", "owner", "dotted"):
            del sys.modules[name]


def named(made: Project, path: str, to: str) -> Kernel:
    entry: Upstream = made.lock.upstreams["demo"]
    return Kernel(entry, Recorded(path, "0" * 40, to, "0" * 64, At(1, 1)))


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        target = root / name.replace("__", "/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.with_suffix(".py").write_text(text, encoding="utf-8")


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return project(tmp_path)


def test_upstreams_file_is_loaded_though_the_vendored_one_has_the_same_name(made: Project, tmp_path: Path) -> None:
    write(made.root, plugin__ops__near="WHOSE = 'ours'\n", plugin__ops__fast="from plugin.ops.near import WHOSE\n")
    write(
        tmp_path / "pristine/demo",
        plugin__ops__near="WHOSE = 'theirs'\n",
        plugin__ops__fast="from plugin.ops.near import WHOSE\n",
    )
    both = named(made, "plugin/ops/fast.py", "plugin/ops/fast.py")

    ours = kernel.load_vendored(made.lock, both)
    theirs = kernel.load_upstream(tmp_path / "pristine", both)

    assert (ours.WHOSE, theirs.WHOSE) == ("ours", "theirs")
    assert kernel.load_vendored(made.lock, both) is ours
    assert kernel.load_upstream(tmp_path / "pristine", both) is theirs
    assert sys.modules["plugin.ops.near"].WHOSE == "ours"


def test_two_upstreams_with_the_same_paths_are_two_modules(made: Project, tmp_path: Path) -> None:
    write(tmp_path / "one", forked__ops="WHOSE = 'one'\n")
    write(tmp_path / "two", forked__ops="WHOSE = 'two'\n", forked__more="from forked.ops import WHOSE\n")

    loaded = [
        kernel._import(tmp_path / root, PurePosixPath(path)).WHOSE
        for root, path in (("one", "forked/ops.py"), ("two", "forked/ops.py"), ("two", "forked/more.py"))
    ]

    assert loaded == ["one", "two", "two"]


def test_an_installed_copy_of_the_project_does_not_stand_in_for_the_file(
    made: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site", owner__init="", owner__fast="WHOSE = 'installed'\n")
    (tmp_path / "site/owner/init.py").rename(tmp_path / "site/owner/__init__.py")
    write(made.root, src__owner__fast="WHOSE = 'disk'\n")
    (made.root / "src/owner/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    __import__("owner.fast")

    module = kernel.load_vendored(made.lock, named(made, "ops/fast.py", "src/owner/fast.py"))

    assert module.WHOSE == "disk"
    assert sys.modules["owner.fast"].WHOSE == "installed"


def test_a_folder_with_a_dot_in_its_name_can_hold_kernels(made: Project) -> None:
    path = made.root / "third-party/v1.0/dotted"
    path.mkdir(parents=True)
    (path / "near.py").write_text("WHOSE = 'ours'\n", encoding="utf-8")
    (path / "fast.py").write_text("from .near import WHOSE\n", encoding="utf-8")

    module = kernel.load_vendored(made.lock, named(made, "ops/fast.py", "third-party/v1.0/dotted/fast.py"))

    assert module.WHOSE == "ours"
