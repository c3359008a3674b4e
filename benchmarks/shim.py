"""What the lazy shim costs: import times, and the time of a kernel call after the first.

    python benchmarks/shim.py [--calls N]

The kernels are calls of a small stand-in for a runtime, so that only the way to the kernel is measured; import times
are also taken with the real TileLang where it is installed. Prints medians: of 7 processes, and of processor time in 60
rounds of calls.
"""

import argparse
import importlib.util
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
import timeit
from pathlib import Path
from typing import Any

from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim

RUNTIME = """
class Jitted:
    def __init__(self, func):
        self.func = func

    def __call__(self, n):
        return n


def jit(func):
    return Jitted(func)
"""

KERNELS = "import tilelang\n" + "".join(f"\n@tilelang.jit\ndef k{n}(n): ...\n" for n in range(12))

# the design of a wrapper that is written by hand: a closure that looks at a variable and calls on
HAND_MADE = """
from functools import wraps


class _Phony:
    @staticmethod
    def jit(fn):
        compiled = None

        @wraps(fn)
        def wrapper(*args, **kwargs):
            nonlocal compiled
            if compiled is None:
                import tilelang
                compiled = tilelang.jit(fn)
            return compiled(*args, **kwargs)

        return wrapper


tilelang = _Phony()
"""

ROUNDS = 60

SPEC = ShimSpec("tilelang", "lazy/_tilelang.py", At(1, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=200_000)
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_out(root)
        for name, seconds in import_times(root).items():
            print(f"{name:58} {seconds * 1e3:9.1f} ms")
        sys.path[:0] = [str(root), str(root / "runtime")]
        for name, nanoseconds in call_times(calls).items():
            print(f"{name:58} {nanoseconds:9.1f} ns")


def lay_out(root: Path) -> None:
    source = Source("k.py", "lazy/k.py", "", KERNELS.encode())
    context = Context("up", {}, frozenset(), {"tilelang": SPEC})
    files = {
        "runtime/tilelang.py": RUNTIME.encode(),
        "lazy/k.py": shim.apply(source, Shim(("tilelang",)), context).data,
        "lazy/_tilelang.py": shim.render(SPEC),
        "hand/k.py": KERNELS.replace("import tilelang", "from ._tilelang import tilelang").encode(),
        "hand/_tilelang.py": HAND_MADE.encode(),
        "plain/k.py": KERNELS.encode(),
    }
    for path, data in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(data)


def import_times(root: Path) -> dict[str, float]:
    """Whole processes, in seconds."""
    real = importlib.util.find_spec("tilelang") is not None
    scripts = {
        "python -c pass": ("pass", []),
        "import, without the runtime, lazy": ("import lazy.k", [root]),
        "import, without the runtime, by hand": ("import hand.k", [root]),
    }
    if real:
        scripts["import, real TileLang installed, lazy"] = ("import lazy.k", [root])
        scripts["import torch"] = ("import torch", [])
        scripts["import, real TileLang installed, unmodified file"] = ("import plain.k", [root])
        scripts["import and first use, real TileLang, lazy"] = ("import lazy.k; lazy.k.k1.func", [root])
    return {name: process(code, places) for name, (code, places) in scripts.items()}


def process(code: str, places: list[Path]) -> float:
    script = textwrap.dedent(f"import sys; sys.path[:0] = {[str(place) for place in places]!r}; {code}")
    command = [sys.executable, "-I", "-c", script]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # leaves bytecode behind
    runs = [
        timeit.timeit(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), number=1)
        for _ in range(7)
    ]
    return statistics.median(runs)


def call_times(calls: int) -> dict[str, float]:
    """Nanoseconds for one call, after the first."""
    import hand.k  # type: ignore[import-not-found]
    import lazy.k  # type: ignore[import-not-found]

    early: Any = lazy.k.k1
    holder = early.__call__  # of the deferred object itself: what no search can replace
    lazy.k.k1(1)
    hand.k.k1(1)
    import tilelang

    direct = tilelang.jit(lambda n: n)
    ways = {
        "call, direct": "f(1)",
        "call, lazy, by the module's name": "f(1)",
        "call, lazy, through a deferred object that stayed": "f(1)",
        "call, by hand": "f(1)",
    }
    functions = [direct, lazy.k.k1, holder, hand.k.k1]
    timers = {
        name: timeit.Timer(statement, timer=time.process_time, globals={"f": function})
        for (name, statement), function in zip(ways.items(), functions, strict=True)
    }
    # one way after the other in each round, so that a busy machine is as busy for each of them
    rounds = [{name: timer.timeit(calls // 20) for name, timer in timers.items()} for _ in range(ROUNDS)]
    return {name: statistics.median(run[name] for run in rounds) / (calls // 20) * 1e9 for name in timers}


if __name__ == "__main__":
    main()
