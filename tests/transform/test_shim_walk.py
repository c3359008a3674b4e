import ast

import pytest

from vendor_tool.transform import shim_analysis, syntax
from vendor_tool.transform.shim_values import Use

HEAD = "from ._tilelang import T, tilelang\n"


def refusals(body: str) -> list[str]:
    tree = ast.parse(HEAD + body)
    return [f"{use.line - 1}: {use.what}" for use in shim_analysis.refusals(tree, own)]


def own(node: syntax.Import) -> dict[str, str]:
    if isinstance(node, ast.ImportFrom) and node.module == "_tilelang":
        return {alias.asname or alias.name: "tilelang" for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module == "_tilelang._builtins":
        return {alias.name: "builtins" for alias in node.names}
    return {}


REFUSED = {
    "a branch on a version": (
        "if tilelang.__version__ > '1':\n    x = 1\n",
        "1: the truth of `tilelang.__version__ > '1'`",
    ),
    "a branch on an arch check": (
        "if not tilelang.nvcc.has_sm90():\n    x = 1\n",
        "1: the truth of `tilelang.nvcc.has_sm90()`",
    ),
    "an assertion": ("assert T.ok\n", "1: the truth of `T.ok`"),
    "a choice": ("x = 1 if T.ok else 2\n", "1: the truth of `T.ok`"),
    "an or": ("x = T.ok or 1\n", "1: the truth of `T.ok`"),
    "hasattr, which a proxy always answers with yes": (
        "if hasattr(tilelang.PassConfigKey, 'X'):\n    y = 1\n",
        "1: the answer of `hasattr(tilelang.PassConfigKey, 'X')`",
    ),
    "getattr with another answer": ("x = getattr(T, 'x', None)\n", "1: the answer of `getattr(T, 'x', None)`"),
    "a number": ("x = float(T.top)\n", "1: the number of `float(T.top)`"),
    "a loop": ("for x in T.all_types:\n    pass\n", "1: the items of `T.all_types`"),
    "a comprehension": ("x = [y for y in T.all_types]\n", "1: the items of `T.all_types`"),
    "unpacking": ("a, b = T.pair\n", "1: unpacking the items of `(a, b)`"),
    "membership": ("x = T.a in (1, 2)\n", "1: the truth of `T.a in (1, 2)`"),
    "a chained comparison": ("x = 1 < T.a < 2\n", "1: the truth of `1 < T.a < 2`"),
    "identity": ("x = T.float is T.float32\n", "1: the identity of `T.float is T.float32`"),
    "identity with a constant": ("x = T.thing is None\n", "1: the identity of `T.thing is None`"),
    "isinstance": ("x = isinstance(T.a, int)\n", "1: the type of `isinstance(T.a, int)`"),
    "a context": ("with tilelang.quiet():\n    pass\n", "1: entering the context of `tilelang.quiet()`"),
    "a kernel built at import": (
        "@tilelang.jit\ndef k(n): ...\n\nbuilt = k(128)\n",
        "4: building or running of `k(128)`",
    ),
    "a part of a text": ("x = f'{T.float32}'.upper()\n", "1: `.upper` of `f'{T.float32}'`"),
    "a padded text": ("x = f'{T.float32!s:>10}'\n", "1: the text of `T.float32`"),
    "a quoted text": ("x = f'{T.float32!r}'\n", "1: the text of `T.float32`"),
    "the value of an enumeration's member": (
        "import enum\nclass E(enum.Enum):\n    A = T.float32\n",
        "3: the value of `T.float32`",
    ),
    "in a function that is called at import": (
        "def table():\n    return float(T.top)\n\nx = table()\n",
        "2: the number of `float(T.top)`",
    ),
    "what a function of the file is given": (
        "def pick(x, *, y=None):\n    return y is None\n\nz = pick(1, y=T.a)\n",
        "2: the identity of `y is None`",
    ),
    "what a function of the file returns": ("def f():\n    return T.a\n\nif f(): x = 1\n", "4: the truth of `f()`"),
    "a decorator of the file": (
        "def mark(k):\n    assert k\n    return k\n\n@mark\n@tilelang.jit\ndef k(n): ...\n",
        "2: the truth of `k`",
    ),
    "a text that is printed": (
        "print(f'{tilelang.__version__}')\n",
        "1: the text of `print(f'{tilelang.__version__}')`",
    ),
    "a value that is printed": ("print('x', tilelang.version)\n", "1: the text of `print('x', tilelang.version)`"),
    "the order of what holds values": (
        "x = sorted([T.a, T.b], key=str)\n",
        "1: the order of `sorted([T.a, T.b], key=str)`",
    ),
    "the comparison of an item": (
        "for d in [T.a, T.b]:\n    if d == 'a':\n        x = d\n",
        "2: the truth of `d == 'a'`",
    ),
    "the comparison of an attribute": (
        "class C: ...\nx = C(f'{T.a}')\nif x.d == 'a': y = 1\n",
        "3: the truth of `x.d == 'a'`",
    ),
    "an item among others": ("x = [d in ('a',) for d in [T.a]]\n", "1: the truth of `d in ('a',)`"),
    "a text that a function reads": (
        "NAME = f'k_{T.a}'\ndef path(n): return NAME + n\n",
        "2: the text of `NAME`, which may be read before the first call,",
    ),
    "in a lambda that is called at import": ("up = lambda d: str(d).upper()\nx = up(T.a)\n", "1: `.upper` of `str(d)`"),
    "in a lambda without a name": ("x = (lambda d: str(d).upper())(T.a)\n", "1: `.upper` of `str(d)`"),
    "the length of a text": ("n = len('%s' % T.a)\n", "1: the text of `len('%s' % T.a)`"),
    "an attempt that an except answers": (
        "try:\n    x = T.gone\nexcept AttributeError:\n    x = 1\n",
        "2: the success of `T.gone`",
    ),
    "a stored answer that is told from None": (
        "from ._tilelang._builtins import getattr\nx = getattr(T, 'x', None)\ndef f(): return x is None\n",
        "3: the identity of `x`",
    ),
    "an identity that a first use is part of": ("def f(d=T.a): return d is T.a\n", "1: the identity of `d`"),
    "an identity in a kernel with what a caller gave": (
        "@tilelang.jit\ndef k(d=T.a): assert d is T.a\n",
        "2: the identity of `d`",
    ),
    "an identity with an attribute of what a function imports": (
        "def f(d):\n    from ._tilelang import language as L\n    return d is L.a\n",
        "3: the identity of `d`",
    ),
    "an identity of a variable that a caller may have given": (
        "def f(d, n):\n    if n: d = T.b\n    return d is T.a\n",
        "3: the identity of `d`",
    ),
    "a built-in function that has a stand-in": (
        "from ._tilelang._builtins import float\nx = float(T.a)\ndef f(t): return t is float\n",
        "3: the identity of `float`",
    ),
    "a table of a class": (
        "class A:\n    m = {T.a: 1}\n    def f(self, k): return self.m[k]\n",
        "2: the keys of `{T.a: 1}`",
    ),
    "a table that grows": ("m = {}\nm[T.a] = 1\ndef f(k): return k in m\n", "2: the key of `T.a`"),
    "a table that is looked up and was not put off": (
        "m = {T.a: 1}\ndef f(k): return m.get(k)\n",
        "1: the keys of `{T.a: 1}`",
    ),
    "a set that is read whole": ("m = {T.a}\ndef f(): return sorted(m)\n", "1: the keys of `{T.a}`"),
    "a branch that was marked and no longer may wait": (
        "from ._tilelang._builtins import _loaded\nif _loaded() and (T.ok):\n    print(1)\n",
        "2: the truth of `_loaded() and T.ok`",
    ),
    "a kernel that reads a name which is bound again": (
        "N = 8\n@T.prim_func\ndef k(): return N\nN = 4\n",
        "3: `N` as `k` finds it, before line 5 changes it,",
    ),
    "a kernel that reads the name of a loop": (
        "for n in (32, 64):\n    @T.macro\n    def k(): return n\n",
        "3: `n` as `k` finds it, before line 2 changes it,",
    ),
    "a kernel that reads a name which is deleted": (
        "N = 8\n@T.prim_func\ndef k(): return N\ndel N\n",
        "3: `N` as `k` finds it, before line 5 changes it,",
    ),
    "a kernel that reads a table which grows": (
        "N = []\n@T.prim_func\ndef k(): return len(N)\nN.append(1)\n",
        "3: `N` as `k` finds it, before line 5 changes it,",
    ),
    "a kernel that reads what a function may set": (
        "N = 8\n@T.prim_func\ndef k(): return N\ndef f():\n    global N\n    N = 4\n",
        "3: `N` as `k` finds it, before line 6 changes it,",
    ),
    "a kernel that calls a function which reads it": (
        "N = 8\ndef size(): return N\n@T.prim_func\ndef k(): return size()\nN = 4\n",
        "4: `N` as `k` finds it, before line 6 changes it,",
    ),
    "a function that is given away": (
        "N = 8\ndef f(): return N\nk = T.prim_func(f)\nN = 4\n",
        "2: `N` as `f` finds it, before line 5 changes it,",
    ),
    "a cell that is bound again": (
        "def make(n):\n    @tilelang.jit\n    def k(): return n\n    n = 4\n    return k\nK = make(1)\n",
        "3: `n` as `k` finds it, before line 5 changes it,",
    ),
    "what runs unless the file is the program": (
        "if __name__ != '__main__':\n    x = float(T.top)\n",
        "2: the number of `float(T.top)`",
    ),
    "a pattern": ("match T.a:\n    case None: x = 1\n    case _: x = 2\n", "1: the pattern of `T.a`"),
    "a case of another pattern": ("match 1:\n    case 1 if T.ok: x = 1\n", "2: the truth of `T.ok`"),
    "in a class body": ("class A:\n    if T.ok:\n        x = 1\n", "2: the truth of `T.ok`"),
}


@pytest.mark.parametrize(("body", "found"), REFUSED.values(), ids=REFUSED)
def test_a_use_that_cannot_be_put_off_is_found_with_its_line(body: str, found: str) -> None:
    assert refusals(body) == [found]


ALLOWED = {
    "decorators with configurations": "@tilelang.jit(pass_configs={tilelang.PassConfigKey.A: True})\ndef k(n, d=T.f32): ...\n",
    "tables": "CONFIG = {tilelang.PassConfigKey.A: True}\nTYPES = [T.f32, T.f16]\nfor t in TYPES:\n    pass\n",
    "arithmetic and subscripts": "x = T.Tensor[4, 8] + 1\ny = -T.top * 2\n",
    "a comparison that is kept": "NEW = tilelang.__version__ >= '0.1.10'\n",
    "text that is kept": "NAME = f'kernel_{T.float32}'\n",
    "inside a function that is not called": "def f():\n    if T.ok:\n        return float(T.top)\n",
    "under main": "if __name__ == '__main__':\n    print(float(T.top))\n",
    "under main, the other way round and with more": (
        "import sys\nif '__main__' == __name__ and sys.argv[1:]:\n    print(float(T.top))\n"
    ),
    "what only a type checker sees": "import typing as t\nif t.TYPE_CHECKING:\n    x = float(T.top)\n",
    "a recorded number": "from ._tilelang._builtins import float\nx = float(T.top) * 2\n",
    "the name of something else": "import other as T\nif T.ok:\n    pass\n",
    "a plain table's truth": "CONFIG = {T.a: 1}\nif CONFIG:\n    pass\n",
    "a marked branch": (
        "from ._tilelang._builtins import _loaded\nif _loaded('x') and (T.ok):\n    x = {}\nelif _loaded():\n    x = [T.a]\n"
        "@tilelang.jit(x)\ndef k(n): ...\n"
    ),
    "a marked table": "from ._tilelang._builtins import _keyed\nm = _keyed({T.a: 1})\ndef f(k): return m[k]\n",
    "the identity of two attributes in a function": "def f(): return T.a is tilelang.b\n",
    "the identity of attributes of what a function imports": (
        "def f():\n    from ._tilelang import language as L\n    return L.a is T.a, T.a is L.a, L.a is L.b\n"
    ),
    "the identity of a variable that holds attributes": (
        "def f(n):\n    d = T.a if n else T.b\n    if n > 2:\n        d = tilelang.c\n    return d is T.a\n"
    ),
    "a test that reads a name which is bound again": (
        "N = 8\n@tilelang.testing.requires_cuda\ndef test(): return N\nN = 4\n"
    ),
    "a test that reads a kernel whose parts a function changes": (
        "@tilelang.jit\ndef k(): ...\ndef clear(): k.cache.clear()\n@T.macro\ndef m(): return k.cache\n"
    ),
    "an attempt to import": "try:\n    from ._tilelang import x\nexcept Exception:\n    x = None\n",
    "a kernel that is traced when it is called": "N = 8\n@tilelang.jit(out_idx=[1])\ndef k(): return N\nN = 4\n",
    "a kernel that reads what is not there yet": "@T.macro\ndef k(): return size()\ndef size(): return 8\n",
    "a table of its own": "CFG = dict(dtype=T.a, n=3)\n",
    "a kernel whose names stay": (
        "import math\nN = 8\nN = 4\n@T.prim_func\ndef k(A: T.Tensor((N,))):\n    n = 1\n    A[0] = math.pi * N + n\nn = 2\n"
        "if __name__ == '__main__':\n    N = 1\nimport math\n"
    ),
    "a parameter that hides the name": "def f(T):\n    return float(T.x)\n\nimport other\ny = f(other)\n",
}


@pytest.mark.parametrize("body", ALLOWED.values(), ids=ALLOWED)
def test_what_can_be_put_off_is_not_refused(body: str) -> None:
    assert refusals(body) == []


def test_a_use_names_its_line_and_itself() -> None:
    tree = ast.parse(HEAD + "if T.ok: pass\n")
    assert shim_analysis.refusals(tree, own) == (Use(2, "the truth of `T.ok`"),)
