"""Facts read out of pyproject.toml, and out of wheels and sdists that a build tool made."""

import subprocess
import sys
from pathlib import Path

import pytest

from vendor_tool.checks.packages import artefact, pyproject
from vendor_tool.checks.subject import ProjectFacts, Requirement
from vendor_tool.errors import UsageError

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "ours"
version = "1"
license = "Apache-2.0 AND MIT"
license-files = ["LICENSE", "third/*/LICENSE"]
classifiers = ["Topic :: Utilities"]
dependencies = ["numpy>=1"]

[project.optional-dependencies]
gpu = ["tilelang==0.1.11"]
"""


def test_a_project_table_is_read_with_its_lines() -> None:
    assert pyproject(PYPROJECT.encode()) == ProjectFacts(
        license="Apache-2.0 AND MIT",
        license_line=8,
        license_files=("LICENSE", "third/*/LICENSE"),
        classifiers=("Topic :: Utilities",),
        requirements=(Requirement("numpy>=1", 11), Requirement("tilelang==0.1.11", 14, "gpu")),
    )


def test_the_old_license_table_is_no_expression() -> None:
    found = pyproject(b'[project]\nname = "x"\nlicense = {text = "MIT"}\n')
    assert found is not None
    assert found.license is None


def test_a_file_without_a_project_has_no_facts() -> None:
    assert pyproject(b"[tool.x]\n") is None


def test_a_file_that_is_no_toml_is_refused() -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml: not TOML"):
        pyproject(b"[project\n")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ours")
    files = {
        "pyproject.toml": PYPROJECT,
        "LICENSE": "Ours.\n",
        "third/mid/LICENSE": "Theirs.\n",
        "ours/__init__.py": "",
        "ours/license.py": "x = 1\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    code = "import hatchling.build as b; b.build_wheel('dist'); b.build_sdist('dist')"
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True)
    return root / "dist"


def test_a_wheel_s_metadata_and_texts_are_read(built: Path) -> None:
    (path,) = built.glob("*.whl")
    found = artefact(path)
    assert (found.kind, found.license, found.classifiers) == ("wheel", "Apache-2.0 AND MIT", ("Topic :: Utilities",))
    assert found.license_files == ("LICENSE", "third/mid/LICENSE")
    assert found.texts == {
        "ours-1.dist-info/licenses/LICENSE": b"Ours.\n",
        "ours-1.dist-info/licenses/third/mid/LICENSE": b"Theirs.\n",
    }
    assert [(one.text.partition(";")[0].strip(), one.extra) for one in found.requirements] == [
        ("numpy>=1", None),
        ("tilelang==0.1.11", "gpu"),
    ]
    assert "ours/license.py" in found.files


def test_an_sdist_s_metadata_and_texts_are_read(built: Path) -> None:
    found = artefact(built / "ours-1.tar.gz")
    assert (found.kind, found.license) == ("sdist", "Apache-2.0 AND MIT")
    assert found.texts == {"ours-1/LICENSE": b"Ours.\n", "ours-1/third/mid/LICENSE": b"Theirs.\n"}


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"hello"], ids=["empty", "empty-zip", "text"])
def test_what_is_neither_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"`x\.whl`"):
        artefact(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"`none\.whl`"):
        artefact(tmp_path / "none.whl")
