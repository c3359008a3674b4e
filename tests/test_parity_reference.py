"""The reference of a parity test is that of its own folder, though another folder's goes by the same name."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.parity import REFERENCES, TESTS, project
from vendor_tool.errors import UsageError
from vendor_tool.parity import machine, reference, run


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """What is imported of the folders below is gone afterwards."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.startswith("far_")]:
        del sys.modules[name]


def folder(root: Path, value: int) -> Path:
    """A folder of tests with a reference, whose number stands in a module beside it."""
    root.mkdir()
    (root / "far_reference.py").write_text(
        "import far_number\nfrom far_parts import sign\n\ndef value():\n    return sign.SIGN * far_number.NUMBER\n"
    )
    (root / "far_number.py").write_text(f"NUMBER = {value}\n")
    (root / "far_parts").mkdir()
    (root / "far_parts" / "sign.py").write_text(f"SIGN = {-1 if value > 1 else 1}\n")
    return root


@pytest.mark.parametrize("turned", [False, True])
def test_each_folder_has_the_reference_that_stands_in_it(tmp_path: Path, turned: bool) -> None:
    folders = [folder(tmp_path / name, value) for name, value in (("a", 1), ("b", 2))]
    for one in folders[::-1] if turned else folders:
        reference.load(one, "far_reference")
    first, second = (reference.load(one, "far_reference") for one in folders)
    assert (first.value(), second.value()) == (1, -2)
    assert reference.load(folders[0], "far_reference") is first


def test_a_folder_below_has_a_reference_of_its_own(tmp_path: Path) -> None:
    above = folder(tmp_path / "a", 1)
    below = folder(above / "b", 2)
    assert [reference.load(one, "far_reference").value() for one in (below, above, below)] == [-2, 1, -2]


def test_what_other_code_imported_by_that_name_stays(tmp_path: Path) -> None:
    first, second = folder(tmp_path / "a", 1), folder(tmp_path / "b", 2)
    sys.path.insert(0, str(first))
    import far_reference  # type: ignore[import-not-found]

    assert reference.load(first, "far_reference") is far_reference
    assert reference.load(second, "far_reference").value() == -2
    assert sys.modules["far_reference"] is far_reference
    assert sys.modules["far_number"] is far_reference.far_number


def test_a_folder_without_such_a_file_takes_what_an_import_finds(tmp_path: Path) -> None:
    first = folder(tmp_path / "a", 1)
    (first / "below").mkdir()
    reference.load(first, "far_reference")
    assert reference.load(first / "below", "far_reference").value() == 1
    with pytest.raises(ModuleNotFoundError, match="far_nothing"):
        reference.load(first, "far_nothing")


def test_a_name_that_python_gives_to_another_file_is_refused_with_both(tmp_path: Path) -> None:
    (tmp_path / "time.py").write_text("")
    with pytest.raises(UsageError) as caught:
        reference.load(tmp_path, "time")
    assert caught.value.message == f"`time` is `{tmp_path / 'time.py'}` in the test's folder, and `built in` to Python"


@pytest.mark.skipif(not machine.versions(["torch"]), reason="needs torch (any build, no GPU)")
def test_a_kernel_is_held_to_the_reference_of_its_own_tests(tmp_path: Path) -> None:
    made = project(tmp_path)
    made.write(
        {
            "tests/parity/before/test_first.py": TESTS,
            "tests/parity/before/references.py": REFERENCES.replace("x + x", "x + x + 1"),
            "tests/parity/later/test_second.py": TESTS,
            "tests/parity/later/references.py": REFERENCES,
        }
    )
    done = run.run(made.lock, access=made.access, gpus=0)
    assert done.reason == "5 passed, 1 failed, 0 not run"
    assert [finding.message.split(":")[0] for finding in done.findings] == ["tests/parity/before/test_first.py"]
