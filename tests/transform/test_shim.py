import pytest

from vendor_tool.errors import UsageError
from vendor_tool.model import At, Change, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim

AT = At(1, 1)
TILELANG = ShimSpec("tilelang", "vendored/_tilelang.py", AT, names={"T": "tilelang.language"})
TRITON = ShimSpec("triton", "vendored/_triton.py", AT)


def rewrite(data: bytes, *shims: ShimSpec, to: str = "vendored/glm/k.py") -> Change:
    specs = {spec.module: spec for spec in shims or (TILELANG,)}
    return shim.apply(Source("ops/k.py", to, "", data), Shim(tuple(specs)), Context("up", {}, frozenset(), specs))


FORMS = {
    "the module": ("import tilelang\n", "from .._tilelang import tilelang\n"),
    "under another name": ("import tilelang as tl\n", "from .._tilelang import tilelang as tl\n"),
    "a submodule that has a name": ("import tilelang.language as T\n", "from .._tilelang import T\n"),
    "the same, from": ("from tilelang import language as T\n", "from .._tilelang import T\n"),
    "a name by alias alone means nothing": (
        "import tilelang.ascend.language as T\n",
        "from .._tilelang.ascend import language as T\n",
    ),
    "a submodule with a name, under another": (
        "import tilelang.language as lang\n",
        "from .._tilelang import language as lang\n",
    ),
    "names": ("from tilelang import jit, Profiler as P\n", "from .._tilelang import jit, Profiler as P\n"),
    "names of a submodule": (
        "from tilelang.utils.target import check_cuda\n",
        "from .._tilelang.utils.target import check_cuda\n",
    ),
    "a submodule that is only loaded": ("import tilelang.testing\n", "from .._tilelang.testing import tilelang\n"),
    "mixed with others": (
        "import os, tilelang, sys\n",
        "import os\nfrom .._tilelang import tilelang\nimport sys\n",
    ),
    "several at once": (
        "import tilelang, tilelang.language as T\n",
        "from .._tilelang import tilelang\nfrom .._tilelang import T\n",
    ),
    "after a semicolon": ("x = 1; import tilelang  # why\n", "x = 1; from .._tilelang import tilelang  # why\n"),
    "brackets and comments": (
        "from tilelang.layout import (  # outer\n    swizzle,\n    fragment as f,  # inner\n)\n",
        "from .._tilelang.layout import (  # outer\n    swizzle,\n    fragment as f,  # inner\n)\n",
    ),
    "a backslash": ("from tilelang import \\\n    jit\n", "from .._tilelang import \\\n    jit\n"),
    "a trailing comment": ("import tilelang  # noqa: F401\n", "from .._tilelang import tilelang  # noqa: F401\n"),
    "CRLF": ("import tilelang\r\nx = 1\r\n", "from .._tilelang import tilelang\r\nx = 1\r\n"),
    "no line end": ("import tilelang", "from .._tilelang import tilelang"),
    "a star, by the names that nothing else binds": (
        "import tilelang\nfrom tilelang.autotuner import *\n\n@autotune(configs=[])\ndef f(a): return a, len(a)\n",
        "from .._tilelang import tilelang\nfrom .._tilelang.autotuner import autotune\n\n"
        "@autotune(configs=[])\ndef f(a): return a, len(a)\n",
    ),
    "a star that brings nothing": (
        "from tilelang.autotuner import *\n",
        "from .._tilelang.autotuner import *\n",
    ),
    "inside a function": (
        "def f():\n    import tilelang.language as T\n    return T\n",
        "def f():\n    from .._tilelang import T\n    return T\n",
    ),
    "the module's own tvm": (
        "import tilelang\nimport tvm\nfrom tvm import tir\nfrom tvm.tir import PrimFunc\nfrom tilelang import tvm as t\n",
        "from .._tilelang import tilelang\nfrom .._tilelang import tvm\nfrom .._tilelang.tvm import tir\n"
        "from .._tilelang.tvm.tir import PrimFunc\nfrom .._tilelang import tvm as t\n",
    ),
    "a flag that an except sets": (
        "try:\n    import tilelang\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n",
        "try:\n    from .._tilelang._if_installed import tilelang\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n",
    ),
    "a flag of a submodule": (
        "try:\n    from tilelang.cuda import x\nexcept (ValueError, ModuleNotFoundError):\n    x = None\n",
        "try:\n    from .._tilelang._if_installed.cuda import x\nexcept (ValueError, ModuleNotFoundError):\n    x = None\n",
    ),
    "a try for another error": (
        "try:\n    import tilelang\nexcept OSError:\n    raise\n",
        "try:\n    from .._tilelang import tilelang\nexcept OSError:\n    raise\n",
    ),
    "a number that is needed at import": (
        "import tilelang.language as T\nTOP = float(T.max_value(T.float8)) * 2\n",
        "from .._tilelang._builtins import float as _float\nfrom .._tilelang import T\n"
        "TOP = _float(T.max_value(T.float8)) * 2\n",
    ),
    "a number that is needed at import, beside other uses of the type": (
        "import tilelang.language as T\n_int = 1\ndef f(x: int): return int(x)\nTOP = f(T.top) + int('1')\n",
        "from .._tilelang._builtins import int as _int_\nfrom .._tilelang import T\n_int = 1\n"
        "def f(x: int): return _int_(x)\nTOP = f(T.top) + int('1')\n",
    ),
    "a branch that chooses definitions": (
        "import tilelang as t\n\nif hasattr(t.Key, 'A'):\n    KEYS = {t.Key.A: 1}\nelif t.x or t.y:\n    KEYS = {}\n"
        "# not this else\nelse:  # else\n    KEYS = [t.z]\n",
        "from .._tilelang._builtins import _loaded\nfrom .._tilelang import tilelang as t\n\n"
        "if _loaded(\"KEYS\") and (hasattr(t.Key, 'A')):\n    KEYS = {t.Key.A: 1}\nelif _loaded() and (t.x or t.y):\n"
        "    KEYS = {}\n# not this else\nelif _loaded():  # else\n    KEYS = [t.z]\n",
    ),
    "a branch that changes the runtime": (
        "from tilelang import tuner\nif getattr(tuner, 'done', True) is False:\n    tuner.done = True\n    tuner.log(1)\n",
        "from .._tilelang._builtins import _loaded\nfrom .._tilelang import tuner\n"
        "if _loaded() and (getattr(tuner, 'done', True) is False):\n    tuner.done = True\n    tuner.log(1)\n",
    ),
    "a data class with a deferred base": (
        "import dataclasses, os\nfrom tilelang import Base\n@dataclasses.dataclass\nclass A(Base):\n    n: int = 1\n",
        "from .._tilelang._builtins import dataclasses\nimport os\nfrom .._tilelang import Base\n"
        "@dataclasses.dataclass\nclass A(Base):\n    n: int = 1\n",
    ),
    "a data class with a deferred base, by name": (
        "from dataclasses import dataclass as dc, field\nfrom tilelang import Base\n@dc(frozen=True)\nclass A(Base): ...\n",
        "from .._tilelang._builtins.dataclasses import dataclass as dc, field\nfrom .._tilelang import Base\n"
        "@dc(frozen=True)\nclass A(Base): ...\n",
    ),
    "a table that is looked up by what others have": (
        "import tilelang.language as T\nBITS = {\n    T.a: 8,  # eight\n}\ndef bits(x): return BITS[x]\n",
        "from .._tilelang._builtins import _keyed\nfrom .._tilelang import T\nBITS = _keyed({\n    T.a: 8,  # eight\n})\n"
        "def bits(x): return BITS[x]\n",
    ),
    "a table that is looked up by its own keys": (
        "import tilelang.language as T\nBITS = {T.a: 8}\ndef bits(): return BITS[T.a]\n",
        "from .._tilelang import T\nBITS = {T.a: 8}\ndef bits(): return BITS[T.a]\n",
    ),
}

IF = "import tilelang as t\n{}if t.ok:\n{}"
BRANCHES_THAT_CANNOT_WAIT = {
    "a flag": IF.format("NEW = False\n", "    NEW = True\n"),
    "a name that may stay unbound": IF.format("", "    a = t.x\n"),
    "a name that is bound again": IF.format("", "    a = t.x\nelse:\n    a = t.y\na = t.z\n"),
    "a name that a function binds": IF.format(
        "", "    a = t.x\nelse:\n    a = t.y\ndef f():\n    global a\n    a = 1\n"
    ),
    "a name whose identity matters": IF.format("", "    a = t.x\nelse:\n    a = (t.y,)\ndef f(): return a is None\n"),
    "a call of something else": IF.format("import os\n", "    t.path = os.getcwd()\n"),
    "a value that changes": IF.format("n = [1]\n", "    t.n = n\n"),
    "a value that is read again": IF.format("d = t.a\n", "    t.n = d\nd = t.b\n"),
    "a change of a table": IF.format("c = {}\n", "    c[t.x] = 1\n"),
    "an error": IF.format("", "    raise ImportError('too old')\n"),
    "an import of another module": IF.format("", "    import os\n"),
    "a class": IF.format("", "    class A(t.Base): ...\nelse:\n    class A: ...\n"),
    "a name that is taken": IF.format("_loaded = 1\n", "    t.log(_loaded)\n"),
}


@pytest.mark.parametrize("text", BRANCHES_THAT_CANNOT_WAIT.values(), ids=BRANCHES_THAT_CANNOT_WAIT)
def test_a_branch_that_could_mean_something_else_later_is_left_as_it_is(text: str) -> None:
    change = rewrite(text.encode())
    assert change.data.decode() == text.replace("import tilelang as t", "from .._tilelang import tilelang as t")


def test_a_branch_that_comes_before_the_first_import_of_the_module_itself_is_left_as_it_is() -> None:
    text = b"try:\n    import tilelang as t\nexcept ImportError:\n    raise\nif t.ok:\n    t.x = 1\n"
    assert b"_loaded" not in rewrite(text).data
    assert b"_loaded" not in rewrite(text + b"import tilelang\n").data


def test_a_branch_does_not_wait_for_two_modules() -> None:
    text = b"import tilelang as t\nimport triton\nif t.ok:\n    t.x = triton.y\n"
    assert b"_loaded" not in rewrite(text, TILELANG, TRITON).data


@pytest.mark.parametrize(("before", "after"), FORMS.values(), ids=FORMS)
def test_an_import_comes_from_the_stand_in_and_nothing_else_changes(before: str, after: str) -> None:
    assert rewrite(before.encode()).data == after.encode()


NO_OPS = {
    "a longer name": "import tilelangx\nfrom tilelang_extra import a\n",
    "a relative import of the same name": "from .tilelang import jit\nfrom . import tilelang\n",
    "a string": "name = 'import tilelang'\n",
    "a comment": "# import tilelang\n",
    "a type checker's import": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tilelang\n",
    "a tvm of its own": "import tvm\nfrom tvm import tir\n",
    "an import by string": "import importlib\nm = importlib.import_module('tilelang')\n",
}


@pytest.mark.parametrize("text", NO_OPS.values(), ids=NO_OPS)
def test_what_is_no_import_of_the_module_keeps_its_bytes(text: str) -> None:
    data = text.encode()
    assert rewrite(data).data is data


def test_a_file_that_is_not_python_is_left_alone() -> None:
    source = Source("ops/k.md", "vendored/k.md", "", b"import tilelang\n")
    change = shim.apply(source, Shim(("tilelang",)), Context("up", {}, frozenset(), {"tilelang": TILELANG}))
    assert change.data is source.data


def test_latin_1_source_stays_latin_1() -> None:
    before = b"# -*- coding: latin-1 -*-\nimport tilelang  # caf\xe9\n"
    assert rewrite(before).data == b"# -*- coding: latin-1 -*-\nfrom .._tilelang import tilelang  # caf\xe9\n"


@pytest.mark.parametrize(
    ("to", "place"),
    [
        ("vendored/k.py", "._tilelang"),
        ("vendored/a/b/k.py", "..._tilelang"),
        ("other/k.py", "..vendored._tilelang"),
        ("vendored/glm/__init__.py", ".._tilelang"),
    ],
)
def test_relative_imports_climb_from_where_the_file_stands(to: str, place: str) -> None:
    assert rewrite(b"import tilelang\n", to=to).data == f"from {place} import tilelang\n".encode()


def test_an_absolute_stand_in_is_named_by_its_module() -> None:
    spec = ShimSpec("tilelang", "src/pkg/_tilelang.py", AT, "pkg._tilelang", {"T": "tilelang.language"})
    before = b"import tilelang\nimport tilelang.language as T\nfrom tilelang.m import a\n"
    after = b"from pkg._tilelang import tilelang\nfrom pkg._tilelang import T\nfrom pkg._tilelang.m import a\n"
    assert rewrite(before, spec, to="src/pkg/k.py").data == after


def test_two_stand_ins_in_one_file() -> None:
    before = b"import triton, tilelang\nimport triton.language as tl\n"
    after = b"from .._triton import triton\nfrom .._tilelang import tilelang\nfrom .._triton import language as tl\n"
    change = rewrite(before, TILELANG, TRITON)
    assert change.data == after
    assert change.names == ("triton", "tilelang", "triton.language")


def test_a_rewritten_file_is_not_rewritten_again() -> None:
    once = rewrite(b"import tilelang\nimport tilelang.language as T\n")
    assert rewrite(once.data).data is once.data


def test_a_module_without_a_stand_in_is_an_error() -> None:
    source = Source("ops/k.py", "vendored/k.py", "", b"import triton\n")
    with pytest.raises(UsageError) as caught:
        shim.apply(source, Shim(("triton",)), Context("up", {}, frozenset(), {"tilelang": TILELANG}))
    assert caught.value.message == "`transforms:` of `up` shims `triton`, which has no stand-in under `shims:`"
    assert caught.value.hint == "add `triton: {to: vendored/_triton.py}` to `shims:`"
