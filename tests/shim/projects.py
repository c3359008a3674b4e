"""A project with a stand-in and, beside it, a small runtime that behaves as TileLang does at import and at the call."""

import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim

SPEC = ShimSpec("tilelang", "vendored/_tilelang.py", At(1, 1), names={"T": "tilelang.language"})

RUNTIME = {
    "tilelang/__init__.py": """
        import enum, os, sys

        sys.path.insert(0, os.path.join(os.path.dirname(__file__), "3rdparty"))
        import tvm
        from . import language, events, math

        __version__ = "0.1.11"
        events.append("import tilelang")


        class PassConfigKey(str, enum.Enum):
            FAST = "tl.fast"
            SAFE = "tl.safe"


        class Jitted:
            def __init__(self, func, out_idx=None, pass_configs=None):
                self.func, self.out_idx, self.pass_configs = func, out_idx, pass_configs
                self.defaults = func.__defaults__
                self.calls = 0
                events.append(f"jit {func.__name__}")

            def __call__(self, *args, **keywords):
                self.calls += 1
                return self.func(*args, **keywords)

            def compile(self, **keywords):
                return "compiled", self.func.__name__, keywords


        def jit(func=None, **keywords):
            if func is None:
                return lambda func: Jitted(func, **keywords)
            return Jitted(func, **keywords)


        def set_log_level(level):
            events.append(f"log level {level}")


        def disable_cache():
            events.append("disable cache")


        class Profiler:
            registry = []

            def __init_subclass__(cls, **keywords):
                Profiler.registry.append((cls.__name__, keywords))

            def run(self):
                return "profiled"
        """,
    "tilelang/math.py": "def next_power_of_2(n):\n    return 1 << (n - 1).bit_length()\n",
    "tilelang/events.py": "_seen = []\nappend = _seen.append\n\n\ndef seen():\n    return list(_seen)\n",
    "tilelang/language.py": """
        class dtype:
            def __init__(self, name, bits):
                self.name, self.bits = name, bits

            def __call__(self, value):
                return (self.name, value)

            def __eq__(self, other):
                return str(self) == str(other)

            def __hash__(self):
                return hash(self.name)

            def __str__(self):
                return self.name

            def __repr__(self):
                return f"dtype({self.name!r})"

            def __or__(self, other):
                return ("or", self.name, other)


        float32 = dtype("float32", 32)
        float = dtype("float32", 32)
        float16 = dtype("float16", 16)
        bfloat16 = dtype("bfloat16", 16)


        def max(*values):
            return ("max", *values)


        def min(*values):
            return ("min", *values)


        def int(value):
            return ("int", value)


        def max_value(of):
            return 448.0 if of.bits == 16 else 3.0e38


        class Tensor:
            def __class_getitem__(cls, item):
                return ("Tensor", item)


        class Macro:
            def __init__(self, func):
                self.func = func
                self.names = {name: func.__globals__.get(name) for name in func.__code__.co_names}


        def macro(func):
            return Macro(func)


        def prim_func(func):
            return Macro(func)
        """,
    "tilelang/testing/__init__.py": """
        from tilelang import events


        def requires_cuda(func):
            func.needs_cuda = True
            return func


        def set_random_seed(seed):
            events.append(f"seed {seed}")
        """,
    "tilelang/autotuner/__init__.py": """
        def autotune(configs):
            def decorate(func):
                func.configs = configs
                return func

            return decorate
        """,
    "tilelang/utils/__init__.py": "",
    "tilelang/utils/target.py": "def determine():\n    return 'cuda'\n",
    "tilelang/3rdparty/tvm/__init__.py": "from . import tir\n",
    "tilelang/3rdparty/tvm/tir.py": "class PrimFunc:\n    pass\n",
}


@dataclass
class Project:
    """A folder with vendored files, run by an interpreter of its own."""

    root: Path

    def vendor(self, name: str, text: str) -> bytes:
        """Rewrites one upstream file into the project."""
        source = Source(f"ops/{name}.py", f"vendored/{name}.py", "", textwrap.dedent(text).lstrip("\n").encode())
        change = shim.apply(source, Shim(("tilelang",)), Context("up", {}, frozenset(), {"tilelang": SPEC}))
        self.write(f"vendored/{name}.py", change.data.decode())
        self.write("vendored/_tilelang.py", shim.render(SPEC).decode())
        return change.data

    def write(self, path: str, text: str) -> None:
        """Writes one file as it is, indentation taken out."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(textwrap.dedent(text).lstrip("\n"))

    def runtime(self, files: dict[str, str] | None = None) -> None:
        """Installs the small runtime, with `files` in place of some of its own."""
        for path, text in {**RUNTIME, **(files or {})}.items():
            self.write(f"site/{path}", text)

    def distribution(self, name: str, version: str) -> None:
        """Installs the metadata of a distribution."""
        self.write(f"site/{name.replace('-', '_')}-{version}.dist-info/METADATA", f"Name: {name}\nVersion: {version}\n")

    def run(self, script: str) -> str:
        """What the script prints, with the project and its runtime on the path."""
        done = self.start(script)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, script: str) -> "subprocess.CompletedProcess[str]":
        """Runs the script, whatever comes of it."""
        head = f"import sys; sys.path[:0] = [{str(self.root)!r}, {str(self.root / 'site')!r}]\n"
        return subprocess.run(
            [sys.executable, "-I", "-B", "-W", "error", "-c", head + textwrap.dedent(script)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
