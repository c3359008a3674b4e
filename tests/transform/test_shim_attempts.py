import ast
import textwrap

import pytest

from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim, shim_proof

SHIMS = {"tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", At(1, 1), names={"T": "tilelang.language"})}

AROUND = {
    "an except": "try:\n    {}\nexcept {}: pass\n",
    "suppress": "import contextlib\nwith contextlib.suppress({1}):\n    {0}\n",
    "suppress of a module under another name": "import contextlib as c\nwith c.suppress({1}):\n    {0}\n",
    "suppress under another name": "from contextlib import suppress as quiet\nwith quiet({1}):\n    {0}\n",
    "suppress under a name that is assigned": "import contextlib\nquiet = contextlib.suppress\nwith quiet({1}):\n    {0}\n",
    "suppress that is stored": "from contextlib import suppress\nQUIET = suppress({1})\nwith QUIET:\n    {0}\n",
    "suppress on a stack": (
        "from contextlib import *\nwith ExitStack() as stack:\n    stack.enter_context(suppress({1}))\n    {0}\n"
    ),
    "suppress beside another context": "import contextlib, io\nwith io.StringIO(), contextlib.suppress({1}):\n    {0}\n",
    "exceptions that are stored": "ERRORS = (ValueError, {1})\ntry:\n    {0}\nexcept (*ERRORS, KeyError): pass\n",
    "exceptions under another name": "from builtins import {1} as Wrong\ntry:\n    {0}\nexcept Wrong: pass\n",
    "exceptions that are added up": "try:\n    {0}\nexcept (KeyError,) + ({1},): pass\n",
    "exceptions that a function gives": "def errors(): return {1}\ntry:\n    {0}\nexcept errors(): pass\n",
    "a context of the file": (
        "import contextlib\n@contextlib.contextmanager\ndef quiet():\n    try:\n        yield\n    except {1}: pass\n"
        "with quiet():\n    {0}\n"
    ),
    "a class of the file": (
        "class Quiet:\n    def __enter__(self): ...\n    def __exit__(self, kind, *rest): return kind is {1}\n"
        "with Quiet():\n    {0}\n"
    ),
}


def vendored(text: str) -> bytes:
    context = Context("up", {}, frozenset(), SHIMS)
    return shim.apply(Source("ops/k.py", "vendored/k.py", "", text.encode()), Shim(("tilelang",)), context).data


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_an_import_whose_failure_is_answered_fails_where_the_module_is_not_installed(around: str) -> None:
    final = vendored(around.format("import tilelang", "ImportError")).decode()
    ast.parse(final)
    assert "from ._tilelang._if_installed import tilelang\n" in final


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_an_attempt_whose_failure_is_answered_is_refused(around: str) -> None:
    final = vendored("import tilelang.language as T\n" + around.format("x = T.gone", "AttributeError"))
    [found] = shim_proof.static("vendored/k.py", final, SHIMS)
    assert found.message.startswith("the success of `T.gone` is needed")


NOT_AROUND = {
    "an except of another exception": "try:\n    {}\nexcept KeyError: pass\n",
    "a context of another exception": "import contextlib\nwith contextlib.suppress(KeyError):\n    {}\n",
    "a context that answers nothing": "import contextlib\nwith contextlib.nullcontext():\n    {}\n",
    "a context of the file that only cleans up": (
        "import contextlib\n@contextlib.contextmanager\ndef timed():\n    try:\n        yield\n    finally:\n        pass\n"
        "with timed():\n    {}\n"
    ),
    "a context of the file that raises something else": (
        "import contextlib\n@contextlib.contextmanager\ndef told():\n    try:\n        yield\n"
        "    except ImportError as error:\n        raise RuntimeError('no') from error\nwith told():\n    {}\n"
    ),
    "a class of the file that only cleans up": (
        "class Timed:\n    def __enter__(self): ...\n    def __exit__(self, *error): return None\nwith Timed():\n    {}\n"
    ),
}


@pytest.mark.parametrize("around", NOT_AROUND.values(), ids=NOT_AROUND)
def test_an_import_whose_failure_nobody_answers_is_put_off(around: str) -> None:
    final = vendored(around.format("import tilelang")).decode()
    assert "from ._tilelang import tilelang\n" in textwrap.dedent(final)
