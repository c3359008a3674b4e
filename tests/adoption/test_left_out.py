"""Definitions that upstream's file has and the copy has not."""

import pytest

from vendor_tool.adoption.left_out import names

CODE = b"def f():\n    pass\n\n\nclass C:\n    def m(self):\n        pass\n\n\nX = 1\n"
MAIN = b'\n\nif __name__ == "__main__":\n    f()\n'


@pytest.mark.parametrize(
    ("upstream", "local", "gone"),
    [
        (CODE, CODE, ()),
        (CODE, CODE.replace(b"def f():\n    pass\n\n\n", b""), ("f",)),
        (CODE, CODE[: CODE.index(b"\n\nclass")], ("C",)),
        (CODE, CODE.replace(b"X = 1\n", b""), ()),
        (CODE + MAIN, CODE, ("__main__",)),
        (CODE, b"def other():\n    pass\n", ("C", "f")),
        (b"def f(:\n", CODE, ()),
        (CODE, b"def f(:\n", ()),
    ],
)
def test_whole_functions_classes_and_the_main_block_are_told(
    upstream: bytes, local: bytes, gone: tuple[str, ...]
) -> None:
    assert names(upstream, local, "k.py") == gone
    assert names(upstream, local, "k.txt") == ()
