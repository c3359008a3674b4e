"""Names are found by reading source, through every kind of re-export."""

from collections.abc import Collection, Mapping

import pytest

from vendor_tool.errors import UpstreamError
from vendor_tool.transform import symbols
from vendor_tool.transform.symbols import Definition

TREE = {
    "src/kit/__init__.py": "",
    "src/kit/ops/__init__.py": (
        "from .norm import normalize, _hidden\n"
        "from .norm import normalize as scale\n"
        "from . import deep as inner\n"
        "from .stars import *\n"
        "import os\n"
        "from torch import relu\n"
        "from kit.ops.late import late as absolute\n"
        "VALUE: int = 3\n"
        "if VALUE:\n    def branch(): ...\nelse:\n    branch = None\n"
        "try:\n    from .missing_file import gone\nexcept ImportError:\n    pass\n"
        "loop = 1\n"
        "from .circle import turn\n"
    ),
    "src/kit/ops/norm.py": "\n\ndef normalize(x):\n    def inside(): ...\n\nclass Norm:\n    size = 1\n    def run(self): ...\n_hidden = 2\n",
    "src/kit/ops/deep/__init__.py": "from ..norm import Norm\n",
    "src/kit/ops/stars.py": "from .listed import *\nfrom .norm import *\ndef shown(): ...\ndef _private(): ...\n",
    "src/kit/ops/listed.py": "__all__ = ['one']\n__all__ += ['_two']\none = 1\n_two = 2\nthree = 3\n",
    "src/kit/ops/late.py": "def late(): ...\n",
    "src/kit/ops/circle.py": "from . import turn\n",
    "src/kit/space/mod.py": "x = y = 1\n(a, b) = 1, 2\n",
    "ring/__init__.py": "from .a import *\n",
    "ring/a.py": "from .b import *\n",
    "ring/b.py": "from .a import *\nfrom . import *\n",
    "tool.py": "def go(): ...\n",
    "broken.py": "def (\n",
}


def find(name: str, asked: list[str] | None = None) -> Definition:
    def read(paths: Collection[str]) -> Mapping[str, bytes]:
        if asked is not None:
            asked.extend(paths)
        return {path: TREE[path].encode() for path in paths}

    return symbols.find(name, TREE.keys(), read)


@pytest.mark.parametrize(
    ("name", "path", "line"),
    [
        ("kit", "src/kit/__init__.py", 1),
        ("kit.ops", "src/kit/ops/__init__.py", 1),
        ("kit.ops.norm", "src/kit/ops/norm.py", 1),
        ("kit.ops.norm.normalize", "src/kit/ops/norm.py", 3),
        ("kit.ops.normalize", "src/kit/ops/norm.py", 3),
        ("kit.ops.scale", "src/kit/ops/norm.py", 3),
        ("kit.ops._hidden", "src/kit/ops/norm.py", 9),
        ("kit.ops.inner", "src/kit/ops/deep/__init__.py", 1),
        ("kit.ops.inner.Norm", "src/kit/ops/norm.py", 6),
        ("kit.ops.inner.Norm.run", "src/kit/ops/norm.py", 8),
        ("kit.ops.norm.Norm.size", "src/kit/ops/norm.py", 7),
        ("kit.ops.shown", "src/kit/ops/stars.py", 3),
        ("kit.ops.one", "src/kit/ops/listed.py", 3),
        ("kit.ops.stars._two", "src/kit/ops/listed.py", 4),
        ("kit.ops.absolute", "src/kit/ops/late.py", 1),
        ("kit.ops.VALUE", "src/kit/ops/__init__.py", 8),
        ("kit.ops.branch", "src/kit/ops/__init__.py", 12),
        ("kit.space.mod.y", "src/kit/space/mod.py", 1),
        ("kit.space.mod.b", "src/kit/space/mod.py", 2),
        ("tool.go", "tool.py", 1),
        ("tool", "tool.py", 1),
    ],
)
def test_found(name: str, path: str, line: int) -> None:
    assert find(name) == Definition(path, line)


@pytest.mark.parametrize(
    ("name", "why", "hint"),
    [
        (
            "kit.ops.normalise",
            "`src/kit/ops/__init__.py` defines no `normalise`",
            "did you mean `normalize` or `norm`?",
        ),
        ("kit.opps.x", "`src/kit/__init__.py` defines no `opps`", "did you mean `ops`?"),
        ("kid.ops", "the upstream has no module `kid`", "did you mean `kit`?"),
        ("kit.ops._private", "`src/kit/ops/__init__.py` defines no `_private`", None),
        ("kit.ops._two", "`src/kit/ops/__init__.py` defines no `_two`", None),
        ("kit.ops.three", "`src/kit/ops/__init__.py` defines no `three`", None),
        ("kit.ops.norm.inside", "`src/kit/ops/norm.py` defines no `inside`", None),
        (
            "kit.ops.relu",
            "`src/kit/ops/__init__.py:6` takes it from outside the upstream: `from torch import relu`",
            "name the module that it comes from",
        ),
        (
            "kit.ops.gone",
            "`src/kit/ops/__init__.py:14` takes it from outside the upstream: `from .missing_file import gone`",
            None,
        ),
        ("kit.ops.turn", "`src/kit/ops/circle.py:1` imports it in a circle: `from . import turn`", None),
        ("kit.ops.VALUE.real", "what `real` belongs to is made at run time, in `src/kit/ops/__init__.py:8`", None),
        ("kit.ops.norm.Norm.walk", "class `Norm` in `src/kit/ops/norm.py:6` has no `walk`", None),
        ("ring.x", "`ring/__init__.py` defines no `x`", None),
        ("kit.space", "the folder `src/kit/space` has no `__init__.py`", None),
        ("broken.x", "`broken.py` is not Python that can be parsed", None),
    ],
)
def test_the_first_step_that_is_missing_is_named(name: str, why: str, hint: str | None) -> None:
    with pytest.raises(UpstreamError) as caught:
        find(name)
    assert caught.value.message.startswith(f"`{name}` is not there: {why}")
    if hint is not None:
        assert caught.value.hint == hint


def test_only_the_files_on_the_way_are_read_and_each_once() -> None:
    asked: list[str] = []
    find("kit.ops.inner.Norm.run", asked)
    assert asked == ["src/kit/ops/__init__.py", "src/kit/ops/deep/__init__.py", "src/kit/ops/norm.py"]


ONE = b"""
import os

@deco
def f(a, /, b: int = 1, *c, d=2, **e) -> str:
    "doc"
    return a

class A(B, metaclass=M):
    async def m(self): pass
"""

SAME = b"""# moved
@deco
def f( a, /, b: int=1, *c, d = 2, **e )->str:

    "doc"   # said
    return ( a )
class A(B, metaclass = M):
    # inside
    async def m(self):
        pass
"""


def test_outline_lists_functions_classes_and_methods() -> None:
    found = symbols.outline(ONE)
    assert {name: (s.kind, s.signature, s.line, s.end_line) for name, s in found.items()} == {
        "f": ("function", "(a, /, b: int=1, *c, d=2, **e) -> str", 4, 7),
        "A": ("class", "(B, M)", 9, 10),
        "A.m": ("method", "(self)", 10, 10),
    }


def test_digests_see_code_and_neither_layout_nor_comments() -> None:
    one, same = symbols.outline(ONE), symbols.outline(SAME)
    assert {name: s.digest for name, s in one.items()} == {name: s.digest for name, s in same.items()}
    changed = symbols.outline(ONE.replace(b"return a", b"return b"))
    assert {name for name in one if one[name].digest != changed[name].digest} == {"f"}
    redecorated = symbols.outline(ONE.replace(b"@deco", b"@other"))
    assert {name for name in one if one[name].digest != redecorated[name].digest} == {"f"}
