"""Source is read as Python reads it, and text outside an edit never changes."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vendor_tool.errors import UsageError
from vendor_tool.model import Context, Imports, Source
from vendor_tool.transform import imports, syntax


def source(data: bytes) -> Source:
    return Source("a/x.py", "v/x.py", "", data)


@pytest.mark.parametrize(
    ("data", "names", "expected"),
    [
        (b"import tilelang\n", ["tilelang"], True),
        (b"x = tilelang.language\n", ["tilelang"], True),
        (b"'tilelang'", ["tilelang"], True),
        (b"import tilelang_extra, tilelangx\n", ["tilelang"], False),
        (b"from .tilelang import x\n", ["tilelang"], False),
        (b"my_tilelang = 1\n", ["tilelang"], False),
        ("étilelang = tilelangé".encode(), ["tilelang"], False),
        (b"a.b.c", ["a.b"], True),
        (b"a.bc", ["a.b"], False),
        (b"x.a.b", ["a.b"], False),
        (b"triton", ["tilelang", "triton"], True),
        (b"anything", [], False),
    ],
)
def test_mentions_looks_for_whole_dotted_words(data: bytes, names: list[str], expected: bool) -> None:
    assert syntax.mentions(data, names) is expected


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"x = 1\n", b""),
        (b"#!/bin/x\nx = 1\n", b"#!/bin/x\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx\n", b"\xef\xbb\xbf# coding: utf-8\n"),
        (b"# one\n# coding: utf-8\n# three\n", b"# one\n# coding: utf-8\n"),
        (b"x = 1\n# coding: utf-8\n", b""),
        (b"# one\n# two\n# coding: utf-8\n", b""),
        (b"#!/bin/x\r\n# -*- coding: latin-1 -*-\r\n", b"#!/bin/x\r\n# -*- coding: latin-1 -*-\r\n"),
    ],
)
def test_prelude_is_what_must_stay_first(data: bytes, kept: bytes) -> None:
    assert data[: syntax.prelude(data)] == kept


def test_a_rendered_module_is_not_parsed_again() -> None:
    module = syntax.parse(source(b"x = 1\n"))
    changed = module.with_changes(body=[*module.body, *module.body])
    data = syntax.render(changed)
    assert data == b"x = 1\nx = 1\n"
    assert syntax.parse(source(data)) is changed


def test_what_libcst_would_not_give_back_is_refused() -> None:
    with pytest.raises(UsageError, match="form feeds or lone carriage returns would be lost"):
        syntax.parse(source(b"x = 1\ry = 2\r"))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = (\n", "`a/x.py:1`: not Python that can be parsed"),
        (b"x = 1\ny = = 2\n", "`a/x.py:2`: not Python that can be parsed"),
        (b"x = '\xe9'\n", "`a/x.py:1`: not Python that can be parsed"),
        (b"# coding: nothing-known\n", "`a/x.py:1`: not Python that can be parsed"),
        (b"x = '\0'\n", "`a/x.py:1`: not Python that can be parsed"),
    ],
)
def test_what_is_not_python_is_refused_with_its_place(data: bytes, why: str) -> None:
    with pytest.raises(UsageError) as tree:
        syntax.tree(source(data))
    assert tree.value.message.startswith(why)


@pytest.mark.parametrize("data", [b"x = (\n", b"x = '\xe9'\n", b"# coding: nothing-known\n"])
def test_what_libcst_cannot_read_is_refused_with_its_place(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"`a/x\.py:\d`: not Python that can be parsed"):
        syntax.parse(source(data))


def test_an_invalid_escape_is_the_upstreams_business() -> None:
    assert len(syntax.tree(source(b"x = '\\d'\n")).body) == 1


@pytest.mark.parametrize("data", [b"# coding: nothing-known\nx\n", b"x = '\xe9'\n"])
def test_text_that_cannot_be_decoded_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="`a/x.py:1`"):
        syntax.text(source(data))


LINES = st.sampled_from(
    [
        "x = 'é'",
        "# ü from a.y import z",
        "",
        "if x:",
        "    pass",
        '"""',
        "\tt = 1",
        "y = 1; z = 2",
        "\x0c",
        "s = '\\u2028\u2028'",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=8), st.lists(st.tuples(LINES, ENDS), max_size=8), ENDS, st.booleans())
def test_only_the_import_changes(
    before: list[tuple[str, str]], after: list[tuple[str, str]], end: str, mark: bool
) -> None:
    head = ("\ufeff" if mark else "") + "".join(line + ending for line, ending in before)
    tail = "".join(line + ending for line, ending in after)
    data = f"{head}from a.y import (z){end}{tail}".encode()
    given_source = Source("a/x.py", "v/x.py", "", data)
    try:
        found = [n for n in syntax.imports(given_source) if n.end_lineno == n.lineno]
    except UsageError:
        return
    files = {"a/x.py": "v/x.py", "a/y.py": "v/y.py"}
    result = imports.apply(given_source, Imports(), Context("u", files, frozenset(files), {})).data
    if found:
        assert result == f"{head}from .y import (z){end}{tail}".encode()
        ast.parse(result)
    else:  # it stands inside of a string
        assert result is data
