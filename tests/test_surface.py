import pytest

from vendor_tool.surface import Import, Surface, fixlike, surface

OLD = """\
import torch
from .layers import scale

try:
    import fast
except ImportError:
    fast = None


class Attention:
    def forward(self, q):
        return q

    def backward(self, grad):
        return grad


def run(x, tile=64):
    import lazy

    return scale(x)


def helper(x):
    return x
"""


def changed(*replacements: tuple[str, str]) -> Surface:
    text = OLD
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    found = surface(OLD.encode(), text.encode())
    assert found is not None
    return found


def test_functions_classes_and_methods_that_change_are_told_apart() -> None:
    found = changed(
        ("def helper", "def assist"),
        ("tile=64", "tile=32"),
        ("return grad\n", "return -grad\n"),
    )
    assert found == Surface(added=("assist",), removed=("helper",), signature=("run",), body=("Attention.backward",))


def test_layout_and_comments_are_only_that() -> None:
    assert changed(("def run(x, tile=64):", "def run(\n    x,\n    tile=64,\n):  # hot")) == Surface(
        formatting_only=True
    )
    assert changed() == Surface(formatting_only=True)


@pytest.mark.parametrize(
    ("old", "new", "imports"),
    [
        ("import torch\n", "import os\nimport torch\n", [Import("os", "module", 1)]),
        ("import torch\n", "import torch, a.b\n", [Import("a.b", "module", 1)]),
        ("import torch\n", "import torch\nfrom torch import nn\n", []),
        ("import torch\n", "import torch\nfrom other.part import x\n", [Import("other.part", "module", 2)]),
        ("import scale", "import pad, scale", [Import(".layers.pad", "module", 2)]),
        ("from .layers", "from . import masks\nfrom .layers", [Import(".masks", "module", 2)]),
        ("    import fast\n", "    import fast\n    import faster\n", [Import("faster", "guarded", 6)]),
        ("    import lazy\n", "    import lazy\n    import lazier\n", [Import("lazier", "function", 20)]),
        ("import torch\n", "import torch\nimport lazy\n", [Import("lazy", "module", 2)]),
        ("    return scale(x)\n", "    import torch\n    return scale(x)\n", []),
        ("import torch\n", "import torch\nif torch.cuda:\n    import cupy\n", [Import("cupy", "guarded", 3)]),
    ],
)
def test_new_imports_are_told_with_their_place(old: str, new: str, imports: list[Import]) -> None:
    assert list(changed((old, new)).imports) == imports


def test_what_is_not_python_has_no_surface() -> None:
    assert surface(b"a = 1\n", b"a = (\n") is None
    assert surface(b"\0", b"") is None


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("Fix NaN gradients of sparse attention", "Fix"),
        ("avoid NaN in backward", "NaN"),
        ("[BugFix] wrong mask", "BugFix"),
        ('Revert "faster top-k"', "Revert"),
        ("guard against int32 overflow", "overflow"),
        ("data race between warps", "race"),
        ("deadlock when the queue is full", "deadlock"),
        ("kernel hangs on one row", "hangs"),
        ("incorrect stride", "incorrect"),
        ("memory leak", "leak"),
        ("fixes #12: typo in stride", "fixes"),
        ("Fix typo in docs and wrong stride", "wrong"),
        ("Update kernel\n\nThe old one overflowed.", "overflowed"),
    ],
)
def test_messages_of_fixes_are_known_by_a_word(message: str, word: str) -> None:
    subject, _, body = message.partition("\n")
    assert fixlike(subject, body) == word


@pytest.mark.parametrize(
    "message",
    [
        "add prefix cache",
        "suffix array",
        "test fixtures",
        "trace memory",
        "nanoseconds",
        "leaky relu",
        "race-free init",
        "Fix typo in docs",
        "fix lint",
        "fix some comments",
        "changes",
        "braces",
        "prehangs",
    ],
)
def test_words_that_only_hold_such_a_word_do_not_count(message: str) -> None:
    assert fixlike(message) is None
