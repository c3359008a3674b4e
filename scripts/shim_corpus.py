"""How much of the TileLang code in the wild the lazy shim carries, measured file by file.

    python scripts/shim_corpus.py CORPUS.tsv FOLDER --work SCRATCH [--site DIR]... > table.md

CORPUS.tsv names the files (stratum, repository, revision, ..., path, ..., blob). FOLDER holds bare clones
(`OWNER+NAME/repo`, or `NAME.git`) and unpacked or packed wheels (`NAME-VERSION-*.whl`). Needs torch, numpy and TileLang
beside vendor-tool; `--site` puts folders of packages first. Executes every file: run it where that does no harm.

Each file is imported three times, each time in a forked process of its own with bare parent packages: as it is, with
the runtime; rewritten, without the runtime; rewritten, with the runtime, and then everything deferred is resolved and
the module's names are compared with those of the first.
"""

import argparse
import builtins
import collections
import contextlib
import csv
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STAND_IN = "_stand_in_of_tilelang"
STRATA = ("library", "downstream")
SECONDS = 120


@dataclass
class Tree:
    """One repository or wheel at one revision, unpacked."""

    name: str
    folder: Path
    targets: list[str] = field(default_factory=list)


# ---- the parent: unpack, rewrite, ask, tell ---------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--site", action="append", default=[])
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    trees = list(unpacked(arguments.corpus, arguments.folder, arguments.work, arguments.only))
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda tree: measured(tree, arguments.work, arguments.site), trees))
    flat = [row for tree_rows in rows for row in tree_rows]
    (arguments.work / "rows.json").write_text(json.dumps(flat, indent=1))
    print("\n".join(table(flat)))


def unpacked(corpus: Path, folders: list[Path], work: Path, only: str) -> Iterator[Tree]:
    wanted: dict[tuple[str, str], list[dict[str, str]]] = collections.defaultdict(list)
    with corpus.open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["stratum"] in STRATA and only in row["repo"]:
                wanted[row["repo"], row["revision"]].append(row)
    for (repo, revision), rows in sorted(wanted.items()):
        target = work / "trees" / re.sub(r"[^\w.-]", "+", f"{repo}@{revision[:12]}")
        if not target.exists() and not unpack(repo, revision, rows, folders, target):
            print(f"not there: {repo} {revision[:12]} ({len(rows)} files)", file=sys.stderr)
            continue
        same = [row["path"] for row in rows if blob(target / row["path"]) == row["blob"]]
        yield Tree(f"{repo}@{revision[:8]}", target, same)


def unpack(repo: str, revision: str, rows: list[dict[str, str]], folders: list[Path], target: Path) -> bool:
    if repo.startswith("pypi:"):
        wheels = [found for folder in folders for found in folder.glob(f"{repo[5:]}-{revision}-*.whl")]
        if wheels:
            zipfile.ZipFile(wheels[0]).extractall(target)
        return bool(wheels)
    for folder in folders:
        git = folder / repo.replace("/", "+") / "repo"
        if git.is_dir():
            tops = sorted({row["path"].split("/")[0] for row in rows})
            for which in (revision, "HEAD"):  # a snapshot may hold a newer commit only
                command = ["git", "-C", str(git), "archive", which, "--", *tops]
                pack = subprocess.run(command, capture_output=True, check=False)
                if pack.returncode == 0:
                    target.mkdir(parents=True)
                    subprocess.run(["tar", "-x", "-C", str(target)], input=pack.stdout, check=True)
                    return True
    return False


def blob(file: Path) -> str:
    """The git id of the file's content."""
    data = file.read_bytes() if file.is_file() else b""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def measured(tree: Tree, work: Path, site: list[str]) -> list[dict[str, Any]]:
    rewritten = work / "rewritten" / tree.folder.name
    refused = rewrite(tree, rewritten)
    real = ask(tree.folder, tree.targets, "real", {}, work, site)
    bare = {path: outcome.get("bare", True) for path, outcome in real.items()}
    for path in tree.targets:
        if "error" not in real[path] and path not in refused:
            refused |= rehearse(rewritten, path, bare[path])
    absent = ask(rewritten, tree.targets, "absent", bare, work, site)
    resolved = ask(rewritten, tree.targets, "resolved", bare, work, site)
    rows = []
    for path in tree.targets:
        if b" import *" in (tree.folder / path).read_bytes() and "names" in real[path]:
            # a star is rewritten to the names that the file uses; the others are nobody's
            brought = real[path]["names"].keys() - resolved[path].get("names", {}).keys()
            real[path]["names"] = {name: text for name, text in real[path]["names"].items() if name not in brought}
        kind, reason = verdict(real[path], absent[path], resolved[path], refused.get(path))
        rows.append({"tree": tree.name, "path": path, "kind": kind, "reason": reason})
    print(f"{tree.name}: {len(tree.targets)} {dict(collections.Counter(row['kind'] for row in rows))}", file=sys.stderr)
    return rows


def rewrite(tree: Tree, target: Path) -> dict[str, str]:
    """Rewrites all files of the tree that name the module, and gives what `sync` would refuse."""
    from vendor_tool.errors import UsageError
    from vendor_tool.model import At, Context, Shim, ShimSpec, Source
    from vendor_tool.transform import shim, shim_proof

    spec = ShimSpec("tilelang", f"{STAND_IN}.py", At(1, 1), STAND_IN, {"T": "tilelang.language"})
    context = Context("corpus", {}, frozenset(), {"tilelang": spec})
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(tree.folder, target, symlinks=True, copy_function=os.link)
    (target / spec.to).write_bytes(shim.render(spec))
    refused = {}
    for file in target.rglob("*.py"):
        path = file.relative_to(target).as_posix()
        if file.is_symlink() or not file.is_file() or path == spec.to or b"tilelang" not in file.read_bytes():
            continue
        try:
            data = shim.apply(Source(path, path, "", file.read_bytes()), Shim(("tilelang",)), context).data
        except UsageError as problem:
            refused[path] = problem.message
            continue
        file.unlink()  # a hard link to the original
        file.write_bytes(data)
        if path in tree.targets:
            for finding in shim_proof.static(path, data, {"tilelang": spec}):
                refused.setdefault(path, f"line {finding.line}: {finding.message}")
    return refused


def rehearse(folder: Path, path: str, bare: bool) -> dict[str, str]:
    """What `sync` refuses because the file would become something else than the unmodified one."""
    from vendor_tool.transform import shim_rehearsal

    roots, packages, name = places(folder, path)
    request = {
        "folders": [f"{folder}/"],
        "roots": [str(root) for root in roots],
        "packages": list(packages.items()) if bare else [],
        "modules": [name],
        "files": {name: str(folder / path)},
        "absent": ["tilelang", "tvm"],
        "patient": ["autotune", "jit", "lazy_jit", "requires_"],
    }
    with (
        tempfile.TemporaryDirectory() as scratch,
        shim_rehearsal.begun(request, Path(scratch), sys.executable) as remarks,
    ):
        errors = [one for one in remarks() if one.level == "error"]
    return {path: f"line {errors[0].line}: {errors[0].text}"} if errors else {}


def ask(
    folder: Path, targets: list[str], side: str, bare: dict[str, bool], work: Path, site: list[str]
) -> dict[str, dict[str, Any]]:
    asked = work / f"{folder.name}.{side}.request.json"
    answer = work / f"{folder.name}.{side}.answer.jsonl"
    asked.write_text(
        json.dumps({"folder": str(folder.resolve()), "targets": targets, "side": side, "bare": bare, "site": site})
    )
    answer.write_bytes(b"")
    with (work / "noise.log").open("ab") as noise:
        subprocess.run(
            [sys.executable, __file__, "--zygote", str(asked), str(answer)],
            stdout=noise,
            stderr=noise,
            env={**os.environ, "PYTHONHASHSEED": "0", "TILELANG_DISABLE_CACHE": "1"},
            check=False,
        )
    lines = [json.loads(line) for line in answer.read_text().splitlines()]
    return {path: {"error": "Nothing", "text": ""} for path in targets} | {line.pop("path"): line for line in lines}


def verdict(
    real: dict[str, Any], absent: dict[str, Any], resolved: dict[str, Any], refused: str | None
) -> tuple[str, str]:
    for outcome in (real, absent):
        missing = (outcome.get("missing") or "").partition(".")[0]
        if outcome.get("error") == "ModuleNotFoundError" and missing not in ("tilelang", "tvm", "", STAND_IN):
            return "other package", missing
    if "error" in real:
        return "not with the runtime either", f"{real['error']}: {real['text'][:160]}"
    if refused:
        return "refused", refused
    if absent.get("deferred"):
        file, line, what, value = absent["deferred"]
        return "refused", f"{file}, line {line}: {what} of {value}"
    if "error" in absent:
        return "refused", f"{absent['error']}: {absent['text'][:160]}"
    if "error" in resolved:
        return "silent", f"{resolved['error']}: {resolved['text'][:300]}"
    one, two = real["names"], resolved["names"]
    differing = [name for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)]
    if differing:
        name = differing[0]
        return "silent", f"{len(differing)} names differ, first {name}: {one.get(name)} / {two.get(name)}"[:400]
    return "ok", ""


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    kinds = ("ok", "refused", "silent", "not with the runtime either", "other package")
    yield "| project | files | " + " | ".join(kinds) + " |"
    yield "|---|" + "---|" * (len(kinds) + 1)
    trees = sorted({row["tree"] for row in rows})
    for tree in [*trees, None]:
        some = [row for row in rows if tree in (None, row["tree"])]
        counts = collections.Counter(row["kind"] for row in some)
        yield f"| {tree or '**all**'} | {len(some)} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |"
    counts = collections.Counter(row["kind"] for row in rows)
    base = counts["ok"] + counts["refused"] + counts["silent"]
    yield ""
    yield f"Of {base} files that the real package imports, {counts['ok']} import ({counts['ok'] / max(base, 1):.1%})."


# ---- the child: one forked process for each file ------------------------------------------------------------------


def zygote(asked: str, answer: str) -> None:
    request = json.loads(Path(asked).read_text())
    sys.path[:0] = request["site"]
    sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent]
    import numpy  # type: ignore[import-not-found]  # noqa: F401
    import torch  # noqa: F401

    for name in ("torch._dynamo", "triton.language", "einops", "pytest"):  # what many files load, once for all forks
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    if request["side"] == "absent":
        hide()
    else:
        import tilelang
        import tilelang.language  # noqa: F401
    for path in request["targets"]:
        pid = os.fork()
        if pid == 0:
            child(path, request, answer)
            os._exit(0)
        waited(pid, path, answer)


def hide() -> None:
    class Without:
        def __init__(self, finder: Any) -> None:
            self.finder = finder

        def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
            if name.partition(".")[0] in ("tilelang", "tvm"):
                return None
            return self.finder.find_spec(name, path, target)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.finder, name)

    sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]


def waited(pid: int, path: str, answer: str) -> None:
    import time

    for _ in range(SECONDS * 20):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            if status:
                tell(answer, {"path": path, "error": "Ended", "text": f"status {status}"})
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    tell(answer, {"path": path, "error": "Slow", "text": ""})


def tell(answer: str, outcome: dict[str, Any]) -> None:
    with Path(answer).open("a") as lines:
        lines.write(json.dumps(outcome) + "\n")


def child(path: str, request: dict[str, Any], answer: str) -> None:
    bare = request["bare"].get(path, True)
    outcome = imported(path, request, bare)
    if request["side"] == "real" and "error" in outcome and bare:
        pid = os.fork()  # a package that its files cannot do without
        if pid:
            os.waitpid(pid, 0)
            return
        for name in [name for name in sys.modules if getattr(sys.modules[name], "_bare", False)]:
            del sys.modules[name]
        second = imported(path, request, bare=False)
        if "error" not in second:
            outcome = {**second, "bare": False}
    tell(answer, {"path": path, **outcome})


def places(folder: Path, path: str) -> tuple[list[Path], dict[str, list[str]], str]:
    """The folders that the file's imports start at, its parent packages with their folders, and its own name."""
    parts = path.removesuffix(".py").split("/")
    start = 0
    for index in range(len(parts) - 1, 0, -1):  # the outermost folder of the package, or the file's own
        if (folder / "/".join(parts[:index]) / "__init__.py").exists():
            start = index - 1
        else:
            start = max(start, index) if start == 0 and index == len(parts) - 1 else start
            break
    roots = [folder / "/".join(parts[:start]), folder, folder / "python", folder / "src"]
    names = parts[start:-1] if parts[-1] == "__init__" else parts[start:]
    packages = {
        ".".join(names[:index]): [str(folder / "/".join([*parts[:start], *names[:index]]))]
        for index in range(1, len(names))
    }
    return [root for root in dict.fromkeys(roots) if root.is_dir()], packages, ".".join(names)


def imported(path: str, request: dict[str, Any], bare: bool) -> dict[str, Any]:
    import traceback

    folder = Path(request["folder"])
    roots, packages, name = places(folder, path)
    sys.path[:0] = [str(root) for root in roots]
    for package, locations in packages.items() if bare else ():
        module = types.ModuleType(package)
        module.__path__ = locations
        module._bare = True  # type: ignore[attr-defined]
        sys.modules[module.__name__] = module
    try:
        space = vars(importlib.import_module(STAND_IN)) if request["side"] == "resolved" else {}
        space["_loaded_elsewhere"] = lambda: False
        module = importlib.import_module(name)
        if request["side"] == "resolved":
            space["_resolve"]()
            failed = space["_failed"].get(id(vars(module)))
            if failed is not None:
                raise failed
        return {"names": {} if request["side"] == "absent" else names_of(module, folder)}
    except BaseException as error:  # noqa: BLE001 whatever a file raises is its result
        deferred = getattr(error, "deferred", None)
        return {
            "error": type(error).__name__,
            "text": str(error)[:1000],
            "missing": getattr(error, "name", None) if isinstance(error, ImportError) else None,
            "deferred": deferred and [str(part).removeprefix(f"{folder}/") for part in deferred],
            "frames": [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)][-3:],
        }


def names_of(module: Any, folder: Path) -> dict[str, str]:
    """Every name of the module with its type and, as far as it has one, its value as text."""

    def text(value: Any) -> str:
        if isinstance(value, types.FunctionType):
            parts = (value.__defaults__, value.__kwdefaults__, value.__annotations__)
            shown = repr(parts)
        elif isinstance(value, type):
            shown = repr([(name, text(part)) for name, part in sorted(vars(value).items()) if name[:2] != "__"])
        elif isinstance(value, set | frozenset):
            shown = repr(sorted(map(repr, value)))
        else:
            shown = repr(value)
        # kernels carry their source: its place, and the import lines inside of functions, are the only differences
        shown = shown.replace(str(folder), "").replace(STAND_IN, "tilelang")
        shown = re.sub(r"0x[0-9a-f]+", "0x", shown)
        return f"{type(value).__module__}.{type(value).__qualname__} {shown}"

    kept = {
        name: value
        for name, value in vars(module).items()
        # the shim calls `float` by another name where it can be put off
        if name[:2] != "__" and getattr(builtins, name[1:], None) is not value
    }
    texts = {name: text(value) for name, value in kept.items()}
    return {
        name: shown[:120] + hashlib.sha1(shown.encode(errors="replace")).hexdigest() for name, shown in texts.items()
    }


if __name__ == "__main__":
    if sys.argv[1] == "--zygote":
        zygote(*sys.argv[2:])
    else:
        main()
