"""`demo` tells the whole story offline, with the real commands, and leaves a project to look around in."""

import socket
from pathlib import Path

import pytest

from tests.support.project import Project, project
from vendor_tool.errors import ExitCode


def test_the_story_runs_offline_and_leaves_a_clean_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the demo reached for the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    result = project(tmp_path / "here").done("demo", str(tmp_path / "demo"))
    for line in (
        "$ vendor-tool sync",
        "imported vendored.tiny.fused without tilelang",
        "vendored/tiny/axpy.py:14: error:",
        "(exit code 1)",
        "(exit code 4)",
        "hint: keep it with `vendor-tool patch new tiny`",
    ):
        assert line in result.out
    left = Project(tmp_path / "demo/project")
    assert left.done("check").out == "no findings\n"
    assert b"block=128" in left.read("vendored/tiny/axpy.py")
    assert b"accumulate=T.float32" in left.read("vendored/tiny/row_sum.py")
    assert b"Copyright (c) 2024 The Basics Authors" in left.read("NOTICE")


def test_the_demo_is_the_same_everywhere(tmp_path: Path) -> None:
    from vendor_tool import demo

    assert demo.build("tiny", tmp_path / "one") == demo.build("tiny", tmp_path / "two")
    assert demo.build("basics", tmp_path / "basics") == ("e9d1de5f12ffe378c96d8fb52edaa4f74dc12baf",)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    here = project(tmp_path / "here")
    here.write({"full/own.txt": "own"})
    assert "is not empty" in here.refused(ExitCode.USAGE, "demo", "full")


def test_without_git_the_demo_says_what_is_missing(tmp_path: Path) -> None:
    done = project(tmp_path / "here").child("demo", str(tmp_path / "demo"), PATH=str(tmp_path / "here"))
    assert done.returncode == ExitCode.USAGE
    assert "`git` was not found" in done.stderr
