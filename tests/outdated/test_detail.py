import pytest

from vendor_tool.outdated.detail import detail

OLD = b"import torch\n\n\ndef forward(q, k):\n    return q @ k\n\n\ndef helper(x):\n    return x\n"
NEW = b"""import torch

try:
    import fast
except ImportError:
    fast = None


def forward(q, k, scale=1.0):
    return q @ k


def backward(g):
    import slow

    return g
"""


def test_users_of_a_file_read_what_they_would_notice() -> None:
    assert detail(OLD, NEW) == (
        "new import of `fast` (guarded), `slow` (inside a function); `backward` added; `helper` removed; "
        "`forward` with another signature; 10 lines added, 3 removed"
    )


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (OLD, OLD, "no change"),
        (OLD, OLD.replace(b"(q, k)", b"(q,k)"), "formatting only"),
        (b"import b\nimport a\n", b"import a\nimport b\n", "formatting and order of imports only"),
        (OLD, b"# head\n" + OLD, "comments only"),
        (OLD, OLD.replace(b"q @ k", b"k @ q"), "`forward` with another body; 1 line added, 1 removed"),
        (b"X = 1\n", b"X = 2\nY = 3\n", "2 lines added, 1 removed"),
        (b"__global__ void f();\n", b"__global__ void f(int);\n", "1 line added, 1 removed"),
    ],
)
def test_smallest_true_description_is_given(old: bytes, new: bytes, text: str) -> None:
    assert detail(old, new) == text


def test_long_lists_are_cut_and_counted() -> None:
    many = b"".join(b"def f%d():\n    pass\n" % number for number in range(9))
    assert detail(b"", many) == "`f0`, `f1`, `f2`, `f3`, `f4`, `f5` and 3 more added; 18 lines added, 0 removed"
