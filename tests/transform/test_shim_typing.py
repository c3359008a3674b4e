from pathlib import Path

import pytest

from tests.support.checker import revealed
from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim, shim_standin

NAMES = {"L": "runtime.language", "tune": "runtime.tuning.tune", "Best": "runtime.tuning.deep.Tuner"}
SPEC = ShimSpec("runtime", "vendored/_runtime.py", At(1, 1), names=NAMES)

RUNTIME = {
    "runtime/__init__.py": "class Kernel:\n    calls: int = 0\n\ndef jit(function: object) -> Kernel:\n    return Kernel()\n",
    "runtime/language.py": "def bits(kind: str) -> int:\n    return 8\n",
    "runtime/tuning/__init__.py": "def tune(times: int) -> str:\n    return ''\n",
    "runtime/tuning/deep.py": "class Tuner:\n    best: float = 0.0\n",
    "runtime/py.typed": "",
}

KERNELS = """
import runtime
import runtime.language as L
from runtime import jit, Kernel as K
from runtime.tuning import tune
from runtime.tuning.deep import Tuner as Best

reveal_type(runtime.Kernel().calls)
reveal_type(L.bits)
reveal_type(jit)
reveal_type(K().calls)
reveal_type(tune)
reveal_type(Best().best)
"""


def test_a_type_checker_sees_the_real_names_of_the_module_and_of_names(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    source = Source("k.py", "vendored/k.py", "", KERNELS.encode())
    change = shim.apply(source, Shim(("runtime",)), Context("up", {}, frozenset(), {"runtime": SPEC}))
    files = {
        "vendored/__init__.py": b"",
        "vendored/k.py": change.data,
        SPEC.to: shim_standin.render(SPEC),
        **{f"site/{path}": text.encode() for path, text in RUNTIME.items()},
    }
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    shown, _status, said = revealed(tmp_path)
    assert shown == [
        '"int"',
        '"def (kind: str) -> int"',
        '"def (function: object) -> runtime.Kernel"',
        '"int"',
        '"def (times: int) -> str"',
        '"float"',
    ], said
