"""`header:` puts a comment block above a file without breaking its head."""

import ast

import pytest

from vendor_tool.errors import UsageError
from vendor_tool.model import Context, Header, Source
from vendor_tool.transform import header

CONTEXT = Context("demo", {}, frozenset(), {})
TEXT = "Copyright Me\n\nAll mine.\n"


def headed(data: str | bytes, path: str = "x.py", text: str = TEXT) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return header.apply(Source(path, path, "", raw), Header(text), CONTEXT).data


BLOCK = "# Copyright Me\n#\n# All mine.\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("import os\n", BLOCK + "\nimport os\n", id="code: a blank line between"),
        pytest.param('"""Doc."""\n', BLOCK + '\n"""Doc."""\n', id="a docstring stays first"),
        pytest.param("# theirs\nx = 1\n", BLOCK + "#\n# theirs\nx = 1\n", id="a comment joins the block"),
        pytest.param("\nx = 1\n", BLOCK + "\nx = 1\n", id="a blank line is enough"),
        pytest.param("", BLOCK, id="an empty file"),
        pytest.param(
            "#!/usr/bin/env python\nx = 1\n", "#!/usr/bin/env python\n" + BLOCK + "\nx = 1\n", id="#! stays first"
        ),
        pytest.param(
            "#!/bin/x\n# vim: set fileencoding=utf-8 :\n# theirs\n",
            "#!/bin/x\n# vim: set fileencoding=utf-8 :\n" + BLOCK + "#\n# theirs\n",
            id="a coding line stays in the first two",
        ),
        pytest.param(
            "# theirs\n# -*- coding: ascii -*-\nx = 1\n",
            "# theirs\n# -*- coding: ascii -*-\n" + BLOCK + "\nx = 1\n",
            id="a coding line in line two",
        ),
        pytest.param(
            "x = 1\n# coding: latin-1\n", BLOCK + "\nx = 1\n# coding: latin-1\n", id="no coding line after code"
        ),
        pytest.param("x = 1\r\n", BLOCK.replace("\n", "\r\n") + "\r\nx = 1\r\n", id="CRLF"),
        pytest.param("x = 1\ry = 2\r", BLOCK.replace("\n", "\r") + "\rx = 1\ry = 2\r", id="lone CR"),
        pytest.param("\ufeffx = 1\n", "\ufeff" + BLOCK + "\nx = 1\n", id="BOM"),
        pytest.param("x = 1", BLOCK + "\nx = 1", id="no newline at the end"),
    ],
)
def test_python(given: str, expected: str) -> None:
    assert headed(given) == expected.encode()
    ast.parse(headed(given))


def test_doc_and_future_keep_their_places() -> None:
    result = headed('#!/usr/bin/python\n# coding: utf-8\n"""Doc é."""\nfrom __future__ import annotations\n')
    tree = ast.parse(result)
    assert ast.get_docstring(tree) == "Doc é."
    compile(result, "x.py", "exec")


def test_a_header_that_is_there_is_not_put_twice() -> None:
    once = headed("# theirs\nx = 1\n")
    source = Source("x.py", "x.py", "", once)
    change = header.apply(source, Header(TEXT), CONTEXT)
    assert change.data is once
    assert change.matched


def test_a_longer_last_line_is_another_header() -> None:
    assert headed(BLOCK.rstrip("\n") + " Or not.\n") == (BLOCK + "#\n" + BLOCK.rstrip("\n") + " Or not.\n").encode()


def test_the_text_is_written_in_the_encoding_of_the_file() -> None:
    given = b"# coding: latin-1\nx = '\xe9'\n"
    assert headed(given, text="© Me") == b"# coding: latin-1\n# \xa9 Me\n\nx = '\xe9'\n"


def test_a_text_that_the_encoding_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="`x.py`: its encoding `ascii` cannot hold the header"):
        headed("# coding: ascii\nx = 1\n", text="© Me")


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [
        ("k.cu", "int x;\n", "// Copyright Me\n//\n// All mine.\n\nint x;\n"),
        ("k.cuh", "// theirs\n", "// Copyright Me\n//\n// All mine.\n//\n// theirs\n"),
        ("run.sh", "#!/bin/sh\necho\n", "#!/bin/sh\n# Copyright Me\n#\n# All mine.\n\necho\n"),
        ("a.yaml", "a: 1\n", "# Copyright Me\n#\n# All mine.\n\na: 1\n"),
        ("README.md", "# Title\n", "<!--\nCopyright Me\n\nAll mine.\n-->\n\n# Title\n"),
        ("a.css", "a {}\n", "/*\n * Copyright Me\n *\n * All mine.\n */\n\na {}\n"),
        ("launch", "#!/usr/bin/env bash\n", "#!/usr/bin/env bash\n# Copyright Me\n#\n# All mine.\n"),
    ],
)
def test_other_files_have_their_own_marks(path: str, given: str, expected: str) -> None:
    assert headed(given, path) == expected.encode()
    assert headed(expected, path) == expected.encode()


@pytest.mark.parametrize("path", ["data.json", "LICENSE", "blob.bin"])
def test_a_kind_without_known_marks_is_refused(path: str) -> None:
    with pytest.raises(UsageError) as caught:
        headed("{}", path)
    assert f"`{path}`: no comment style is known for" in caught.value.message
    assert "`demo`" in caught.value.message
