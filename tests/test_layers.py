"""Who may import whom, and that each third-party package has one home: read from the source, without running it."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vendor_tool"

# a module imports its own row's name and rows below it
LAYERS = (
    ("__main__", "ci"),
    ("cli",),
    ("pipeline", "parity"),
    ("reports",),
    ("outdated", "preview", "adoption"),
    ("moves", "surface"),
    ("codegen", "documents", "checks", "fetch", "transform", "merge", "licences", "fence", "demo"),
    ("evidence",),
    ("origins", "known_bad"),
    ("vcs", "lockfile", "plan", "patch", "write", "legal", "memory", "baseline", "stamp"),
    ("links",),
    ("errors", "urls", "paths", "lines", "words", "remote", "interrupts"),
    ("model",),
    ("findings",),
    ("patterns", "values", "rehearsal"),
)
RANK = {name: rank for rank, row in enumerate(reversed(LAYERS)) for name in row}

HOMES = {
    "git": {"vcs"},
    "yaml": {"lockfile"},
    "requests": {"fetch"},
    "libcst": {"transform"},
    "rich": {"cli"},
    "shtab": {"cli"},
    "licenseclassifier": {"licences"},
    "license_expression": {"licences"},
    "torch": {"parity", "codegen"},
    "tilelang": {"parity", "codegen"},
    "tvm": {"codegen"},
    "tvm_ffi": {"parity", "codegen"},
    "pytest": {"parity"},
    "_pytest": {"parity"},
    "xdist": {"parity"},
    "ray": {"parity"},
    "numpy": {"parity", "codegen"},
    "tomli": {"checks", "fence"},
    "tomllib": {"checks", "fence"},  # of the standard library from 3.11 on
    "packaging": {"checks", "outdated", "lockfile", "known_bad", "parity"},
}


def modules() -> Iterator[tuple[str, Path]]:
    """Top-level name within the package, and file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] == "demo" and len(parts) > 2:
            continue  # the demo's upstreams are data
        if parts[0] != "__init__":
            yield parts[0], path


def imports(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: relative import"
            if node.module == "vendor_tool":
                yield from ((node.lineno, f"vendor_tool.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module or ""


def test_modules_import_only_layers_below_their_own() -> None:
    wrong = []
    for name, path in modules():
        assert name in RANK, f"{path} stands in no layer"
        for line, module in imports(path):
            parts = module.split(".")
            if parts[0] != "vendor_tool" or len(parts) == 1 or parts[1] in (name, "__version__"):
                continue
            if RANK.get(parts[1], 99) >= RANK[name]:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {name} imports {parts[1]}")
    assert wrong == []


def test_third_party_packages_have_one_home() -> None:
    wrong = []
    for name, path in modules():
        for line, module in imports(path):
            top = module.partition(".")[0]
            if top == "vendor_tool" or top in sys.stdlib_module_names:
                continue
            if name not in HOMES.get(top, set()):
                wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {top} in {name}")
    assert wrong == []


@pytest.mark.parametrize("forbidden", ["print", "sys.exit"])
def test_only_the_command_line_prints(forbidden: str) -> None:
    found = []
    for name, path in modules():
        if name in ("ci", "cli", "__main__"):
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == forbidden:
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert [one for one in found if not one.startswith(("codegen/", "transform/shim_child.py", "parity/"))] == []


def test_there_is_one_broad_except_in_each_program() -> None:
    found = []
    for _, path in modules():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ExceptHandler):
                caught = "" if node.type is None else ast.unparse(node.type)
                if caught in ("", "BaseException") or "Exception" in caught.strip("()").split(", "):
                    found.append(path.relative_to(PACKAGE).as_posix())
    # three more are programs of their own: children that run other people's code and report how it failed; a thread of
    # `vcs` hands what it failed with to the thread that waits for it
    programs = ["codegen/trace.py", "rehearsal/play.py", "rehearsal/state.py", "transform/shim_child.py"]
    assert sorted(set(found)) == sorted(["cli/__init__.py", "vcs.py", *programs])
