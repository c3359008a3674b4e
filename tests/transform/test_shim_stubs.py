import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.checker import revealed
from vendor_tool.model import At, BuiltFile, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim, shim_standin, shim_stubs

SPEC = ShimSpec("runtime", "vendored/_runtime.py", At(1, 1), names={"L": "runtime.language"})
LANGUAGE = "def bits(kind: str) -> int: raise NotImplementedError\n"
RUNTIME = {
    "runtime/__init__.py": "class Kernel:\n    calls: int = 0\n\ndef jit(function: object) -> Kernel: raise NotImplementedError\n",
    "runtime/language.py": LANGUAGE,
    "runtime/tuning/__init__.py": "from .times import tune\n",
    "runtime/tuning/times.py": "def tune(times: int) -> str: raise NotImplementedError\n",
    "runtime/tuning/deep.py": "class Tuner:\n    best: float = 0.0\n",
    "runtime/py.typed": "",
}
KERNELS = """
import dataclasses
from typing import Any
import runtime
import runtime.language as L
import runtime.tuning.deep
import runtime.tuning.times as clock
from runtime import jit, Kernel
from runtime.tuning import tune
from runtime.tuning.deep import Tuner as Best

try:
    from runtime.tuning import deep
    from runtime import Kernel as Maybe
except ImportError:
    raise

@dataclasses.dataclass
class Mine(Best):
    n: int = 1

TABLE = {L.bits: 1}
def look(key: Any) -> object: return TABLE.get(key)
if runtime.tuning:
    CHOSEN = [tune]
else:
    CHOSEN = []
TOP = float(L.bits("x"))

reveal_type(runtime.Kernel().calls)
reveal_type(L.bits)
reveal_type(jit)
reveal_type(tune)
reveal_type(clock.tune)
reveal_type(Best().best)
reveal_type(deep.Tuner().best)
reveal_type(Maybe().calls)
reveal_type(runtime.tuning.deep.Tuner)
reveal_type(Mine(n=2).best)
reveal_type(TOP)
"""


def built(text: str | bytes, to: str = "vendored/k.py") -> BuiltFile:
    data = text.encode() if isinstance(text, str) else text
    return BuiltFile("k.py", to, "", False, data, data, data)


def names(text: str | bytes, spec: ShimSpec = SPEC, to: str = "vendored/k.py") -> dict[str, tuple[str, ...]]:
    return shim_stubs.imported([built(text, to)], {spec.module: spec})


def rewritten(text: str) -> bytes:
    context = Context("up", {}, frozenset(), {"runtime": SPEC})
    return shim.apply(Source("k.py", "vendored/k.py", "", text.encode()), Shim(("runtime",)), context).data


def write(root: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def test_a_type_checker_sees_the_real_names_wherever_a_file_imports_them_from(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    data = rewritten(KERNELS)
    vendored = {"vendored/__init__.py": b"", "vendored/k.py": data, SPEC.to: shim_standin.render(SPEC)}
    site = {f"site/{path}": text.encode() for path, text in RUNTIME.items()}
    write(tmp_path, vendored | site | shim_stubs.render(SPEC, names(data)[SPEC.to]))
    shown, status, said = revealed(tmp_path)
    assert shown == [
        '"int"',
        '"def (kind: str) -> int"',
        '"def (function: object) -> runtime.Kernel"',
        '"def (times: int) -> str"',
        '"def (times: int) -> str"',
        '"float"',
        '"float"',
        '"int"',
        '"def () -> runtime.tuning.deep.Tuner"',
        '"float"',
        '"float"',
    ], said
    assert status == 0


@pytest.mark.parametrize("zipped", [False, True])
def test_python_takes_the_stand_in_and_not_the_folder_beside_it(tmp_path: Path, zipped: bool) -> None:
    kernel = rewritten("from runtime.tuning import tune\nfrom runtime.tuning.deep import Tuner\n")
    root = tmp_path / "project"
    files = {"vendored/k.py": kernel, "vendored/__init__.py": b"", SPEC.to: shim_standin.render(SPEC)}
    write(root, files | shim_stubs.render(SPEC, names(kernel)[SPEC.to]))
    if zipped:
        with zipfile.ZipFile(tmp_path / "project.whl", "w") as wheel:
            for path in sorted(root.rglob("*")):
                wheel.write(path, path.relative_to(root))
        root = tmp_path / "project.whl"
    code = (
        "import vendored.k as k, vendored._runtime as s; print(s.__file__)\n"
        "try: k.tune(1)\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    where, said = done.stdout.split("\n", 1)
    assert where == str(root / SPEC.to)
    assert said == "`runtime` is needed to run this and is not installed: run `pip install runtime`\n"


NOTHING_BELOW = {
    "the module": "import runtime\nimport runtime as r\n",
    "names of it": "from runtime import jit, Kernel as K\nfrom runtime import language\n",
    "a submodule by another name": "import runtime.language as lang\nimport runtime.language as L\n",
    "names that the lock gives": "from runtime import language as L\n",
    "other modules": "import os.path\nfrom other.runtime.language import x\nfrom runtimes.a import b\n",
    "only for checkers": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from runtime.tuning import tune\n",
}


@pytest.mark.parametrize("text", NOTHING_BELOW.values(), ids=NOTHING_BELOW.keys())
def test_what_the_stand_in_itself_can_tell_needs_none(text: str) -> None:
    assert names(rewritten(text)) == {}


BELOW = {
    "from runtime.tuning import tune as t, other": ["tuning.other", "tuning.tune"],
    "import runtime.tuning.deep as d": ["tuning.deep"],
    "import runtime.tuning.deep": ["tuning.deep.runtime"],
    "def f():\n    from runtime.tuning import tune": ["tuning.tune"],
    "from runtime.tuning import *": ["tuning.*"],
    "try:\n    import runtime\nexcept ImportError:\n    runtime = None": ["_if_installed.runtime"],
    "import runtime\nTOP = float(runtime.top())": ["_builtins.float"],
}


@pytest.mark.parametrize("text", BELOW)
def test_what_goes_through_a_submodule_is_found_in_the_finished_file(text: str) -> None:
    assert names(rewritten(f"{text}\n")) == {SPEC.to: tuple(BELOW[text])}


def test_stand_ins_are_known_by_where_they_are_and_by_the_name_that_the_lock_gives() -> None:
    spec = ShimSpec("runtime", "src/app/_runtime.py", At(1, 1), import_="app._runtime")
    assert names("from app._runtime.a import b\n", spec, "src/app/k.py") == {spec.to: ("a.b",)}
    assert names("from .._runtime.a import b\n", spec, "src/app/ops/k.py") == {spec.to: ("a.b",)}
    assert names("from ._runtime.a import b\n", spec, "src/app/ops/k.py") == {}
    assert names("from .....a._runtime.b import c\n", spec, "src/app/k.py") == {}
    assert names("from ._runtime.a import b\n", spec, "src/app/notes.txt") == {}
    assert names("from ._runtime.a import (\n", spec, "src/app/k.py") == {}


def test_files_stand_for_the_submodules_on_the_way_and_for_no_other() -> None:
    files = shim_stubs.render(SPEC, ["tuning.deep.Tuner", "_if_installed.runtime"])
    assert list(files) == list(shim_stubs.paths(SPEC.to, ["tuning.deep.Tuner", "_if_installed.runtime"]))
    assert list(files) == [
        "vendored/_runtime/__init__.pyi",
        "vendored/_runtime/_if_installed/__init__.pyi",
        "vendored/_runtime/tuning/__init__.pyi",
        "vendored/_runtime/tuning/deep/__init__.pyi",
    ]
    assert shim_stubs.render(SPEC, []) == {}


def test_a_submodule_shows_what_it_has_and_every_name_that_is_imported_from_it() -> None:
    spec = ShimSpec("tilelang", "vendored/_tilelang.py", At(1, 1))
    files = shim_stubs.render(spec, ["layout.make", "layout.*", "tvm.ir.tvm", "tvm.ir.Expr"])
    head = (
        "# Generated by vendor-tool from vendor.lock.yaml; edits are lost at the next `vendor-tool sync`.\n"
        "# SPDX-License-Identifier: Apache-2.0\n# mypy: ignore-errors\n# ruff: noqa\n# fmt: off\n"
        "from typing import Any\n\n"
    )
    rest = "\n\ndef __getattr__(name: str) -> Any: ...\n"
    assert files["vendored/_tilelang/layout/__init__.pyi"].decode() == (
        f"{head}from tilelang.layout import *\nfrom tilelang.layout import make as make{rest}"
    )
    assert files["vendored/_tilelang/tvm/ir/__init__.pyi"].decode() == (
        f'{head}import tvm.ir\nfrom tvm.ir import *\nfrom tvm.ir import Expr as Expr\n__all__ = ["Expr", "tvm"]{rest}'
    )
