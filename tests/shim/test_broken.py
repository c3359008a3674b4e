"""A runtime that is installed and cannot be used: one clear ImportError, and never the end of the process."""

import pytest

from tests.shim.projects import Project

KERNEL = "import tilelang\n\n@tilelang.jit\ndef step(n): return n\n"


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        ("raise OSError('libcuda.so.1: cannot open shared object file')", "OSError: libcuda.so.1: cannot open"),
        ("raise ValueError('already has a registered class')", "ValueError: already has a registered class"),
        ("raise AttributeError('not writable')", "AttributeError: not writable"),
        ("import torch_that_is_not_there", "ModuleNotFoundError: No module named 'torch_that_is_not_there'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("class Panic(BaseException): ...\nraise Panic('at the disco')", "Panic: at the disco"),
        ("from os import gone", "ImportError: cannot import name 'gone'"),
    ],
)
def test_a_broken_runtime_is_one_import_error_with_cause_and_mend(project: Project, raised: str, shown: str) -> None:
    project.runtime({"tilelang/__init__.py": raised + "\n"})
    project.distribution("tilelang", "0.1.13")
    project.distribution("apache-tvm-ffi", "0.1.15.post2")
    project.vendor("k", KERNEL)
    said = project.run(
        """
        import vendored.k as k
        for _ in range(2):
            try:
                k.step(1)
            except ImportError as error:
                print(type(error).__name__, type(error.__cause__).__name__)
                print(error)
        """
    )
    first, text, *again = said.splitlines()
    assert [first, text] == again
    assert first.startswith("ImportError ")
    assert text.startswith(f"`tilelang` is installed and cannot be loaded ({shown}")
    assert text.endswith(
        "with tilelang 0.1.13, apache-tvm-ffi 0.1.15.post2: "
        "run `pip install 'tilelang==0.1.11' 'apache-tvm-ffi==0.1.11'`"
    )


ABORTING = [("0.1.10", "0.1.12"), ("0.1.11", "0.1.12"), ("0.1.11", "0.1.15.post2"), ("0.1.12", "0.1.13.post3")]


@pytest.mark.parametrize(("tilelang", "ffi"), ABORTING)
def test_a_pair_that_ends_the_process_is_refused_by_its_metadata(project: Project, tilelang: str, ffi: str) -> None:
    project.runtime({"tilelang/__init__.py": "import os\nos.abort()\n"})
    project.distribution("tilelang", tilelang)
    project.distribution("apache-tvm-ffi", ffi)
    project.vendor("k", KERNEL + "try:\n    import tilelang\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n")
    done = project.start("import vendored.k as k\nprint(k.HAVE)\nk.step(1)")
    assert done.returncode == 1
    assert done.stdout == "False\n"
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: `tilelang` is not loaded: tilelang {tilelang} with apache-tvm-ffi {ffi} is known to be bad: "
        "importing tilelang aborts the process: a type attribute is registered twice (nothing can catch it) "
        "(https://github.com/tile-ai/tilelang/issues/2367): "
        "run `pip install 'tilelang==0.1.11' 'apache-tvm-ffi==0.1.11'`"
    )


@pytest.mark.parametrize(("tilelang", "ffi"), [("0.1.11", "0.1.11"), ("0.1.12", "0.1.11"), ("0.1.13", "0.1.12")])
def test_a_pair_that_works_is_loaded(project: Project, tilelang: str, ffi: str) -> None:
    project.runtime()
    project.distribution("tilelang", tilelang)
    project.distribution("apache-tvm-ffi", ffi)
    project.vendor("k", KERNEL)
    assert project.run("import vendored.k as k; print(k.step(1))") == "1\n"
