"""`adopt`: a tree that somebody vendored by hand comes under the lock, and not one of its bytes changes."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kill import killed
from tests.support.project import MIT, Project, project
from tests.support.upstream import Executable, Repository, repository
from vendor_tool.errors import ExitCode
from vendor_tool.pipeline.adopt import split_address

HEADER = "# Copyright (c) 2026 The Consumers\n#\n# Licensed under the Apache License, Version 2.0.\n"
FWD = '''"""The forward pass of a made-up kernel."""

import tilelang
import tilelang.language as T
import torch

from pkg.ops.common import ceil_div, check


@tilelang.jit
def forward(rows, columns):
    block = ceil_div(columns, 128)

    @T.prim_func
    def kernel(x, y):
        for i in T.serial(block):
            y[i] = x[i] * rows

    return kernel


def run(x):
    check(x)
    return forward(x.shape[0], x.shape[1])(x, torch.empty_like(x))
'''
BWD = '''"""The backward pass."""

import torch

from .common import ceil_div


def backward(grad, x):
    steps = ceil_div(x.shape[0], 64)
    out = torch.zeros_like(x)
    for step in range(steps):
        out += grad[step] * x
    return out


def norm(grad):
    return grad.float().norm()
'''
COMMON = '''"""What both passes use."""


def ceil_div(a, b):
    return (a + b - 1) // b


def check(x):
    if x.ndim != 2:
        raise ValueError(f"two dimensions are wanted, not {x.ndim}")
'''
STAND_IN = '''"""Made by hand: tilelang, or what stands for it where it is not installed."""

try:
    import tilelang
    from tilelang import language as T
except ImportError:
    tilelang = T = None
'''
FILES = {
    "LICENSE": MIT,
    "pkg/__init__.py": "",
    "pkg/ops/__init__.py": "",
    "pkg/ops/fwd.py": FWD,
    "pkg/ops/bwd.py": BWD,
    "pkg/ops/common.py": COMMON,
    "pkg/other/common.py": COMMON.replace("ceil_div", "floor_div"),
}
RELATIVE = FWD.replace("from pkg.ops.common", "from .common")


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit(FILES, "first")
    return made


@pytest.fixture
def consumer(tmp_path: Path) -> Project:
    made = project(tmp_path / "proj")
    made.done("init", "--license", "Apache-2.0")
    return made


def adopted(consumer: Project, upstream: Repository, *options: str, at: str = "") -> str:
    """Adopt `lib/k`, which must leave every file there as it was and satisfy every check; what was said."""
    before = consumer.tree("lib/k")
    modes = {path: consumer.executable(path) for path in before if not (consumer.root / path).is_symlink()}
    said = consumer.done("adopt", "lib/k", "--from", upstream.url + at, "--name", "demo", *options).err
    assert consumer.tree("lib/k") == before
    assert {path: consumer.executable(path) for path in modes} == modes
    assert consumer.done("check").out == "no findings\n"
    assert consumer.done("check", "--rebuild").out == "no findings\n"
    assert consumer.tree("lib/k") == before
    return said


def entry(consumer: Project) -> str:
    """The entry of the lock, without what was recorded."""
    return consumer.lock.partition("  demo:\n")[2].partition("    resolved:\n")[0]


def test_files_that_are_as_they_are_upstream_need_no_rule_and_no_patch(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    revision = upstream.git("rev-parse", "main")
    assert entry(consumer) == (
        f'    url: "{upstream.url}"\n    branch: main\n    revision: {revision}\n    license: MIT\n'
        "    from: pkg/ops\n    to: lib/k\n    files: [bwd.py, common.py]\n"
    )
    assert said.splitlines()[-9:] == [
        f"demo at {revision[:12]} of 2023-11-14 (fits exactly), licence MIT",
        "  pkg/ops/bwd.py -> lib/k/bwd.py  (the same bytes)",
        "  pkg/ops/common.py -> lib/k/common.py  (the same bytes)",
        "2 files replayed byte for byte",
        "wrote NOTICE",
        "wrote lib/LICENSES/demo/LICENSE",
        "wrote lib/PROVENANCE.md",
        "3 files written",
        "next: vendor-tool outdated demo",
    ]
    assert sorted(consumer.tree()) == [
        "NOTICE",
        "lib/LICENSES/demo/LICENSE",
        "lib/PROVENANCE.md",
        "lib/k/bwd.py",
        "lib/k/common.py",
        "vendor.lock.yaml",
    ]


def test_a_header_and_a_stand_in_made_by_hand_become_rules(consumer: Project, upstream: Repository) -> None:
    fwd = FWD.replace("import tilelang\nimport tilelang.language as T\n", "").replace(
        "import torch\n", "import torch\n\nfrom lib.k._tilelang import T, tilelang\n"
    )
    consumer.write(
        {
            "lib/k/fwd.py": f"{HEADER}\n{fwd.replace('from pkg.ops.common', 'from .common')}",
            "lib/k/bwd.py": f"{HEADER}\n{BWD}",
            "lib/k/common.py": f"{HEADER}\n{COMMON}",
            "lib/k/_tilelang.py": STAND_IN,
        }
    )
    said = adopted(consumer, upstream)
    assert "rule header: 3 lines above each file\n" in said
    assert "rule imports: tilelang -> lib.k._tilelang.tilelang, tilelang.language -> lib.k._tilelang.T\n" in said
    assert "not adopted: lib/k/_tilelang.py (nothing like it was found)\n" in said
    assert (
        "      - header:\n          text: |-\n            Copyright (c) 2026 The Consumers\n\n"
        "            Licensed under the Apache License, Version 2.0.\n"
    ) in entry(consumer)
    assert "    local: [_tilelang.py]\n" in entry(consumer)


def test_an_edit_becomes_a_patch_that_an_upgrade_carries_over(consumer: Project, upstream: Repository) -> None:
    edited = BWD.replace("x.shape[0], 64", "x.shape[0], 32")
    consumer.write({"lib/k/bwd.py": edited, "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream, "--author", "Cy <cy@example.invalid>")
    assert "patch patches/demo/0001-local-changes-of-bwd-py.patch: 2 lines\n" in said
    patch = consumer.read("patches/demo/0001-local-changes-of-bwd-py.patch").decode()
    assert patch.startswith(
        "Description: Local changes of bwd.py\n Found by `vendor-tool adopt`; why they were made is not known.\n"
        "Forwarded: no\nAuthor: Cy <cy@example.invalid>\nLast-Update: "
    )
    assert "-    steps = ceil_div(x.shape[0], 64)\n+    steps = ceil_div(x.shape[0], 32)\n" in patch
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("grad.float()", "grad.double()")})
    consumer.done("sync", "demo@main")
    assert consumer.read("lib/k/bwd.py").decode() == edited.replace("grad.float()", "grad.double()")


def test_the_revision_is_the_one_that_leaves_the_fewest_lines(consumer: Project, upstream: Repository) -> None:
    second = upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96"), "README.md": "a\n"}, "second")
    upstream.commit({"README.md": "b\n"}, "nothing of ours")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "128")}, "third")
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "96").replace("out +=", "out -="), "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert f"demo at {second[:12]} of 2023-11-14 (fits best: 2 lines of 2 files differ), licence MIT\n" in said


def test_of_revisions_that_fit_equally_the_newest_is_taken_and_the_others_are_named(
    consumer: Project, upstream: Repository
) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")}, "change")
    back = upstream.commit({"pkg/ops/bwd.py": BWD}, "and back")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "128")}, "change again")
    consumer.write({"lib/k/bwd.py": BWD})
    said = adopted(consumer, upstream)
    assert (
        f"demo at {back[:12]} of 2023-11-14 (fits exactly), licence MIT\n"
        f"  {first[:12]} fits as well: `--from URL@REV` takes another one\n"
    ) in said


def test_a_licence_that_came_later_decides_between_revisions_that_fit_equally(
    consumer: Project, tmp_path: Path
) -> None:
    upstream = repository(tmp_path / "late.git")
    upstream.commit({"pkg/ops/bwd.py": BWD})
    upstream.commit({"LICENSE": MIT})
    consumer.write({"lib/k/bwd.py": BWD})
    said = adopted(consumer, upstream)
    assert f"demo at {upstream.git('rev-parse', 'main')[:12]}" in said


def test_a_commit_that_a_comment_names_wins(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")}, "later")
    consumer.write({"lib/k/bwd.py": f"# Taken at {first}.\n\n{BWD.replace('64', '96')}"})
    said = adopted(consumer, upstream)
    assert f"demo at {first[:12]} of 2023-11-14 (named in lib/k/bwd.py:1), licence MIT\n" in said


def test_a_file_that_was_renamed_upstream_since_is_found(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/bwd.py": None, "pkg/ops/backward_pass.py": BWD.replace("64", "96")}, "rename")
    consumer.write({"lib/k/bwd.py": BWD.replace("norm(", "norm_of("), "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert f"demo at {first[:12]}" in said
    assert "  pkg/ops/bwd.py -> lib/k/bwd.py  (of the same name)\n" in said


def test_a_file_that_was_renamed_here_is_found_by_its_lines(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/gradient.py": BWD.replace("norm(", "norm_of("), "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert "  pkg/ops/bwd.py -> lib/k/gradient.py  (by its lines)\n" in said
    assert "files:\n      - {path: bwd.py, to: gradient.py}\n      - common.py\n" in entry(consumer)


def test_a_pair_can_be_given(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/far.py": "def nothing_alike():\n    return None\n", "lib/k/common.py": COMMON})
    pairs = ("--file", "bwd.py:far.py", "--file", "common.py")
    said = adopted(consumer, upstream, "--path", "pkg/ops", *pairs, "--rev", "main")
    assert "  pkg/ops/bwd.py -> lib/k/far.py  (as it was given)\n" in said
    refused = consumer.refused(
        ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url, "--name", "x", "--file", "absent.py:no.py"
    )
    assert "there is no file to adopt below `lib/k`: all belong to `demo`" in refused


def test_of_two_upstream_files_the_nearer_one_is_taken_and_the_other_named(
    consumer: Project, upstream: Repository
) -> None:
    upstream.commit({"pkg/copies/bwd.py": BWD, "pkg/copies/__init__.py": ""})
    consumer.write({"lib/k/ops/bwd.py": BWD})
    said = adopted(consumer, upstream)
    assert "  pkg/ops/bwd.py -> lib/k/ops/bwd.py  (the same bytes; as like: pkg/copies/bwd.py)\n" in said


def test_line_ends_of_the_other_kind_are_replayed_too(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD.replace("\n", "\r\n"), "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert (
        f"patch patches/demo/0001-local-changes-of-bwd-py.patch: {2 * BWD.count(chr(10))} lines, line ends alone"
        in said
    )


def test_modes_links_binaries_and_empty_files(consumer: Project, upstream: Repository) -> None:
    upstream.commit(
        {"pkg/ops/table.bin": b"\0\1\2" * 40, "pkg/ops/run.sh": Executable(b"#!/bin/sh\necho a\necho b\n:\n")}
    )
    consumer.write(
        {
            "lib/k/bwd.py": BWD,
            "lib/k/table.bin": b"\0\1\2" * 40,
            "lib/k/other.bin": b"\0\x09",
            "lib/k/run.sh": b"#!/bin/sh\necho a\necho b\n:\n",
            "lib/k/__init__.py": "",
            "lib/k/sub/__init__.py": "",
        }
    )
    (consumer.root / "lib/k/link.py").symlink_to("bwd.py")
    (consumer.root / "lib/k/sub").joinpath("more").symlink_to("..")
    said = adopted(consumer, upstream)
    assert "  pkg/ops/__init__.py -> lib/k/__init__.py  (the same bytes)\n" in said
    assert "  pkg/ops/table.bin -> lib/k/table.bin  (the same bytes)\n" in said
    assert "patch patches/demo/0001-local-changes-of-run-sh.patch: the mode alone\n" in said
    assert [line for line in said.splitlines() if line.startswith("not adopted")] == [
        "not adopted: lib/k/link.py (is a symbolic link, or no plain file)",
        "not adopted: lib/k/other.bin (is not text, and the same nowhere)",
        "not adopted: lib/k/sub/__init__.py (says too little to tell where it is from)",
        "not adopted: lib/k/sub/more (is a symbolic link, or no plain file)",
    ]


def test_files_that_an_entry_has_are_left_to_it(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD})
    adopted(consumer, upstream)
    consumer.write({"lib/k/common.py": COMMON})
    said = consumer.done("adopt", "lib/k", "--from", upstream.url, "--name", "second").err
    assert "pkg/ops/common.py -> lib/k/common.py" in said
    assert "bwd.py" not in said
    assert consumer.done("check").out == "no findings\n"


def test_a_dry_run_says_the_same_and_writes_nothing(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "32"), "lib/k/mine.py": "x = 1\n"})
    before = consumer.tree()
    dry = consumer.done("adopt", "lib/k", "--from", upstream.url, "--name", "demo", "--dry-run").err
    assert consumer.tree() == before
    assert not (consumer.root / ".vendor-tool").exists()
    done = adopted(consumer, upstream)
    told = [line.replace("would write", "wrote").replace("would be written", "written") for line in dry.splitlines()]
    assert [line for line in told if "fetching" not in line and "next:" not in line] == [
        line for line in done.splitlines() if "fetching" not in line and "next:" not in line
    ]


def test_a_named_revision_is_taken_whatever_fits(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.tag("v1", first)
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")})
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "96")})
    said = adopted(consumer, upstream, at="@v1")
    assert f"demo at {first[:12]} of 2023-11-14 (as it was asked for), licence MIT\n" in said
    assert "      tag: v1\n" in consumer.lock


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({"lib/k/a.py": "def f():\n    return 1\n\n\nx = f()\ny = x\n"}, (), "none of 1 file is like a file of "),
        ({"lib/k/bwd.py": BWD}, ("--file", "fwd.py"), "`--file fwd.py`: `lib/k/fwd.py` is not there, or belongs to"),
        ({"lib/k/bwd.py": BWD}, ("--file", "bwd.py:"), "`--file bwd.py:`: `` is empty"),
        ({"lib/k/bwd.py": BWD}, ("--name", "a b"), "`--name a b` is not a name"),
        ({"lib/k/bwd.py": BWD}, ("--file", "../x.py:bwd.py"), "`../x.py` leaves its folder"),
        ({"lib/k/bwd.py": BWD}, ("--file", "gone.py:bwd.py"), "`gone.py` never was in the history of upstream `demo`"),
        (
            {"lib/k/bwd.py": BWD},
            ("--file", "gone.py:bwd.py", "--rev", "main"),
            "`gone.py` is not in upstream `demo` at ",
        ),
        ({"lib/k/bwd.py": BWD}, ("--path", "../x"), "`--path ../x` leaves its folder"),
        ({}, (), "`lib/k` is not there"),
        ({"lib/k": "a file"}, (), "`lib/k` is no folder"),
    ],
)
def test_what_makes_no_sense_is_refused_whole(
    consumer: Project, upstream: Repository, files: dict[str, str], arguments: tuple[str, ...], said: str
) -> None:
    consumer.write(files)
    before = consumer.tree()
    result = consumer.run("adopt", "lib/k", "--from", upstream.url, "--name", "demo", *arguments)
    assert result.code == ExitCode.USAGE
    assert said in result.err
    assert consumer.tree() == before


def test_other_addresses_and_places_are_refused(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD})
    for url in ("ext::sh -c true", "https://user:secret@example.invalid/x.git"):
        said = consumer.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", url)
        assert "the address after `--from`" in said
        assert "secret" not in said
    assert "is not below the lock's folder" in consumer.refused(
        ExitCode.USAGE, "adopt", "../elsewhere", "--from", upstream.url
    )
    gone = consumer.refused(ExitCode.UPSTREAM, "adopt", "lib/k", "--from", f"{upstream.url}x", "--name", "demo")
    assert "upstream `demo`" in gone


def test_nobody_may_adopt_what_has_no_licence(consumer: Project, tmp_path: Path) -> None:
    upstream = repository(tmp_path / "bare.git")
    upstream.commit({"pkg/ops/bwd.py": BWD})
    consumer.write({"lib/k/bwd.py": BWD})
    said = consumer.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url, "--name", "demo")
    assert "has no licence file at" in said


def test_a_document_of_somebody_elses_in_the_way_is_left_alone(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD, "lib/PROVENANCE.md": "written by hand\n"})
    said = consumer.refused(ExitCode.CONTENT, "adopt", "lib/k", "--from", upstream.url, "--name", "demo")
    assert "`lib/PROVENANCE.md` is in the way" in said


def test_without_a_lock_it_says_how_to_start_one(tmp_path: Path, upstream: Repository) -> None:
    bare = project(tmp_path / "bare")
    bare.write({"lib/k/bwd.py": BWD})
    said = bare.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url)
    assert "vendor-tool init" in said


def test_a_huge_folder_is_refused_before_anything_is_fetched(consumer: Project, upstream: Repository) -> None:
    consumer.write({f"lib/k/{number}.py": f"x = {number}\n" for number in range(2001)})
    said = consumer.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url)
    assert "there are more than 2000 files below `lib/k`" in said
    assert "fetching" not in said


def test_a_stand_in_of_the_lock_explains_imports(consumer: Project, upstream: Repository) -> None:
    shims = "shims:\n  tilelang: {to: lib/_tilelang.py}\n"
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("upstreams:", f"{shims}upstreams:")})
    fwd = RELATIVE.replace("import tilelang\n", "from .._tilelang import tilelang\n").replace(
        "import tilelang.language as T\n", "from .._tilelang import language as T\n"
    )
    consumer.write({"lib/k/fwd.py": fwd, "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert "patch" not in said
    assert "wrote lib/_tilelang.py\n" in said
    assert "transforms" not in entry(consumer)


def test_a_run_that_is_killed_has_done_all_or_nothing_once_the_next_one_ends_it(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "32")})
    done = project(tmp_path / "done")
    shutil.copytree(consumer.root, done.root, dirs_exist_ok=True)
    arguments = ["adopt", "lib/k", "--from", upstream.url, "--name", "demo"]
    done.done(*arguments)
    ends = []
    for number in range(1, 60, 3):
        victim = project(tmp_path / f"victim{number}")
        shutil.copytree(consumer.root, victim.root, dirs_exist_ok=True)
        code = killed(victim, number, *arguments)
        if code == ExitCode.CLEAN:
            break
        assert code == -signal.SIGKILL
        assert victim.tree("lib/k") == consumer.tree("lib/k")
        victim.done("sync")
        assert victim.tree() in (consumer.tree(), done.tree())
        ends.append(victim.tree() == done.tree())
    assert ends == sorted(ends)
    assert {*ends} == {True, False}


def test_a_folder_in_the_way_of_a_document_stops_it_before_anything_is_written(
    consumer: Project, upstream: Repository
) -> None:
    consumer.write({"lib/k/bwd.py": BWD, "NOTICE/x": ""})
    said = consumer.refused(ExitCode.CONTENT, "adopt", "lib/k", "--from", upstream.url, "--name", "demo")
    assert "`NOTICE` cannot be written: a folder stands there" in said


def test_the_project_of_a_git_repository_shows_only_new_files(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "32")})
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before"]):
        subprocess.run(["git", *arguments], cwd=consumer.root, check=True)
    adopted(consumer, upstream)
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=consumer.root, check=True, capture_output=True, text=True
    ).stdout
    assert shown.splitlines() == [
        " M vendor.lock.yaml",
        "?? NOTICE",
        "?? lib/LICENSES/demo/LICENSE",
        "?? lib/PROVENANCE.md",
        "?? patches/demo/0001-local-changes-of-bwd-py.patch",
    ]


def test_a_stand_in_beside_the_copies_becomes_a_relative_rule(consumer: Project, upstream: Repository) -> None:
    fwd = RELATIVE.replace("import tilelang\nimport tilelang.language as T\n", "from ._tilelang import T, tilelang\n")
    consumer.write({"lib/k/fwd.py": fwd, "lib/k/common.py": COMMON, "lib/k/_tilelang.py": STAND_IN})
    said = adopted(consumer, upstream)
    assert "rule imports: tilelang -> .lib.k._tilelang.tilelang, tilelang.language -> .lib.k._tilelang.T\n" in said
    upstream.commit({"pkg/ops/fwd.py": FWD.replace("import torch", "import torch\nimport tilelang.math as tm")})
    consumer.done("sync", "demo@main")
    imports = b"from ._tilelang import T, tilelang\nimport torch\nfrom ._tilelang.tilelang import math as tm\n"
    assert imports in consumer.read("lib/k/fwd.py")


def test_what_a_copy_left_out_becomes_a_drop(consumer: Project, upstream: Repository) -> None:
    more = BWD + '\n\nif __name__ == "__main__":\n    print(norm(torch.ones(2)))\n'
    upstream.commit({"pkg/ops/bwd.py": more})
    consumer.write({"lib/k/bwd.py": BWD[: BWD.index("\n\ndef norm")], "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream, at="@main")
    assert "rule drop: __main__, norm of bwd.py\n" in said
    assert "patch" not in said
    upstream.commit({"pkg/ops/bwd.py": more.replace("grad.float()", "grad.double()")})
    consumer.done("sync", "demo@main")
    assert b"norm" not in consumer.read("lib/k/bwd.py")


# ---- what copies say themselves ----------------------------------------------------------------------------


FORGE = "https://github.com/example/kernels"


@pytest.fixture
def forge(upstream: Repository) -> str:
    """The upstream at an address of a forge, and of a fork there."""
    routes = "".join(
        f'[url "{upstream.url}"]\n\tinsteadOf = {url}\n' for url in (FORGE, "https://github.com/somebody/kernels")
    )
    with Path(os.environ["GIT_CONFIG_GLOBAL"]).open("a", encoding="utf-8") as settings:
        settings.write(routes)
    return FORGE


def test_a_revision_beside_the_address_of_a_fork_needs_no_history(
    consumer: Project, upstream: Repository, forge: str
) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")})
    link = f"https://github.com/somebody/kernels/blob/{first}/pkg/ops/bwd.py"
    consumer.write({"lib/k/gradients.py": f"# Adapted from {link}\n\n{BWD.replace('torch', 'mytorch')}"})
    said = consumer.done("adopt", "lib/k", "--from", forge).err
    assert "fetching the history" not in said
    assert f"kernels at {first[:12]} of 2023-11-14 (named in lib/k/gradients.py:1), licence MIT\n" in said
    assert "  pkg/ops/bwd.py -> lib/k/gradients.py  (named in its comments)\n" in said
    assert consumer.done("check").out == "no findings\n"


def test_a_table_in_the_package_tells_files_and_revision(consumer: Project, upstream: Repository, forge: str) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/copies/bwd.py": BWD, "pkg/ops/common.py": "# gone\n"})
    table = (
        f'"""Kernels.\n\n* Upstream project: {forge}\n* Upstream revision: ``{first}``\n\n'
        "=============  ==================\nLocal file     Upstream file\n=============  ==================\n"
        '``bwd.py``     ``pkg/ops/bwd.py``\n=============  ==================\n"""\n'
    )
    consumer.write({"lib/k/__init__.py": table, "lib/k/bwd.py": BWD.replace("64", "32"), "lib/k/common.py": COMMON})
    said = consumer.done("adopt", "lib/k", "--from", forge).err
    assert f"kernels at {first[:12]} of 2023-11-14 (named in lib/k/__init__.py:" in said
    assert "  pkg/ops/bwd.py -> lib/k/bwd.py  (named in its comments)\n" in said
    assert "not adopted: lib/k/__init__.py (nothing like it was found)\n" in said


def test_a_revision_that_the_upstream_has_not_is_no_hint(consumer: Project, upstream: Repository, forge: str) -> None:
    link = f"https://github.com/example/kernels/blob/{'a' * 40}/pkg/ops/bwd.py"
    consumer.write({"lib/k/bwd.py": f"# Adapted from {link}\n\n{BWD}"})
    said = consumer.done("adopt", "lib/k", "--from", forge).err
    assert "(fits exactly)" in said


# ---- beside other entries -----------------------------------------------------------------------------------


def test_another_entry_of_the_same_repository_is_where_imports_go(consumer: Project, upstream: Repository) -> None:
    consumer.done("add", "shared", upstream.url, "--path", "pkg/ops", "--to", "lib/shared", "--file", "common.py")
    consumer.done("sync")
    consumer.write({"lib/k/bwd.py": BWD.replace("from .common", "from ..shared.common")})
    said = adopted(consumer, upstream)
    assert "patch" not in said
    assert "rule imports" not in said
    assert "transforms" not in entry(consumer)


def test_a_name_of_the_lock_is_refused(consumer: Project, upstream: Repository) -> None:
    consumer.done("add", "up", upstream.url, "--path", "pkg/ops", "--file", "common.py")
    consumer.write({"lib/k/bwd.py": BWD})
    said = consumer.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url)
    assert "upstream `up` is in the lock already, at line " in said
    assert "--name" in said


def test_a_stand_in_of_the_lock_that_copies_do_not_use_is_left_out_of_the_rules(
    consumer: Project, upstream: Repository
) -> None:
    shims = "shims:\n  tilelang: {to: lib/_tilelang.py}\n"
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("upstreams:", f"{shims}upstreams:")})
    consumer.write({"lib/k/fwd.py": RELATIVE, "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream)
    assert "patch" not in said
    assert "    transforms:\n      - {imports: {}}\n" in entry(consumer)


def test_a_licence_text_among_the_copies_is_not_vendored_twice(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/LICENSE": MIT, "lib/k/bwd.py": BWD})
    said = adopted(consumer, upstream)
    assert "not adopted: lib/k/LICENSE (is upstream's `LICENSE`: the entry keeps its own copies of such texts)" in said
    assert "    local: [LICENSE]\n" in entry(consumer)


def test_the_second_time_nothing_has_to_be_fetched(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "32")})
    revision = upstream.git("rev-parse", "main")
    arguments = ["adopt", "lib/k", "--from", f"{upstream.url}@{revision}", "--name", "demo"]
    refused = consumer.refused(ExitCode.UPSTREAM, *arguments, "--offline")
    assert "offline" in refused
    consumer.done(*arguments, "--dry-run")
    consumer.done(*arguments, "--offline")
    assert consumer.done("check").out == "no findings\n"


def test_own_files_by_the_dozen_are_counted(consumer: Project, upstream: Repository) -> None:
    own = {f"lib/k/own{number}.py": f"def f{number}():\n    return {number}\n" for number in range(30)}
    consumer.write({"lib/k/bwd.py": BWD, **own})
    dry = ("adopt", "lib/k", "--from", upstream.url, "--name", "demo", "--dry-run")
    said = consumer.done(*dry).err
    assert said.count("not adopted: lib/k/own") == 20
    assert "not adopted: 10 further files: `vendor-tool --verbose adopt` lists them\n" in said
    assert consumer.done("--verbose", *dry).err.count("not adopted: lib/k/own") == 30
    adopted(consumer, upstream)


# ---- whatever was done to a copy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data.rstrip(b"\n"), id="no newline at the end"),
        pytest.param(lambda data: data.replace(b"\n", b"\r"), id="carriage returns alone"),
        pytest.param(lambda data: data.replace(b"steps", b"st\xe9ps"), id="no UTF-8"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="byte-order mark"),
        pytest.param(lambda data: data.replace(b"\n\n\n", b"\n\x0c\n"), id="form feeds"),
        pytest.param(lambda data: data.replace(b"    ", b"\t"), id="tabs"),
        pytest.param(lambda data: data + b"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", id="a patch in it"),
        pytest.param(lambda data: data.replace(b"return out", b"return out  "), id="blanks at line ends"),
        pytest.param(lambda data: b"#!/usr/bin/env python\n# {license}\n#\n# x\n\n" + data, id="a header with braces"),
        pytest.param(lambda data: b"#Copyright me\n" + data, id="a header without blanks"),
        pytest.param(lambda data: data.replace(b"def norm", b"def norm(x):\n  pass\ndef norm"), id="a function twice"),
        pytest.param(lambda data: data.replace(b"import torch", b"import torch as th, os"), id="other imports"),
        pytest.param(lambda data: data.replace(b"for step in", b"for step off"), id="no Python any more"),
    ],
)
def test_every_change_is_replayed(consumer: Project, upstream: Repository, change: Callable[[bytes], bytes]) -> None:
    data = change(BWD.encode())
    assert data != BWD.encode()
    consumer.write({"lib/k/bwd.py": data, "lib/k/common.py": COMMON})
    said = adopted(consumer, upstream, "--path", "pkg/ops", "--file", "bwd.py:bwd.py", "--file", "*.py")
    assert "2 files replayed byte for byte\n" in said


def test_a_changed_file_that_is_not_text_cannot_be_a_pair(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/table.bin": b"\0\1\2" * 40})
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/table.bin": b"\0\1\3" * 40})
    pair = ("--path", "pkg/ops", "--file", "table.bin:table.bin")
    said = consumer.refused(ExitCode.CONTENT, "adopt", "lib/k", "--from", upstream.url, "--name", "demo", *pair)
    assert "`lib/k/table.bin` was edited and is not text, so no patch can hold the change" in said
    assert "not adopted: lib/k/table.bin (is not text, and the same nowhere)\n" in adopted(consumer, upstream)


def test_a_commit_that_was_named_for_something_else_does_not_count(consumer: Project, tmp_path: Path) -> None:
    upstream = repository(tmp_path / "up.git")
    empty = upstream.commit({"LICENSE": MIT})
    first = upstream.commit({"pkg/ops/bwd.py": BWD})
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")})
    consumer.write({"lib/k/bwd.py": f"# The licence is that of {empty}.\n\n{BWD}"})
    assert f"demo at {first[:12]} of 2023-11-14 (fits exactly)" in adopted(consumer, upstream)


def test_of_two_commits_that_are_named_the_one_that_fits_is_taken(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    second = upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")})
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "128")})
    consumer.write({"lib/k/bwd.py": f"# Between {first}\n# and {second}.\n\n{BWD.replace('64', '96')}"})
    assert f"demo at {second[:12]} of 2023-11-14 (named in lib/k/bwd.py:2)" in adopted(consumer, upstream)


def test_names_that_a_pattern_reads_otherwise_stay_names(consumer: Project, upstream: Repository) -> None:
    upstream.commit({"pkg/ops/table[1].py": COMMON.replace("ceil", "table")})
    odd = ("own[1].txt", "star*.txt", "what?.txt", "two\nlines.txt")
    own = {f"lib/k/{name}": f"{name}\n" * 5 for name in odd}
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/table[1].py": COMMON.replace("ceil", "table"), **own})
    said = adopted(consumer, upstream)
    assert "not adopted: lib/k/table[1].py (is `pkg/ops/table[1].py`, a name that a lock cannot list)\n" in said
    consumer.write({"lib/k/own1.txt": "", "lib/k/start.txt": ""})
    found = consumer.run("check").out
    assert found.count("drift-unexpected") == 2
    assert "lib/k/own1.txt" in found
    assert "lib/k/start.txt" in found


def test_the_projects_own_top_can_be_adopted(consumer: Project, upstream: Repository) -> None:
    consumer.write({"bwd.py": BWD.replace("64", "32"), "common.py": COMMON, "setup.py": "x = 1\n"})
    before = consumer.tree()
    consumer.done("adopt", ".", "--from", upstream.url, "--name", "demo")
    assert {path: data for path, data in consumer.tree().items() if path in before} == {
        **before,
        "vendor.lock.yaml": consumer.lock.encode(),
    }
    assert consumer.done("check", "--rebuild").out == "no findings\n"
    assert "there is no file to adopt below `patches`" in consumer.refused(
        ExitCode.USAGE, "adopt", "patches", "--from", upstream.url
    )


GIT = """\
#!/bin/sh
case "$*" in *fetch*) echo "# more" >> lib/k/bwd.py ;; esac
exec {git} "$@"
"""


def test_a_file_that_changes_meanwhile_stops_it(consumer: Project, upstream: Repository, tmp_path: Path) -> None:
    consumer.write({"lib/k/bwd.py": BWD})
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    real = shutil.which("git")
    wrapper.write_text(GIT.format(git=real).replace("lib/k", str(consumer.root / "lib/k")))
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    result = consumer.child("adopt", "lib/k", "--from", upstream.url, "--name", "demo", PATH=path)
    assert result.returncode == ExitCode.CONTENT
    assert "`lib/k/bwd.py` is not what it was when it was looked at: nothing was written" in result.stderr
    assert sorted(consumer.tree()) == ["lib/k/bwd.py", "vendor.lock.yaml"]
    assert "demo" not in consumer.lock


@pytest.mark.parametrize(
    ("text", "url", "rev"),
    [
        ("https://github.com/o/r", "https://github.com/o/r", None),
        ("https://github.com/o/r@v1.2", "https://github.com/o/r", "v1.2"),
        ("https://github.com/o/r.git@feature/x", "https://github.com/o/r.git", "feature/x"),
        ("ssh://git@host/o/r", "ssh://git@host/o/r", None),
        ("ssh://git@host/o/r@abc1234", "ssh://git@host/o/r", "abc1234"),
        ("git@host:o/r", "git@host:o/r", None),
        ("git@host:o/r@main", "git@host:o/r", "main"),
        ("/srv/r@main", "/srv/r", "main"),
        ("https://user@host", "https://user@host", None),
        ("https://github.com/o/r@", "https://github.com/o/r@", None),
    ],
)
def test_the_revision_stands_behind_the_last_at_sign_of_a_path(text: str, url: str, rev: str | None) -> None:
    assert split_address(text) == (url, rev)


def test_of_a_file_of_which_little_was_taken_the_lock_names_that_little(
    consumer: Project, upstream: Repository
) -> None:
    many = COMMON + "".join(f"\n\ndef further_{number}(a):\n    return a + {number}\n" for number in range(9))
    upstream.commit({"pkg/ops/common.py": many})
    consumer.write({"lib/k/common.py": COMMON, "lib/k/bwd.py": BWD})
    said = adopted(consumer, upstream, at="@main")
    assert "rule only: ceil_div, check of common.py\n" in said
    assert "patch" not in said


def test_folders_of_the_projects_own_become_one_pattern_each(consumer: Project, upstream: Repository) -> None:
    own = {f"lib/k/{folder}/{number}.txt": f"{number}\n" * 5 for folder in ("data", "ops/deep") for number in range(9)}
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/ops/common.py": COMMON, **own})
    adopted(consumer, upstream)
    assert "    local: [data/*, ops/deep/*]\n" in entry(consumer).replace('"', "")


def test_one_folder_can_hold_copies_of_two_repositories(
    consumer: Project, upstream: Repository, tmp_path: Path
) -> None:
    second = repository(tmp_path / "second.git")
    gelu = "".join(f"def gelu_{number}(x):\n    return x * {number} / 7\n\n\n" for number in range(5))
    second.commit({"LICENSE": MIT, "src/gelu.py": gelu})
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/gelu.py": gelu, "lib/k/mine.py": "x = 1\n"})
    adopted(consumer, upstream)
    said = consumer.done("adopt", "lib/k", "--from", second.url).err
    assert "  src/gelu.py -> lib/k/gelu.py  (the same bytes)\n" in said
    assert consumer.done("check", "--rebuild").out == "no findings\n"
    assert consumer.lock.count("local:") == 2


def test_a_lock_with_the_other_line_ends_keeps_them(consumer: Project, upstream: Repository) -> None:
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("\n", "\r\n")})
    consumer.write({"lib/k/bwd.py": f"{HEADER}\n{BWD}", "lib/k/common.py": f"{HEADER}\n{COMMON}"})
    adopted(consumer, upstream)
    data = consumer.read("vendor.lock.yaml")
    assert data.count(b"\n") == data.count(b"\r\n")


def test_sources_in_another_language_have_headers_and_patches_too(consumer: Project, upstream: Repository) -> None:
    kernel = (
        "#include <cuda.h>\n\n__global__ void scale(float* x, float by) {\n  x[threadIdx.x] *= by;\n}\n\nint n = 1;\n"
    )
    upstream.commit({"csrc/scale.cu": kernel})
    consumer.write({"lib/k/scale.cu": "// Copyright (c) 2026 Us\n\n" + kernel.replace("n = 1", "n = 2")})
    said = adopted(consumer, upstream)
    assert "rule header: 1 line above each file\n" in said
    assert "patch patches/demo/0001-local-changes-of-scale-cu.patch: 2 lines\n" in said


def test_files_that_are_named_are_adopted_and_no_others(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.commit({"pkg/ops/bwd.py": BWD.replace("64", "96")})
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/common.py": COMMON, "lib/k/sub/fwd.py": FWD, "lib/k/why.txt": first})
    said = adopted(consumer, upstream, "--file", "b*.py", "--file", "sub/*.py")
    assert f"demo at {first[:12]} of 2023-11-14 (named in lib/k/why.txt:1)" in said
    assert "common.py" not in said
    assert "not adopted" not in said
    assert "    local: [common.py, why.txt]\n" in entry(consumer)


def test_a_file_that_no_build_takes_is_told_and_the_others_are_adopted(consumer: Project, upstream: Repository) -> None:
    broken = BWD + 'importlib.import_module("pkg.ops.common"\n'
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1\nx\n"
    upstream.commit({"pkg/ops/broken.py": broken, "pkg/ops/weights.txt": pointer})
    consumer.write({"lib/k/broken.py": broken, "lib/k/common.py": COMMON, "lib/k/weights.txt": pointer})
    said = adopted(consumer, upstream)
    line = next(line for line in said.splitlines() if line.startswith("not adopted: lib/k/broken.py"))
    assert "(`pkg/ops/broken.py:" in line
    assert ": not Python that can be parsed: " in line
    assert "not adopted: lib/k/weights.txt (is a pointer of Git LFS, not the file itself)\n" in said
    assert "1 file replayed byte for byte\n" in said


def test_a_fence_that_lacks_the_new_entry_is_named(consumer: Project, upstream: Repository) -> None:
    consumer.write(
        {"pyproject.toml": "[tool.ruff]\nline-length = 100\n", "lib/k/bwd.py": BWD, "lib/more/common.py": COMMON}
    )
    said = adopted(consumer, upstream)
    assert "fence" not in said
    consumer.done("fence", "--write")
    said = consumer.done("adopt", "lib/more", "--from", upstream.url, "--name", "more").err
    assert "next: vendor-tool fence --write\n" in said
    consumer.done("fence", "--write")
    assert consumer.done("check").out == "no findings\n"


def test_who_made_the_changes_is_asked_where_there_are_any(
    consumer: Project, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name)
    consumer.write({"lib/k/bwd.py": BWD.replace("64", "32"), "lib/k/common.py": COMMON})
    said = consumer.refused(ExitCode.USAGE, "adopt", "lib/k", "--from", upstream.url, "--name", "demo")
    assert "git does not know who you are" in said
    consumer.write({"lib/k/bwd.py": BWD})
    adopted(consumer, upstream)


def test_without_the_network_nothing_can_be_looked_for(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD})
    said = consumer.refused(ExitCode.UPSTREAM, "adopt", "lib/k", "--from", upstream.url, "--name", "demo", "--offline")
    assert "upstream `demo`" in said


def test_large_files_are_told_and_not_read(consumer: Project, upstream: Repository) -> None:
    consumer.write({"lib/k/bwd.py": BWD, "lib/k/data.bin": ""})
    with (consumer.root / "lib/k/data.bin").open("r+b") as file:
        file.truncate(1 << 33)  # a hole: reading it would take most of the memory there is
    said = consumer.done("adopt", "lib/k", "--from", upstream.url, "--name", "demo").err
    assert "not adopted: lib/k/data.bin (is larger than 5,000,000 bytes)\n" in said
    assert "    local: [data.bin]\n" in entry(consumer)
