import pytest

from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim, shim_proof

AT = At(1, 1)
SHIMS = {
    "tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", AT, names={"T": "tilelang.language"}),
    "triton": ShimSpec("triton", "vendored/_triton.py", AT),
}
FILES = {"ops/tables.py": "vendored/tables.py", "ops/k.py": "vendored/k.py"}


def vendored(text: str) -> bytes:
    context = Context("up", FILES, frozenset(), SHIMS)
    return shim.apply(Source("ops/k.py", "vendored/k.py", "", text.encode()), Shim(tuple(SHIMS)), context).data


def refused(final: bytes) -> list[tuple[int | None, str]]:
    found = shim_proof.static("vendored/k.py", final, SHIMS)
    return [(one.line, one.message.partition(" is needed while")[0]) for one in found]


TOLD = {
    "the names that nothing else binds": (
        "from tilelang.autotuner import *\n@autotune(configs=[])\ndef f(a): return a, len(a)\n",
        "from ._tilelang.autotuner import autotune\n@autotune(configs=[])\ndef f(a): return a, len(a)\n",
    ),
    "a name that a parameter has elsewhere": (
        "from tilelang.autotuner import *\ndef g(tune): return tune\n@tune()\ndef f(a): ...\n",
        "from ._tilelang.autotuner import tune\ndef g(tune): return tune\n@tune()\ndef f(a): ...\n",
    ),
    "a name that the file only hands on": (
        "from tilelang.autotuner import *\n__all__ = ['tune']\n",
        "from ._tilelang.autotuner import tune\n__all__ = ['tune']\n",
    ),
    "built-in names that the module is known to replace": (
        "from tilelang.language import *\ndef f(a): return max(len(a), int(a))\n",
        "from ._tilelang.language import int, max\ndef f(a): return max(len(a), int(a))\n",
    ),
    "built-in names that the file has of its own": (
        "from tilelang.language import *\ndef max(a): return a\ndef f(min): return max(min), gemm\n",
        "from ._tilelang.language import gemm\ndef max(a): return a\ndef f(min): return max(min), gemm\n",
    ),
    "a replaced function that takes a value at import": (
        "from tilelang.language import *\nTOP = float(inf(float16)) + round(1)\n",
        "from ._tilelang.language import float, float16, inf, round\nTOP = float(inf(float16)) + round(1)\n",
    ),
    "a built-in function that stays, with a value": (
        "from tilelang.language import *\nSIZE = len(kinds)\n",
        "from ._tilelang._builtins import len as _len\nfrom ._tilelang.language import kinds\nSIZE = _len(kinds)\n",
    ),
    "two of them, where one brings all that is read": (
        "from tilelang.autotuner import *\nfrom tilelang.language import *\ndef f(a): return max(a)\n",
        "from ._tilelang.autotuner import *\nfrom ._tilelang.language import max\ndef f(a): return max(a)\n",
    ),
    "two of them, where nothing of either is read": (
        "from tilelang.autotuner import *\nfrom tilelang.profiler import *\ndef f(a): return len(a)\n",
        "from ._tilelang.autotuner import *\nfrom ._tilelang.profiler import *\ndef f(a): return len(a)\n",
    ),
    "beside one of another module, where nothing of either is read": (
        "from math import *\nfrom tilelang.autotuner import *\ndef f(a): return len(a)\n",
        "from math import *\nfrom ._tilelang.autotuner import *\ndef f(a): return len(a)\n",
    ),
    "the same one twice": (
        "if True:\n    from tilelang.profiler import *\nelse:\n    from tilelang.profiler import *\nbench()\n",
        "if True:\n    from ._tilelang.profiler import bench\nelse:\n    from ._tilelang.profiler import bench\nbench()\n",
    ),
    "an unknown module whose replacements nobody reads": (
        "from triton.language import *\n@jit\ndef f(a): return a\n",
        "from ._triton.language import jit\n@jit\ndef f(a): return a\n",
    ),
    "a flag that is set behind it": (
        "HAVE = False\ntry:\n    from tilelang.language import *\n    HAVE = True\nexcept ImportError: pass\n"
        "def f(a): return HAVE, gemm\n",
        "HAVE = False\ntry:\n    from ._tilelang._if_installed.language import gemm\n    HAVE = True\nexcept ImportError: pass\n"
        "def f(a): return HAVE, gemm\n",
    ),
    "names of whole modules and of the runtime before it": (
        "import math\nfrom tilelang import jit\nfrom typing import Any\nfrom tilelang.language import *\n"
        "@jit\ndef f(a: Any): return math.pi, gemm\n",
        "import math\nfrom ._tilelang import jit\nfrom typing import Any\nfrom ._tilelang.language import gemm\n"
        "@jit\ndef f(a: Any): return math.pi, gemm\n",
    ),
}


@pytest.mark.parametrize(("text", "final"), TOLD.values(), ids=TOLD)
def test_a_star_becomes_the_names_that_it_must_bring(text: str, final: str) -> None:
    assert vendored(text).decode() == final
    assert refused(final.encode()) == []


UNTOLD = {
    "two submodules": (
        "from tilelang.language import *\nfrom tilelang.autotuner import *\n@tune()\ndef f(a): return gemm(a)\n",
        [(2, "which of two star imports brings `gemm`, `tune`")],
    ),
    "the module and a submodule": (
        "from tilelang import *\nfrom tilelang.language import *\n@jit\ndef f(a): ...\n",
        [(2, "which of two star imports brings `jit`")],
    ),
    "two modules": (
        "from tilelang.language import *\nfrom triton import *\n@jit\ndef f(a): ...\n",
        [(2, "which of two star imports brings `jit`")],
    ),
    "one of another module": (
        "from tilelang.language import *\nfrom math import *\ndef f(a): return sqrt(a)\n",
        [(1, "which of two star imports brings `sqrt`")],
    ),
    "one of another module, and a built-in name": (
        "from numpy import *\nfrom tilelang.language import *\ndef f(a): return max(a)\n",
        [(2, "which of two star imports brings `max`")],
    ),
    "a built-in name under a module of which nothing is known": (
        "from triton.language import *\ndef f(a): return max(len(a), 1)\n",
        [(1, "whether the star import of `triton.language` brings `len`, `max`")],
    ),
    "a name that the file had before it": (
        "from math import sqrt\nSIZE = 8\nfrom tilelang.language import *\ndef f(a): return sqrt(SIZE)\n",
        [(3, "whether the star import of `tilelang.language` replaces `SIZE`, `sqrt`")],
    ),
}


@pytest.mark.parametrize(("text", "found"), UNTOLD.values(), ids=UNTOLD)
def test_a_star_whose_names_cannot_be_told_without_the_module_is_refused(
    text: str, found: list[tuple[int, str]]
) -> None:
    assert refused(vendored(text)) == found


def test_a_star_of_a_stand_in_that_a_patch_brought_is_refused_where_a_name_needs_it() -> None:
    head = b"from ._tilelang.language import *\n"
    assert refused(head + b"def f(a): return a\n") == []
    assert refused(head + b"def f(a): return gemm(a), max(a)\n") == [
        (1, "`gemm`, `max`, which only the star import of `tilelang.language` brings,")
    ]


def test_a_star_of_a_vendored_file_beside_it_is_known() -> None:
    text = "from ops.tables import *\nfrom tilelang import *\n@jit\ndef f(a): ...\n"
    assert vendored(text).decode() == text.replace("from tilelang import *", "from ._tilelang import jit")
