"""G10 to G12: rewriting, without fetching and writing."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

from clock import against
from made import kernel, plain
from place import Place
from row import Row, counted, timed

DRIVER = """\
import pathlib, sys
from vendor_tool import transform
from vendor_tool.model import At, Context, FileSpec, Imports, Shim, ShimSpec, Source
if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    items = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        items.append((Source(name, f"vendored/{name}", name, path.read_bytes()), FileSpec(name, None, At(1, 1))))
    files = {source.path: source.to for source, _ in items}
    shims = {"tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", At(1, 1))}
    context = Context("measured", files, frozenset(files), shims)
    # None is the default, as a lock without `transforms:` has it
    done = transform.apply(items, None, context, "0" * 40, None)
    changed = sum(plain.data != plain.source.data for plain in done)
    print(len(done), changed, int("libcst" in sys.modules), int("libcst.metadata" in sys.modules))
"""
PARSE = (
    "import libcst, pathlib, sys; [libcst.parse_module(p.read_bytes()) for p in pathlib.Path(sys.argv[1]).iterdir()]"
)
AST = "import ast, pathlib, sys; [ast.parse(p.read_bytes()) for p in pathlib.Path(sys.argv[1]).rglob('*.py')]"


def _driver(place: Place) -> Path:
    path = place.folder / "driver.py"
    path.write_text(DRIVER, encoding="utf-8")
    return path


def _twelve(place: Place, named: bool) -> Path:
    folder = place.fresh("twelve")
    for number in range(12):
        text = kernel(number, 260) if named else plain(number, 260)
        (folder / f"kernel_{number}.py").write_text(text, encoding="utf-8")
    return folder


def g10(place: Place) -> list[Row]:
    """Twelve files in which there is nothing to rewrite."""
    driver, folder = _driver(place), _twelve(place, named=False)
    pair = against(lambda: place.python(driver, folder), lambda: place.python("-c", "pass"), 2 * place.rounds)
    loaded = _facts(place, driver, folder)[2]
    return [
        timed("G10", "rewrite of 12 files, nothing to change", pair, "python -c pass", 5.0),
        counted("G10", "libcst loaded", loaded, 1, "below", 0),
    ]


def g11(place: Place) -> list[Row]:
    """Twelve files that all change."""
    driver, folder = _driver(place), _twelve(place, named=True)
    pair = against(lambda: place.python(driver, folder), lambda: place.python("-c", PARSE, folder), place.rounds)
    facts = _facts(place, driver, folder)
    assert facts[:2] == (12, 12), facts
    return [
        timed("G11", "rewrite of 12 files that change", pair, "libcst, parse", 1.8, 1.4),
        counted("G11", "libcst.metadata loaded", facts[3], 1, "below", 0),
    ]


def g12(place: Place) -> list[Row]:
    """A tree of 337 modules as people write them, of which seven name the module."""
    tree = place.fresh("tree")
    _standard_library(tree)
    driver = _driver(place)
    pair = against(lambda: place.python(driver, tree), lambda: place.python("-c", AST, tree), place.rounds)
    count, changed, *_ = _facts(place, driver, tree)
    return [timed("G12", f"rewrite of {count} files, {changed} name the module", pair, "ast.parse", 0.5)]


def _standard_library(tree: Path) -> None:
    """The interpreter's own modules stand for a tree of code: they are everywhere, and nobody's kernels."""
    library = Path(sysconfig.get_path("stdlib"))
    paths = [
        path
        for path in sorted(library.rglob("*.py"))
        if not {"test", "site-packages", "idlelib", "lib2to3"} & set(path.parts)
    ]
    sizes = [path for path in paths if 500 < path.stat().st_size < 40_000]
    # moved out of its package, a module cannot import its neighbours
    alone = [path for path in sizes if b"from ." not in path.read_bytes()][:337]
    for number, path in enumerate(alone):
        target = tree / f"part_{number % 20}" / f"module_{number}.py"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, target)
    for number in range(7):
        target = tree / f"part_{number}" / f"module_{number}.py"
        target.write_text(kernel(number, 260), encoding="utf-8")


def _facts(place: Place, driver: Path, folder: Path) -> tuple[int, ...]:
    from clock import run

    return tuple(int(word) for word in run(place.python(driver, folder)).out.split())
