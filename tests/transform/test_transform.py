"""All rules of an entry over all of its files."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from vendor_tool import transform
from vendor_tool.errors import UsageError
from vendor_tool.model import At, Context, FileSpec, Format, Header, Imports, Rule, Shim, ShimSpec, Source
from vendor_tool.transform import format as formatting

FILES = {"pkg/a.py": "v/a.py", "pkg/b.py": "v/b.py", "pkg/notes.txt": "v/notes.txt"}
CONTEXT = Context("demo", FILES, frozenset({*FILES, "pkg/__init__.py", "pkg/c.py"}), {})
REVISION = "1" * 40


def item(path: str, data: str, **spec: object) -> tuple[Source, FileSpec]:
    number = list(FILES).index(path) + 1
    source = Source(path, FILES[path], f"{number:040d}", data.encode())
    return source, replace(FileSpec(path, None, At(number, 1)), **spec)  # type: ignore[arg-type]  # a test's shorthand


def applied(
    items: Sequence[tuple[Source, FileSpec]], rules: Sequence[Rule] | None, cache: Path | None = None
) -> list[bytes]:
    return [plain.data for plain in transform.apply(items, rules, CONTEXT, REVISION, cache)]


# ---- order and replacement --------------------------------------------------------------------------------


def test_rules_go_in_the_order_of_the_lock() -> None:
    items = [item("pkg/a.py", "import pkg.b as b\nimport os\n"), item("pkg/b.py", "x=1\n")]
    rules: list[Rule] = [Header("Mine"), Imports(), Format(isort=True)]
    assert applied(items, rules) == [b"# Mine\n\nimport os\n\nfrom . import b\n", b"# Mine\n\nx = 1\n"]


def test_a_header_may_come_after_the_formatter() -> None:
    assert applied([item("pkg/b.py", "x=1\n")], [Format(), Header("Mine")]) == [b"# Mine\n\nx = 1\n"]


def test_rules_of_a_file_replace_the_same_kind_in_its_place_and_others_come_last() -> None:
    own = (Format(), Header("One"), Header("Two"))
    items = [item("pkg/a.py", "x=1\n", rules=own), item("pkg/b.py", "import pkg.a as a\n")]
    assert applied(items, [Header("All"), Imports()]) == [
        b"# Two\n#\n# One\n\nx = 1\n",
        b"# All\n\nfrom . import a\n",
    ]


def test_only_and_drop_come_first() -> None:
    items = [item("pkg/a.py", "import pkg.c\n\n\ndef f():\n    return pkg.c\n\n\ny = 1\n", drop=("f",))]
    assert applied(items, None) == [b"y = 1\n"]


def test_the_default_rewrites_imports_and_need_not_fire() -> None:
    items = [item("pkg/a.py", "from pkg.b import x\n"), item("pkg/b.py", "x = 1\n"), item("pkg/notes.txt", "pkg.c\n")]
    assert applied(items, None) == [b"from .b import x\n", b"x = 1\n", b"pkg.c\n"]
    assert applied(items[1:], None) == [b"x = 1\n", b"pkg.c\n"]


def test_a_file_without_changes_keeps_the_same_bytes_object() -> None:
    given = item("pkg/b.py", "x = 1\n")
    assert applied([given], None)[0] is given[0].data


def test_names_are_those_of_all_rules() -> None:
    (plain,) = transform.apply(
        [item("pkg/a.py", "import pkg.b as b\n\n\ndef f(): ...\n", drop=("f",))], [Imports()], CONTEXT, REVISION, None
    )
    assert plain.names == ("f", "pkg.b")
    assert plain.source.data == b"import pkg.b as b\n\n\ndef f(): ...\n"


# ---- every rule fires or fails ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([Imports()], "the rule `imports` in `transforms:` of `demo` finds nothing to do in any of its files"),
        ([Header("x"), Imports()], "the rule `imports` in `transforms:` of `demo` finds nothing to do"),
        ([Shim(("torch",))], "the rule `shim` for `torch` in `transforms:` of `demo` finds nothing to do"),
    ],
)
def test_a_listed_rule_that_finds_nothing_is_refused(rules: list[Rule], message: str) -> None:
    context = replace(CONTEXT, shims={"torch": ShimSpec("torch", "v/_torch.py", At(1, 1))})
    with pytest.raises(UsageError) as caught:
        transform.apply([item("pkg/b.py", "x = 1\n")], rules, context, REVISION, None)
    assert message in caught.value.message


def test_a_rule_that_finds_everything_right_has_fired() -> None:
    assert applied([item("pkg/a.py", "from .b import x\n")], [Imports()]) == [b"from .b import x\n"]


def test_one_file_is_enough_for_a_rule_of_the_entry_but_not_for_one_of_another_file() -> None:
    items = [item("pkg/a.py", "from pkg.b import x\n"), item("pkg/b.py", "x = 1\n")]
    assert len(applied(items, [Imports()])) == 2
    with pytest.raises(UsageError, match=r"`imports` in `transforms:` of `pkg/b\.py` in `demo` finds nothing"):
        applied([items[0], item("pkg/b.py", "x = 1\n", rules=(Imports({"os": "sys"}),))], [Imports()])


def test_every_name_under_rename_has_to_be_imported_somewhere() -> None:
    items = [item("pkg/a.py", "import os.path\nfrom pkg import b\n"), item("pkg/b.py", "from json import tool\n")]
    assert len(applied(items, [Imports({"os": "os", "json.tool": "x.tool", "pkg.b": "y"})])) == 2
    for rename, idle in (
        ({"os": "os", "jsn": "x"}, "jsn: x"),
        ({"os": "a", "os.path": "b"}, "os: a"),
        ({"json": "x", "json.tools": "y"}, "json.tools: y"),
    ):
        with pytest.raises(UsageError) as caught:
            applied(items, [Imports(rename)])
        assert caught.value.message == (
            f"`imports: {{rename: {{{idle}}}}}` in `transforms:` of `demo` finds no such import in its files"
        )
    with pytest.raises(
        UsageError, match=r"rename: \{os: x\}.* in `transforms:` of `pkg/b\.py` in `demo` finds no such"
    ):
        applied([items[0], item("pkg/b.py", "from . import a\n", rules=(Imports({"os": "x"}),))], None)


@pytest.mark.parametrize("key", ["only", "drop"])
def test_a_selected_name_that_no_file_has_is_refused(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        applied([item("pkg/b.py", "x = 1\n", **{key: ("x", "y")})], None)
    assert caught.value.message == (
        f"`{key}: y` of `pkg/b.py` in `demo` names nothing: no top-level function, class or assignment is called that "
        "(lockfile line 2, column 1)"
    )


def test_all_imports_that_are_not_vendored_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        applied([item("pkg/a.py", "import pkg.c\n"), item("pkg/b.py", "from . import c\n")], None)
    assert caught.value.message == (
        "`pkg/a.py:1`: `import pkg.c` needs `pkg/c.py`, which is not vendored\n"
        "`pkg/b.py:1`: `from . import c` needs `pkg/c.py`, which is not vendored"
    )


# ---- dynamic imports --------------------------------------------------------------------------------------


def test_imports_by_string_are_reported_at_their_line_in_the_local_file() -> None:
    data = (
        "import importlib\n"
        "importlib.import_module('pkg.b')\n"
        "__import__('os')\n"
        "importlib.util.find_spec(name='pkg')\n"
        "import_module(f'pkg.{x}')\n"
        "pytest.importorskip('.b', 'pkg')\n"
    )
    (plain,) = transform.apply([item("pkg/a.py", data)], [Header("Mine")], CONTEXT, REVISION, None)
    assert [(note.rule, note.path, note.line, note.message) for note in plain.notes] == [
        (
            "imports-dynamic",
            "v/a.py",
            line,
            f"`{call}` imports `{name}` by its name: strings are not rewritten",
        )
        for line, call, name in (
            (4, "importlib.import_module('pkg.b')", "pkg.b"),
            (6, "importlib.util.find_spec(name='pkg')", "pkg"),
            (7, "import_module(f'pkg.{x}')", "pkg"),
            (8, "pytest.importorskip('.b', 'pkg')", ".b"),
        )
    ]


def test_imports_by_string_of_a_shimmed_module_are_reported() -> None:
    context = replace(CONTEXT, shims={"torch": ShimSpec("torch", "v/_torch.py", At(1, 1))})
    items = [item("pkg/b.py", "x = __import__('torch.nn')\n")]
    (plain,) = transform.apply(items, [], context, REVISION, None)
    assert [note.line for note in plain.notes] == [1]


# ---- cache ------------------------------------------------------------------------------------------------

GIVEN = "import pkg.b as b\n__import__('pkg.b')\n"


def test_a_second_run_takes_the_kept_result_without_listing(tmp_path: Path) -> None:
    items = [item("pkg/a.py", GIVEN), item("pkg/b.py", "x = 1\n")]
    first = transform.apply(items, None, CONTEXT, REVISION, tmp_path)
    again = transform.cached(items, None, replace(CONTEXT, listing=frozenset()), REVISION, tmp_path)
    assert again is not None
    assert [(p.data, p.names, p.notes) for p in again] == [(p.data, p.names, p.notes) for p in first]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"revision": "2" * 40}, id="revision"),
        pytest.param({"rules": [Imports()]}, id="rules"),
        pytest.param({"context": replace(CONTEXT, files={**FILES, "pkg/c.py": "v/c.py"})}, id="files"),
        pytest.param({"context": replace(CONTEXT, shims={"x": ShimSpec("x", "v/_x.py", At(1, 1))})}, id="shims"),
        pytest.param({"items": [item("pkg/a.py", GIVEN, drop=("y",))]}, id="selection"),
        pytest.param({"items": [item("pkg/a.py", GIVEN, rules=(Header("x"),))]}, id="rules of a file"),
    ],
)
def test_whatever_shapes_the_bytes_is_in_the_key(change: dict[str, object], tmp_path: Path) -> None:
    asked: dict[str, object] = {
        "items": [item("pkg/a.py", GIVEN)],
        "rules": None,
        "context": CONTEXT,
        "revision": REVISION,
        "cache": tmp_path,
    }
    transform.apply(**asked)  # type: ignore[arg-type]  # a test's shorthand
    assert transform.cached(**asked) is not None  # type: ignore[arg-type]
    assert transform.cached(**{**asked, **change}) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("damage", [b"", b"x", b"0" * 64 + b"\n[]\n"])
def test_a_damaged_entry_is_a_miss(damage: bytes, tmp_path: Path) -> None:
    items = [item("pkg/a.py", GIVEN)]
    applied(items, None, tmp_path)
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    entry.write_bytes(damage or entry.read_bytes()[:-1])
    assert transform.cached(items, None, CONTEXT, REVISION, tmp_path) is None
    assert applied(items, None, tmp_path) == [b"from . import b\n__import__('pkg.b')\n"]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert applied([item("pkg/a.py", GIVEN)], None, tmp_path / "file") == [b"from . import b\n__import__('pkg.b')\n"]


# ---- tools, stand-ins, processes --------------------------------------------------------------------------


def test_versions_name_the_tools_that_shape_bytes() -> None:
    spec = FileSpec("x.py", None, At(1, 1))
    assert transform.versions([Header("x")], [spec], {}) == {}
    assert transform.versions(None, [spec], {}) == {"libcst": metadata.version("libcst")}
    assert set(transform.versions([], [replace(spec, drop=("x",))], {})) == {"libcst"}
    assert transform.versions([], [replace(spec, rules=(Format(),))], {}) == {"ruff": formatting.version()}


def test_shims_used_are_those_that_a_file_names() -> None:
    shims = {
        "torch": ShimSpec("torch", "v/_torch.py", At(1, 1)),
        "triton": ShimSpec("triton", "v/_stand.py", At(2, 1), "our.kernels._triton"),
    }
    assert transform.shims_used([b"from ._torch import nn\n", b"x = 1\n"], shims) == {"v/_torch.py"}
    assert transform.shims_used([b"from our.kernels._triton import x\n"], shims) == {"v/_stand.py"}
    assert transform.shims_used([b"from ._torch_extra import _tritons\n"], shims) == set()


def test_several_processes_give_what_one_gives() -> None:
    program = (
        "from vendor_tool import transform\n"
        "from vendor_tool.errors import UsageError\n"
        "from vendor_tool.model import *\n"
        "if __name__ == '__main__':\n"
        "    files = {f'p/m{n}.py': f'v/m{n}.py' for n in range(8)}\n"
        "    context = Context('d', files, frozenset(files), {})\n"
        "    items = [(Source(p, to, '', f'import p.m0 as z\\nx = {p!r}\\n'.encode()), FileSpec(p, None, At(1, 1)))"
        " for p, to in files.items()]\n"
        "    one = transform.apply(items, None, context, '', None)\n"
        "    transform.PARALLEL_FROM = 1\n"
        "    many = transform.apply(items, None, context, '', None)\n"
        "    print(one == many, many[3].data)\n"
        "    bad = [(items[0][0], items[0][1]), (Source('p/m1.py', 'v/m1.py', '', b'import p.m0\\np = 1\\n'), items[1][1])]\n"
        "    try:\n"
        "        transform.apply(bad, None, context, '', None)\n"
        "    except UsageError as problem:\n"
        "        print(problem.message[:12], problem.hint[:8])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True b\"from . import m0 as z\\nx = 'p/m3.py'\\n\"\n`p/m1.py:2`: keep the\n"
