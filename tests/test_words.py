"""Words of strangers in commands that are printed to be pasted."""

import subprocess
from pathlib import Path

import pytest

from vendor_tool.words import command, visible

HOSTILE = [
    "plain/path-1.py",
    "a b.py",
    "x;touch PWNED;.py",
    "$(touch PWNED)`touch PWNED`.py",
    "it's.py",
    "new\nline.py",
    "escape\x1b[31m7.py",
    "bidi\u202e8.py",
    "no-break\u00a0space\\.py",
    "'; touch PWNED; \n'",
    "~/x.py",
    "*.py",
    "",
    "#x",
    "!x",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_a_shell_reads_back_the_word_and_runs_nothing(word: str, tmp_path: Path) -> None:
    line = command("printf", "%s\\0", word)
    assert line == visible(line, kept="")
    run = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True)
    assert run.stdout == word.encode() + b"\0"
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_not_utf8_reads_back_as_its_bytes() -> None:
    run = subprocess.run(["bash", "-c", command("printf", "%s", "caf\udce91")], capture_output=True, check=True)
    assert run.stdout == b"caf\xe91"


def test_what_needs_no_quotes_gets_none() -> None:
    assert command("vendor-tool", "sync", "demo@v1.0") == "vendor-tool sync demo@v1.0"
