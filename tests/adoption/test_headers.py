"""The comment above a copy that upstream's file has not is what a `header` rule would put there."""

import pytest

from vendor_tool.adoption.headers import header, shared
from vendor_tool.model import Context, Header, Source
from vendor_tool.transform import header as rule

CODE = b'import os\n\n\nprint("x")\n'
COMMENTED = b"# made upstream\nimport os\n"


@pytest.mark.parametrize(
    ("path", "upstream", "text"),
    [
        ("k.py", CODE, "Copyright me"),
        ("k.py", CODE, "Copyright me\n\n  indented\nend"),
        ("k.py", COMMENTED, "Copyright me\n\nsecond"),
        ("k.py", b"#!/bin/env python\n# -*- coding: utf-8 -*-\n" + CODE, "Copyright me"),
        ("k.py", b"\xef\xbb\xbf" + CODE, "Copyright me"),
        ("k.cu", b"int x;\n", "Copyright me"),
        ("k.cu", b"// of upstream\nint x;\n", "Copyright me"),
        ("k.py", b'"""A docstring."""\n', "Copyright ©"),
        ("k.py", CODE.replace(b"\n", b"\r\n"), "Copyright me\nend"),
    ],
)
def test_what_the_rule_puts_above_a_file_is_found_again(path: str, upstream: bytes, text: str) -> None:
    context = Context("demo", {}, frozenset(), {})
    made = rule.apply(Source(path, path, "", upstream), Header(text), context).data
    assert header(made, upstream, path) == text
    assert header(made + b"more = 1\n", upstream, path) == text


@pytest.mark.parametrize(
    ("path", "local", "upstream"),
    [
        pytest.param("k.py", CODE, CODE, id="no comment"),
        pytest.param("k.py", b"# a\n" + CODE, CODE, id="no blank line below"),
        pytest.param("k.py", b"#a\n\n" + CODE, CODE, id="no blank behind the mark"),
        pytest.param("k.py", b"# a \n\n" + CODE, CODE, id="blanks at the end"),
        pytest.param("k.py", b"# a\n# made upstream\n", COMMENTED, id="no bare mark above upstream's comment"),
        pytest.param("k.py", b"#\n# a\n#\n\n" + CODE, CODE, id="bare marks around it"),
        pytest.param("k.py", b"# {holders}\n\n" + CODE, CODE, id="braces that would be filled in"),
        pytest.param("k.py", b"# \xff\n\n" + CODE, CODE, id="no UTF-8"),
        pytest.param("k.md", b"<!--\na\n-->\n\n# A\n", b"# A\n", id="a block with a mark at its end"),
        pytest.param("k.bin", b"# a\n\nx\n", b"x\n", id="no known comment"),
        pytest.param("k.py", b"# a\n", COMMENTED, id="another comment"),
    ],
)
def test_what_the_rule_could_not_write_is_no_header(path: str, local: bytes, upstream: bytes) -> None:
    assert header(local, upstream, path) is None


def test_the_most_frequent_header_is_shared_where_every_file_has_one() -> None:
    assert shared({"a": "x", "b": "y", "c": "y"}) == "y"
    assert shared({"a": "x", "b": "y"}) == "x"
    assert shared({"a": "x", "b": None}) is None
    assert shared({}) is None
