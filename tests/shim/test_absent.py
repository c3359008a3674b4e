"""Without the runtime: every form and use at import gets through, and a call says what to install."""

import pytest

from tests.shim.projects import Project

USES = {
    "decorators": "@tilelang.jit\ndef a(n): ...\n\n@tilelang.jit(out_idx=[-1], pass_configs={tilelang.PassConfigKey.FAST: True})\ndef b(n): ...\n",
    "two decorators": "from tilelang.autotuner import autotune\n@autotune(configs=[{'n': 1}])\n@tilelang.jit\ndef a(n): ...\n",
    "jit as a function": "def f(n): ...\na = tilelang.jit(f, out_idx=-1)\n",
    "dtypes as defaults": "def f(x, d=T.bfloat16, *, e=T.float32): ...\n",
    "annotations": "def f(x: T.Tensor[4, 8], d: T.dtype = T.float32) -> tilelang.JITKernel: ...\n",
    "an optional annotation": "from typing import Optional, Union\ndef f(a: Optional[T.Buffer], b: T.Tensor | None, c: Union[int, T.dtype], d: list[T.Tensor]): ...\n",
    "annotated names": "x: T.dtype = T.float32\n",
    "class bases": "class P(tilelang.Profiler, tag=1):\n    def run(self):\n        return super().run()\n",
    "a class decorator": "@tilelang.register\nclass P: ...\n",
    "class attributes": "class P:\n    d = T.float32\n    def f(self, d=T.float16): ...\n",
    "methods": "class P:\n    @tilelang.testing.requires_cuda\n    def test_a(self): ...\n",
    "module level kernels": "@T.prim_func\ndef k(a: T.Tensor((4,), 'float32')): ...\n\n@T.macro\ndef m(a): ...\n",
    "testing": "import tilelang.testing\n@tilelang.testing.requires_cuda_compute_version(9, 0)\ndef test_a(): ...\n",
    "dictionaries of keys": "CONFIG = {tilelang.PassConfigKey.FAST: True, tilelang.PassConfigKey.SAFE: False}\nassert len(CONFIG) == 2\n",
    "tables of dtypes": "TABLE = {T.float32: 'f32', T.float16: 'f16'}\nassert TABLE[T.float16] == 'f16'\n",
    "sets and tuples": "KINDS = {T.float32, T.float16}, (T.float32, [T.float16])\n",
    "arithmetic": "X = (T.max_value(T.float32) * 2 - 1) // 3 % 4 ** T.n | ~T.bits\nY = -X + abs(T.x) << 2\n",
    "comparisons": "NEW = tilelang.__version__ >= '0.1.10'\nSAME = T.float32 == T.float\n",
    "text": "NAME = f'kernel_{T.float32}_{tilelang.__version__:>8}'\nOTHER = 'k_' + str(T.float16)\n",
    "side effects": "tilelang.set_log_level('WARNING')\ntilelang.disable_cache()\ntilelang.cache.clear_cache()\n",
    "monkey patches": "tilelang.env.cache = lambda: None\ntilelang.config['x'] = 1\ndel tilelang.old\n",
    "comprehensions": "import itertools\nCONFIGS = [dict(d=d, n=n) for d, n in itertools.product([T.float32, T.float16], [64, 128])]\n",
    "tvm": "import tvm\nfrom tvm import tir\nfrom tvm.tir import PrimFunc\ndef f() -> PrimFunc: ...\n",
    "a number": "TOP = float(T.max_value(T.float16)) * 2.0\nBITS = int(T.float16.bits) + 1\n",
    "data classes": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    d: T.dtype = T.float32\nc = C()\n",
    "function tools": "import functools\n@functools.lru_cache(maxsize=None)\n@tilelang.jit\ndef a(n): ...\nb = functools.partial(a, d=T.float32)\n",
    "a function called at import": "def table():\n    return {'d': T.float32}\nX = table()\n",
    "an import in that function": "def table():\n    from tilelang.utils import target\n    return target.now()\nX = table()\n",
    "a star": "from tilelang.autotuner import *\n@autotune(configs=[])\ndef f(): ...\n",
    "a star that replaces built-in names": "from tilelang.language import *\nX = max(1, float(2))\ndef f(n: int = int(3)): ...\n",
    "two stars of which one brings nothing": "from tilelang.autotuner import *\nfrom tilelang.language import *\nX = max(1, len([]))\n",
    "type variables": "from typing import Generic, TypeVar\nD = TypeVar('D', T.dtype, str)\nclass Box(Generic[D]):\n    d: D\n",
    "deferred values of others": "import copy\nX = copy.deepcopy({'d': T.float32})\n",
}


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_a_use_at_import_gets_through(project: Project, text: str) -> None:
    project.vendor("k", "import tilelang\nimport tilelang.language as T\n" + text)
    assert project.run("import vendored.k; print(sorted({'tilelang', 'tvm'} & sys.modules.keys()))") == "[]\n"


def test_a_call_says_what_to_install(project: Project) -> None:
    project.vendor("k", "import tilelang\n\n@tilelang.jit\ndef step(n): ...\n")
    said = project.run(
        """
        import vendored.k
        for use in (lambda: vendored.k.step(3), lambda: vendored.k.step.compile, lambda: vendored.k.tilelang.cdiv(1, 2)):
            try:
                use()
            except ImportError as error:
                print(type(error).__name__, error.name, error)
        """
    )
    line = (
        "ModuleNotFoundError tilelang `tilelang` is needed to run this and is not installed: "
        "run `pip install 'tilelang==0.1.11' 'apache-tvm-ffi==0.1.11'`\n"
    )
    assert said == line * 3


def test_a_flag_that_an_except_sets_is_false(project: Project) -> None:
    project.vendor(
        "k",
        """
        try:
            import tilelang
            from tilelang.autotuner import autotune
            HAVE = True
        except ImportError:
            HAVE = False
            autotune = None
        """,
    )
    assert project.run("import vendored.k as k; print(k.HAVE, k.autotune)") == "False None\n"


def test_a_flag_that_a_suppress_of_any_name_leaves_is_false(project: Project) -> None:
    project.vendor(
        "k",
        """
        import contextlib as c
        from contextlib import suppress as quiet
        HAVE = STORED = STACK = False
        with quiet(ImportError):
            import tilelang
            HAVE = True
        NOTHING = c.suppress(ImportError)
        with NOTHING:
            import tilelang
            STORED = True
        with c.ExitStack() as stack:
            stack.enter_context(quiet(ImportError))
            import tilelang
            STACK = True
        """,
    )
    assert project.run("import vendored.k as k; print(k.HAVE, k.STORED, k.STACK)") == "False False False\n"


def test_built_in_names_that_a_star_replaces_are_the_runtimes_and_the_others_pythons(project: Project) -> None:
    project.vendor(
        "k",
        """
        from tilelang.language import *
        @prim_func
        def k(a): return max(a, 1)
        def size(a): return len(a)
        def top(a): return max(a, 1)
        """,
    )
    said = project.run(
        "import vendored.k as k; print(k.size([1]), k.top)\ntry: k.top(3)\nexcept ImportError: print('needs it')"
    )
    assert said.startswith("1 <function top at")
    assert said.endswith("needs it\n")


def test_an_import_in_a_function_raises_when_it_runs(project: Project) -> None:
    project.vendor(
        "k",
        """
        def f():
            try:
                from tilelang.utils import target
            except ImportError:
                return "not there"
            return target
        """,
    )
    assert project.run("import vendored.k as k; print(k.f())") == "not there\n"


def test_a_kernel_shows_its_name_signature_and_text(project: Project) -> None:
    project.vendor(
        "k",
        '''
        import tilelang
        import tilelang.language as T

        @tilelang.jit(out_idx=[-1])
        def step(n: int, d=T.float32):
            """One step."""
            return n

        @tilelang.jit
        def bare(n: int): ...
        ''',
    )
    said = project.run(
        """
        import inspect, pydoc
        from vendored.k import step, bare
        print(step.__name__, step.__qualname__, step.__module__, step.__doc__, bare.__doc__)
        print(inspect.signature(step))
        print(inspect.getsource(step).splitlines()[1], inspect.unwrap(step)(3))
        print("step(n: int, d=" in pydoc.plain(pydoc.render_doc(step)), "One step." in pydoc.render_doc(step))
        print("bare(n: int)" in pydoc.plain(pydoc.render_doc(bare)))
        print(callable(step), hasattr(step, "__iter__"), isinstance(step, type))
        print(step, f"{step}" == str(step) == repr(step))
        """
    )
    assert said == (
        "step step vendored.k One step. None\n"
        "(n: int, d=<deferred tilelang.language.float32>)\n"
        "def step(n: int, d=T.float32): 3\n"
        "True True\nTrue\nTrue True False\n"
        "<deferred tilelang.jit(out_idx=[-1])(step): step(n: int, d=<deferred tilelang.language.float32>)> True\n"
    )


def test_tools_that_look_everywhere_find_nothing_and_break_nothing(project: Project) -> None:
    project.vendor("k", "import tilelang\n\n@tilelang.jit\ndef step(n): ...\n\nclass P:\n    k = step\n")
    assert (
        project.run(
            """
            import copy, inspect, pickle, unittest
            import vendored.k as k
            import vendored._tilelang as stand_in
            print(inspect.getmodule(k.step).__name__, hasattr(stand_in, "some_name"))
            print([name for name, _ in inspect.getmembers(k, inspect.isfunction)])  # as the hand-made wrappers were
            print(sorted(name for name, _ in inspect.getmembers(k.P) if not name.startswith("__")))
            print(unittest.defaultTestLoader.loadTestsFromModule(k).countTestCases())
            print(copy.deepcopy(k.step) is k.step, pickle.loads(pickle.dumps(k.step)) is k.step)
            print(pickle.loads(pickle.dumps(len)) is len)
            """
        )
        == "vendored.k False\n['step']\n['k']\n0\nTrue True\nTrue\n"
    )


def test_what_cannot_be_put_off_names_its_line(project: Project) -> None:
    project.vendor("k", "import tilelang\nx = 1\nif tilelang.__version__ > '1':\n    x = 2\n")
    done = project.start("import vendored.k")
    place = project.root / "vendored/k.py"
    assert f"ImportError: {place}:3: the truth of <deferred gt(tilelang.__version__, '1')> is needed" in done.stderr
