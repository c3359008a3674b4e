"""The packages are made here, with the layouts of a real one: a name re-exported from a file below, then moved away."""

import json
import zipfile
from pathlib import Path

import pytest

from vendor_tool.errors import UpstreamError, UsageError
from vendor_tool.outdated.distribution import installed, wheel
from vendor_tool.transform.symbols import find

FILES = {
    "tile_demo/__init__.py": "",
    "tile_demo/ops/__init__.py": "from .norm import normalize as normalize\n",
    "tile_demo/ops/norm.py": "raise SystemExit('imported')\n\ndef normalize(x):\n    return x\n",
}
METADATA = "Metadata-Version: 2.1\nName: tile-demo\nVersion: {version}\n"
NAME = "tile_demo.ops.normalize"


def package(version: str, files: dict[str, str]) -> dict[str, str]:
    info = f"tile_demo-{version}.dist-info"
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/METADATA", f"{info}/RECORD"))
    return {**files, f"{info}/METADATA": METADATA.format(version=version), f"{info}/RECORD": record}


def build(folder: Path, version: str, files: dict[str, str]) -> Path:
    path = folder / f"tile_demo-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in package(version, files).items():
            archive.writestr(name, text)
    return path


def test_name_is_found_in_a_wheel_without_running_it(tmp_path: Path) -> None:
    found = wheel(build(tmp_path, "1.0.0", FILES))
    assert (found.name, found.version) == ("tile-demo", "1.0.0")
    definition = find(NAME, found.listing, found.read)
    assert (definition.path, definition.line) == ("tile_demo/ops/norm.py", 3)


def test_name_that_a_later_wheel_no_longer_has_is_missed(tmp_path: Path) -> None:
    found = wheel(build(tmp_path, "2.1.0", {"tile_demo/__init__.py": "", "tile_demo/norm.py": "x = 1\n"}))
    with pytest.raises(UpstreamError, match=r"`tile_demo\.ops\.normalize` is not there"):
        find(NAME, found.listing, found.read)


def test_name_is_found_in_an_installed_package_without_importing_it(tmp_path: Path) -> None:
    for name, text in package("1.0.0", FILES).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = installed("tile_demo", [str(tmp_path)])
    assert found is not None
    assert (found.name, found.version) == ("tile-demo", "1.0.0")
    assert find(NAME, found.listing, found.read).path == "tile_demo/ops/norm.py"
    assert installed("absent", [str(tmp_path)]) is None


@pytest.mark.parametrize("below", ["", "src/"])
def test_name_is_found_in_a_project_that_is_installed_in_place(tmp_path: Path, below: str) -> None:
    for name, text in FILES.items():
        path = tmp_path / "a project" / below / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = tmp_path / "site" / "tile_demo-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA.format(version="1.0.0"))
    (info / "RECORD").write_text("__editable__.tile_demo-1.0.0.pth,,\n")
    (info / "direct_url.json").write_text(
        json.dumps({"url": (tmp_path / "a project").as_uri(), "dir_info": {"editable": True}})
    )
    found = installed("tile_demo", [str(tmp_path / "site")])
    assert found is not None
    assert (found.name, found.version) == ("tile-demo", "1.0.0")
    assert find(NAME, found.listing, found.read).path == "tile_demo/ops/norm.py"
    assert installed("absent", [str(tmp_path / "site")]) is None


def test_this_interpreters_packages_are_searched() -> None:
    found = installed("pytest")
    assert found is not None
    assert (found.name, found.version) == ("pytest", pytest.__version__)


def test_file_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tile_demo-1.0.0-py3-none-any.whl"
    path.write_text("<html>not found</html>")
    with pytest.raises(UsageError) as caught:
        wheel(path)
    assert caught.value.message == "`tile_demo-1.0.0-py3-none-any.whl` is not a wheel"
    assert caught.value.hint == "download it again, as with `pip download --no-deps tile_demo`"
