import subprocess
import sys

import pytest

from vendor_tool.outdated.formatting import difference, explained

UGLY = b'''import b, os
import a
from x import (z,
    y)
def kernel(a,b):
      """ Adds.

          More.   """
      # keep this
      return {'a':a,   'b':b}   # and this
'''


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (b"x = 1\n", b"x = 1\n", "none"),
        (b"x = 'a'\n", b'x = "a"\n', "format"),
        (b"f(a, b)\n", b"f(\n    a,\n    b,\n)\n", "format"),
        (b"x = 1\r\n", b"x = 1\n", "format"),
        (b"x = 1 #a\n", b"x = 1  # a\n", "format"),
        (b'def f():\n  """ a\n    b """\n', b'def f():\n    """a\n    b"""\n', "format"),
        (b"import b\nimport a\n", b"import a\nimport b\n", "imports"),
        (b"import a, b\n", b"import a\nimport b\n", "imports"),
        (b"from x import b\nfrom x import a\n", b"from x import a, b\n", "imports"),
        (b"x = 1  # a\n", b"x = 1  # b\n", "comments"),
        (b"x = 1\n", b"# head\nx = 1\n", "comments"),
        (b"import a\nf()\nimport b\n", b"import b\nf()\nimport a\n", "code"),
        (b"import a as b\n", b"import a\n", "code"),
        (b"from . import a\n", b"from .. import a\n", "code"),
        (b"x = 1\n", b"x = 2\n", "code"),
        (b"x = 1\n", b"x = True\n", "code"),
        (b"x = 'a b'\n", b"x = 'a  b'\n", "code"),
        (b"f(\n  a\n)\n", b"f(\n  a,\n  *b\n)\n", "code"),
        (b"no = = python \n\n", b"no = = python\n", "format"),
        (b"no = = python\n", b"no = =  python\n", "code"),
        (b"x = 1\n", b"x = = 1\n", "code"),
    ],
)
def test_difference_is_called_what_it_is(old: bytes, new: bytes, kind: str) -> None:
    assert difference(old, new) == kind
    assert difference(new, old) == kind


def test_what_ruff_does_is_format_and_what_isort_does_besides_is_imports() -> None:
    ruff = [sys.executable, "-m", "ruff"]
    formatted = subprocess.run(
        [*ruff, "format", "--isolated", "-"], input=UGLY, stdout=subprocess.PIPE, check=True
    ).stdout
    both = subprocess.run(
        [*ruff, "check", "--isolated", "--quiet", "--select", "I", "--fix", "-"],
        input=formatted,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert formatted != UGLY
    assert both != formatted
    assert (difference(UGLY, formatted), difference(UGLY, both)) == ("format", "imports")


def test_tool_versions_explain_a_difference() -> None:
    assert explained({"ruff": "0.9.10", "libcst": "1.5.0"}, {"ruff": "0.12.1", "libcst": "1.5.0"}) == (
        "ruff 0.9.10 in the lock, 0.12.1 here"
    )
    assert explained({"ruff": "0.9.10"}, {"ruff": "0.9.10"}) is None
    assert explained({"ruff": "0.9.10"}, {}) is None
