"""The package docstring: the tool's part inside whatever the project says there itself."""

import ast
from dataclasses import replace

import pytest

from tests.support import rights
from vendor_tool.documents import docstring
from vendor_tool.errors import UsageError

FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 1\n")
LOCK = rights.lock(replace(rights.upstream(FILE), docstring=True))
PATH = "vendored/mid/__init__.py"
B = rights.REVISION
PART = f"""\
{docstring.BEGIN}
mid
---
* Project: https://github.com/mid/plugins
* Branch: ``main``
* Revision: ``{B}``
* Date of the revision: 2026-03-04T05:06:07+01:00
* Source tree: https://github.com/mid/plugins/tree/{B}/ops
* Licence: Apache-2.0
* Licence text: ``vendored/LICENSES/mid/LICENSE``
* Licence file: ``LICENSE``
* Copyright notice: Copyright 2025 Mid Labs
* NOTICE file: none at this revision
* Parity: not verified on a GPU

Files:

==========  ==============
Local file  Upstream file
==========  ==============
``fwd.py``  ``ops/fwd.py``
==========  ==============

Local modifications:

* imports: modules of the project itself are imported from their vendored copies
{docstring.END}
"""


def render(current: str | None) -> str:
    texts = {} if current is None else {PATH: current.encode()}
    found = docstring.render(LOCK, texts)
    assert list(found) == [PATH]
    again = docstring.render(LOCK, {PATH: found[PATH]})
    assert again == found
    return found[PATH].decode()


def test_a_new_package_gets_a_file_that_is_a_docstring() -> None:
    assert render(None) == f'"""Files vendored from mid.\n\n{PART}"""\n'


@pytest.mark.parametrize(
    ("current", "wanted"),
    [
        ('"""Our package."""\n\nfrom .fwd import go\n', f'"""Our package.\n\n{PART}"""\n\nfrom .fwd import go\n'),
        (
            '# Copyright us\n"""Our package.\n\nMore.\n"""\nx = 1\n',
            f'# Copyright us\n"""Our package.\n\nMore.\n\n{PART}"""\nx = 1\n',
        ),
        ("# Copyright us\nx = 1\n", f'# Copyright us\n"""Vendored files.\n\n{PART}"""\nx = 1\n'),
        ("", f'"""Vendored files.\n\n{PART}"""\n'),
    ],
    ids=["one-line", "several-lines", "none", "empty"],
)
def test_the_project_s_own_words_and_code_stay(current: str, wanted: str) -> None:
    assert render(current) == wanted
    ast.parse(wanted)


def test_words_of_the_lock_cannot_end_the_docstring() -> None:
    license_ = replace(rights.MID_LICENSE, holders=('Copyright 2024 """ \\N{x} A',))
    lock = rights.lock(replace(rights.upstream(FILE, license_=license_), docstring=True))
    found = docstring.render(lock, {})[PATH]
    assert "Copyright 2024 ''' \\N{x} A" in (ast.get_docstring(ast.parse(found)) or "")


@pytest.mark.parametrize(
    ("current", "message"),
    [("def f(:\n", "not Python"), ("'one line'\n", "the docstring is not in triple quotes")],
    ids=["no-python", "single-quotes"],
)
def test_a_file_that_cannot_be_written_to_safely_is_refused(current: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        docstring.render(LOCK, {PATH: current.encode()})


def test_entries_that_do_not_ask_get_none() -> None:
    assert docstring.render(rights.lock(rights.upstream(FILE)), {}) == {}
