"""Names that copies import from elsewhere than upstream's files do."""

import pytest

from vendor_tool.adoption.renames import Texts, renames


def found(upstream: str, local: str, *, path: str = "pkg/ops/fwd.py", to: str = "lib/k/fwd.py") -> dict[str, str]:
    return renames([Texts(path, to, upstream.encode(), local.encode())])


@pytest.mark.parametrize(
    ("upstream", "local", "names"),
    [
        ("import a\n", "import a\n", {}),
        ("import a\n", "from x import a\n", {"a": "x.a"}),
        ("import a.b as c\n", "from x import c\n", {"a.b": "x.c"}),
        ("from a import b as c\n", "from x import c\n", {"a.b": "x.c"}),
        ("from a import b, c\n", "from x import b, c\n", {"a": "x"}),
        ("from a import b\n", "from ._s import b\n", {"a": ".lib.k._s"}),
        ("from a import b\n", "from .. import b\n", {"a": ".lib"}),
        ("from ..util import b\n", "from mine.util import b\n", {"pkg.util": "mine.util"}),
        ("from .fwd import b\n", "from .fwd import b\n", {}),
        ("from pkg.ops.fwd import b\n", "from .fwd import b\n", {}),
        ("from a import b\nfrom a.c import d\n", "from x import b\nfrom a.c import d\n", {"a": "x", "a.c": "a.c"}),
        ("def f():\n    import a\n", "def f():\n    from x import a\n", {"a": "x.a"}),
        ("import a\n", "pass\n", {}),
        ("import a\n", "from x import (\n", {}),
        ("from a import *\n", "from x import *\n", {"a": "x"}),
    ],
)
def test_bound_names_tell_which_module_took_the_place_of_which(
    upstream: str, local: str, names: dict[str, str]
) -> None:
    assert found(upstream, local) == names


def test_most_copies_decide() -> None:
    texts = [
        Texts(f"pkg/{name}.py", f"lib/{name}.py", b"import a\n", f"from {new} import a\n".encode())
        for name, new in (("p", "x"), ("q", "y"), ("r", "y"))
    ]
    assert renames(texts) == {"a": "y.a"}
