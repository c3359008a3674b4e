"""`format:` sends files through ruff, whatever the user's own settings are."""

from pathlib import Path

import pytest

from vendor_tool.errors import UsageError
from vendor_tool.model import Context, Format, Source
from vendor_tool.transform import format as formatting

CONTEXT = Context("demo", {}, frozenset(), {})


def source(data: str | bytes, path: str = "a/x.py") -> Source:
    return Source(path, path, "", data.encode() if isinstance(data, str) else data)


def formatted(data: str | bytes, rule: Format, path: str = "a/x.py") -> bytes:
    return formatting.apply(source(data, path), rule, CONTEXT).data


def test_layout_follows_the_line_length() -> None:
    data = "f(aaaaaaaaaaaaaaaaaaa,\n  bbbbbbbbbbbbbbbbbbbbbbb)\n"
    assert formatted(data, Format(line_length=60)) == b"f(aaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbb)\n"
    assert formatted(data, Format(line_length=30)) == b"f(\n    aaaaaaaaaaaaaaaaaaa,\n    bbbbbbbbbbbbbbbbbbbbbbb,\n)\n"


MIXED = "import zlib\nimport ours.x\nimport torch\nfrom ours import b as c\nfrom ours import a as d\n"


def test_imports_are_sorted_only_when_asked() -> None:
    assert formatted(MIXED, Format()) == MIXED.encode()
    rule = Format(isort=True, first_party=("ours",), combine_as=True)
    assert formatted(MIXED, rule) == (
        b"import zlib\n\nimport torch\n\nimport ours.x\nfrom ours import a as d, b as c\n"
    )


def test_without_combine_as_each_alias_has_its_line() -> None:
    assert b"from ours import a as d\nfrom ours import b as c\n" in formatted(MIXED, Format(isort=True))


def test_sorting_goes_past_the_noqa_of_the_file_only_when_asked() -> None:
    data = "# ruff: noqa\nimport b\nimport a\n"
    assert formatted(data, Format(isort=True)) == data.encode()
    assert formatted(data, Format(isort=True, past_noqa=True)) == b"# ruff: noqa\nimport a\nimport b\n"


def test_crlf_survives() -> None:
    assert formatted(b"import b\r\nimport a\r\nx=1\r\n", Format(isort=True)) == b"import a\r\nimport b\r\n\r\nx = 1\r\n"


def test_the_settings_of_the_user_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ruff.toml").write_text("line-length = 20\nformat.quote-style = 'single'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "ruff").mkdir()
    (tmp_path / "ruff" / "ruff.toml").write_text("line-length = 20\n")
    assert formatted("x = ['aaaaaaaaaaaa', 'bbbbbbbbb']\n", Format()) == b'x = ["aaaaaaaaaaaa", "bbbbbbbbb"]\n'


def test_a_file_that_is_formatted_keeps_its_bytes_and_bears_the_rule_out() -> None:
    given = source("x = 1\n")
    change = formatting.apply(given, Format(), CONTEXT)
    assert change.data is given.data
    assert change.matched


def test_many_files_come_back_in_their_order() -> None:
    given = [source(f"x={number}\n", f"{number}/same.py") for number in range(12)]
    given.insert(3, source("x=1\n", "notes.txt"))
    done = formatting.batch(given, Format(), CONTEXT)
    assert [change.data for change in done] == [
        *(f"x = {number}\n".encode() for number in range(3)),
        b"x=1\n",
        *(f"x = {number}\n".encode() for number in range(3, 12)),
    ]
    assert [change.matched for change in done].index(False) == 3


def test_files_beside_each_other_are_not_taken_for_modules() -> None:
    given = [source("import torch\nimport os\n", "k/x.py"), source("y = 1\n", "k/torch.py")]
    done = formatting.batch(given, Format(isort=True), CONTEXT)
    assert done[0].data == b"import os\n\nimport torch\n"


def test_another_version_is_refused_with_the_command_that_gets_it() -> None:
    with pytest.raises(UsageError) as caught:
        formatted("x = 1\n", Format(version="0.0.1"))
    assert caught.value.message.startswith("`format` of `demo` asks for ruff 0.0.1, but `")
    assert caught.value.message.endswith(f"` is {formatting.version()}")
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("-m pip install ruff==0.0.1`")


def test_the_version_that_is_there_is_accepted() -> None:
    assert formatted("x=1\n", Format(version=formatting.version())) == b"x = 1\n"


def test_what_ruff_cannot_read_is_told_by_the_name_of_the_file() -> None:
    with pytest.raises(UsageError, match="a/x.py"):
        formatted("def (\n", Format(isort=True))
    with pytest.raises(UsageError, match="a/x.py"):
        formatted("def (\n", Format())


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    formatted("x=1\n", Format(isort=True))
    assert list(tmp_path.iterdir()) == []
