"""Definitions that upstream's file has and the copy has not."""

import pytest

from vendor_tool.adoption.left_out import choices

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
    assert dict(choices(upstream, local, "k.py")) == ({"drop": gone} if gone else {})
    assert not [*choices(upstream, local, "k.txt")]


def test_of_a_file_of_which_little_was_taken_that_little_is_named_first() -> None:
    kept = b"X = 1\n"
    assert [*choices(CODE + MAIN, kept, "k.py")] == [("only", ("X",)), ("drop", ("C", "__main__", "f"))]
    assert [*choices(CODE, kept, "k.py")] == [("drop", ("C", "f"))]
