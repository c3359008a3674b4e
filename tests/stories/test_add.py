"""`init` starts a lock; `add` writes an entry with all that its files import, and says what else they need."""

from pathlib import Path

import pytest

from tests.support.project import MIT, Project, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FILES = {
    "LICENSE": MIT,
    "pkg/__init__.py": "",
    "pkg/common.py": "import os\n",
    "pkg/ops/__init__.py": "",
    "pkg/ops/fwd.py": "import torch\nimport tilelang\n\nfrom pkg.common import os\nfrom .bwd import back\n",
    "pkg/ops/bwd.py": "import torch\n\n\ndef back(n):\n    return n\n",
    "pkg/ops/other.py": "x = 1\n",
}


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit(FILES, "first")
    return made


@pytest.fixture
def consumer(tmp_path: Path) -> Project:
    return project(tmp_path / "proj")


def test_from_nothing_to_vendored_files(consumer: Project, upstream: Repository) -> None:
    consumer.done("init", "--license", "Apache-2.0")
    said = consumer.done(
        "add", "demo", upstream.url, "--path", "pkg/ops", "--to", "vendored/demo", "--file", "fwd.py"
    ).err
    assert "demo at " in said
    assert "licence MIT" in said
    assert "  pkg/ops/bwd.py -> vendored/demo/bwd.py  (imported by pkg/ops/fwd.py:5)" in said
    assert "  pkg/common.py -> vendored/demo/common.py  (imported by pkg/ops/fwd.py:4)" in said
    assert "needs torch: pkg/ops/" in said
    assert "needs tilelang: pkg/ops/fwd.py" in said
    assert "next: vendor-tool sync demo" in said
    revision = upstream.git("rev-parse", "main")
    assert consumer.lock == (
        "# Vendored files: `vendor-tool --help`, and docs/reference/lockfile.md for the keys.\n"
        "version: 1\nproject:\n  name: proj\n  license: Apache-2.0\nupstreams:\n"
        f'  demo:\n    url: "{upstream.url}"\n    branch: main\n    revision: {revision}\n    license: MIT\n'
        "    from: pkg\n    to: vendored/demo\n    files:\n      - common.py\n"
        "      - {path: ops/bwd.py, to: bwd.py}\n      - {path: ops/fwd.py, to: fwd.py}\n"
    )
    consumer.done("sync")
    assert b"from .common import os\nfrom .bwd import back\n" in consumer.read("vendored/demo/fwd.py")


def test_without_files_every_python_file_of_the_folder_is_taken(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--rev", "main", "--path", "pkg/ops", "--to", "vendored/demo")
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == [
        f"vendored/demo/{name}.py" for name in ("__init__", "bwd", "common", "fwd", "other")
    ]


def test_files_can_be_added_to_a_known_upstream(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--path", "pkg/ops", "--file", "bwd.py")
    consumer.done("sync")
    consumer.done("add", "demo", "--file", "other.py:extra/other.py")
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == ["vendored/demo/bwd.py", "vendored/demo/extra/other.py"]
    assert "has these files already" in consumer.refused(ExitCode.USAGE, "add", "demo", "--file", "bwd.py")


def test_a_file_that_is_listed_moves_where_its_new_place_is_named(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--path", "pkg/ops", "--file", "bwd.py", "--file", "other.py:sub/o.py")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("- bwd.py\n", "- bwd.py  # the backward pass\n")})
    consumer.done("sync")
    said = consumer.done("add", "demo", "--file", "bwd.py:b.py", "--file", "other.py:o.py").err
    assert "pkg/ops/bwd.py -> vendored/demo/b.py" in said
    assert "- {path: bwd.py, to: b.py}  # the backward pass\n      - {path: other.py, to: o.py}\n" in consumer.lock
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == ["vendored/demo/b.py", "vendored/demo/o.py"]
    assert "has these files already" in consumer.refused(ExitCode.USAGE, "add", "demo", "--file", "bwd.py")
    assert "both go to `vendored/demo/o.py`" in consumer.refused(ExitCode.USAGE, "add", "demo", "--file", "bwd.py:o.py")
    said = consumer.refused(ExitCode.USAGE, "add", "demo", "--to", "lib")
    assert "files of `demo` go to `vendored/demo`, not to `lib`" in said


def test_a_file_that_a_glob_takes_stands_where_its_own_item_says(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--path", "pkg/ops", "--file", "bwd.py")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[bwd.py]", "['[bo]*.py']")})
    consumer.done("sync")
    consumer.done("add", "demo", "--file", "bwd.py:b.py")
    assert "['[bo]*.py', {path: bwd.py, to: b.py}]" in consumer.lock
    consumer.done("sync")
    assert sorted(consumer.tree("vendored/demo")) == ["vendored/demo/b.py", "vendored/demo/other.py"]
    consumer.done("check", "--rebuild")


def test_a_wider_folder_never_takes_the_options_of_items_away(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--path", "pkg/ops", "--file", "bwd.py")
    consumer.write({"vendor.lock.yaml": consumer.lock.replace("[bwd.py]", "[{path: bwd.py, license: MIT}]")})
    said = consumer.refused(ExitCode.USAGE, "add", "demo", "--path", "pkg", "--file", "__init__.py")
    assert "`pkg/__init__.py` is not below `pkg/ops`, and items of `demo` hold more than paths" in said


def test_a_tag_pins_its_commit_and_names_no_branch(consumer: Project, upstream: Repository) -> None:
    first = upstream.git("rev-parse", "main")
    upstream.tag("v1", first, annotated=True)
    upstream.commit({"pkg/ops/bwd.py": "x = 2\n"})
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--rev", "v1", "--path", "pkg/ops", "--file", "bwd.py")
    assert f"revision: {first}" in consumer.lock
    assert "branch:" not in consumer.lock


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--no-closure", "--file", "fwd.py"), "is imported by `pkg/ops/fwd.py:"),
        (("--file", "../x.py"), "leaves its folder"),
        (("--file", "absent.py"), "`pkg/ops/absent.py` is not in upstream `demo`"),
        (("--to", "../out"), "`--to ../out` leaves its folder"),
        (("--rev", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_added_is_refused_whole(
    consumer: Project, upstream: Repository, arguments: tuple[str, ...], said: str
) -> None:
    consumer.done("init")
    result = consumer.run("add", "demo", upstream.url, "--path", "pkg/ops", *arguments)
    assert result.code in (ExitCode.USAGE, ExitCode.UPSTREAM)
    assert said in result.err
    assert "demo" not in consumer.lock


@pytest.mark.parametrize("url", ["https://bot:t0ken@example.org/x", "ext::sh -c touch% x", "--upload-pack=x", "x.zip"])
def test_an_address_that_is_refused_is_never_repeated_with_its_secret(consumer: Project, url: str) -> None:
    consumer.done("init")
    said = consumer.refused(ExitCode.USAGE, "add", "--", "demo", url)
    assert "demo" in said
    assert "t0ken" not in said


def test_init_never_overwrites(consumer: Project) -> None:
    consumer.done("init")
    assert "is there already" in consumer.refused(ExitCode.USAGE, "init")


def test_commands_without_a_lock_say_how_to_start(consumer: Project) -> None:
    for command in ("sync", "check", "status"):
        assert "vendor-tool init" in consumer.refused(ExitCode.USAGE, command)


def test_status_is_a_line_for_each_upstream(consumer: Project, upstream: Repository) -> None:
    consumer.done("init")
    consumer.done("add", "demo", upstream.url, "--path", "pkg/ops", "--file", "bwd.py")
    revision = upstream.git("rev-parse", "main")
    assert consumer.done("status").out == f"demo: {revision[:12]} (main): never synced\n"
    consumer.done("sync")
    assert consumer.done("status").out == (
        f"demo: {revision[:12]} (main) of 2023-11-14: 1 file, 0 patches, as the lock says\n"
    )
    consumer.write({"vendored/demo/bwd.py": "x\n"})
    assert consumer.done("status").out.endswith("1 file, 0 patches, 1 finding\n")


def test_adds_at_once_lose_no_entry(consumer: Project, upstream: Repository) -> None:
    import os
    import subprocess
    import sys

    consumer.done("init")
    top = str(Path(__file__).parent.parent.parent)
    names = [f"demo{number}" for number in range(4)]
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "vendor_tool", "add", name, upstream.url, "--path", "pkg/ops", "--file", "bwd.py"],
            cwd=consumer.root,
            env={**os.environ, "PYTHONPATH": top},
            stderr=subprocess.PIPE,
        )
        for name in names
    ]
    said = [one.communicate()[1].decode() for one in runs]
    assert [one.returncode for one in runs] == [0] * 4, said
    assert all(f"  {name}:\n" in consumer.lock for name in names)
