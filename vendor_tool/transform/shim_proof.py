"""Proves that written files import without the modules that they shim, in a fresh interpreter.

The source is read first: some uses at import give a wrong answer where others raise. Then every file is imported,
with what is installed here, and rehearsed, with everything else made up.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from vendor_tool import interrupts
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import ShimSpec, Source
from vendor_tool.transform import programs, shim_child, shim_copy, shim_rehearsal, syntax
from vendor_tool.transform.shim_siblings import Siblings, siblings
from vendor_tool.values import dataclass, replace

RULES: Mapping[str, RuleInfo] = {
    "shim-import-time": RuleInfo(
        "shim-import-time",
        "error",
        "A shimmed module is needed while the file is imported.",
        "The file does something at import that cannot be put off until the first call: it branches on a version, asks "
        "`hasattr`, builds or runs a kernel. Move it into a function with a patch, or drop the definition.",
    ),
    "shim-not-proven": RuleInfo(
        "shim-not-proven",
        "note",
        "Whether the file imports without the shimmed modules could not be tried here.",
        "The file needs another package that is not installed here, or failed for a reason of its own. Install the "
        "package and sync again, or try it where it is installed.",
    ),
}

_SECONDS = 600
_UNTRIED = "whether it becomes what the unmodified file is cannot be tried with made-up packages: "
_NEEDS = "not provable here: needs "
_OF_STAND_INS = re.compile(r"\b_(Deferred|Stub|Builtin|Base|Meta)\b|metaclass conflict|<deferred |\u27e8")
"""What Python says of deferred values where it stops at one itself, and how the mark for one in text begins."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What importing one module gave. Files are paths as the child process saw them."""

    module: str
    loaded: tuple[str, ...] = ()  # absent modules that are there after all
    error: str | None = None  # the exception's class
    text: str = ""
    missing: str | None = None  # the module that an ImportError names
    deferred: tuple[str, int, str, str] | None = None  # where a deferred value was needed: file, line, what, value
    frames: tuple[tuple[str, int], ...] = ()
    causes: tuple[tuple[str, str], ...] = ()  # the module that each earlier ImportError names, and the text


def prove(
    files: Mapping[str, bytes], shims: Mapping[str, ShimSpec], *, root: Path | None = None, python: str = sys.executable
) -> tuple[Finding, ...]:
    """Imports the final `files` that use a stand-in with the shimmed modules absent, and rehearses their first use.

    `files` maps local paths to final bytes and holds the stand-ins too. All imports run in child processes of
    `python`, which execute the files: in a temporary copy, with the folder `root` of the project behind it for
    modules of the project's own. Lines are those of the final files.
    """
    known = siblings(files, shims, shim_copy.roots(shims))
    users = known.users()
    found = [finding for path in sorted(files) for finding in _unread(path, files[path], shims)]
    found += [finding for path in users for finding in _read(path, known)]
    if users:
        with interrupts.terminable(), shim_copy.copied(files) as copy:
            request = shim_copy.request(copy, files, users, shims, root)
            with shim_rehearsal.begun(request, copy.parent, python) as remarks:
                found += _imported(request, users, shims, {finding.path for finding in found}, python)
                told = {finding.path: finding.level for finding in found if finding.level != "note"}
                for one in _rehearsed(remarks(), request["folders"]):
                    if one.path not in told or (one.level == "error" and told[one.path] != "error"):
                        found.append(one)
    return tuple(dict.fromkeys(found))


def _imported(
    request: shim_copy.Request,
    users: Sequence[str],
    shims: Mapping[str, ShimSpec],
    told: set[str | None],
    python: str,
) -> Iterator[Finding]:
    """What goes wrong where each file is imported without the shimmed modules."""
    lacking = []
    for module, outcome in _outcomes({**request, "program": None}, python):
        finding = _finding(module, outcome, request, users, shims)
        if finding is not None and missing(finding) is not None:
            lacking.append(module)
        # what the source shows is said once, with every place
        if finding is not None and not (finding.level != "note" and finding.path in told):
            yield finding
    if lacking:  # with what they lack made up, what they ask of a shimmed module shows all the same
        files = {module: request["files"][module] for module in lacking}
        for module, outcome in _outcomes({**request, "files": files, "program": shim_copy.PROGRAM}, python):
            finding = _finding(module, outcome, request, users, shims)
            ended = outcome.error == "Ended"  # by what was made up, perhaps
            if finding is not None and finding.level == "error" and not ended and finding.path not in told:
                yield finding


def _rehearsed(remarks: Iterable[shim_rehearsal.Remark], folders: Sequence[str]) -> Iterator[Finding]:
    for one in remarks:
        path = next(one.file.removeprefix(folder) for folder in folders if one.file.startswith(folder))
        if one.level == "error":
            yield Finding("shim-import-time", "error", one.text, path=path, line=one.line)
        else:
            yield Finding("shim-not-proven", "note", f"{_UNTRIED}{one.text}", path=path)


def static(path: str, data: bytes, shims: Mapping[str, ShimSpec]) -> Iterator[Finding]:
    """What the source of one final file shows, by itself; nothing is imported."""
    yield from _unread(path, data, shims) or _read(path, siblings({path: data}, shims, shim_copy.roots(shims)))


def _unread(path: str, data: bytes, shims: Mapping[str, ShimSpec]) -> list[Finding]:
    """That a file which seems to import from a stand-in is no Python."""
    lasts = [
        (spec.import_ or spec.to.removesuffix(".py")).replace("/", ".").rpartition(".")[2] for spec in shims.values()
    ]
    if path.endswith(".py") and any(last.encode() in data for last in lasts):
        try:
            syntax.tree(Source(path, path, "", data))
        except UsageError as problem:
            return [Finding("shim-import-time", "error", problem.message, path=path)]
    return []


def _read(path: str, known: Siblings) -> list[Finding]:
    return [
        Finding("shim-import-time", "error", _needed(use.what), path=path, line=use.line) for use in known.uses(path)
    ]


def _needed(what: str) -> str:
    return f"{what} is needed while the file is imported, and cannot be put off until the first call"


def _outcomes(request: shim_copy.Request, python: str) -> Iterator[tuple[str, _Outcome]]:
    """What importing each module gave; a file that ends the process costs one more process for the rest."""
    copy = Path(request["folders"][0])
    left = list(request["files"])
    while left:
        for outcome in _run({**request, "modules": left}, copy.parent, python):
            left.remove(outcome.module)
            yield outcome.module, _localised(outcome, copy)


def _localised(outcome: _Outcome, copy: Path) -> _Outcome:
    def local(file: str) -> str:
        return str(Path(file).resolve()).removeprefix(f"{copy}/")

    deferred = outcome.deferred and (local(outcome.deferred[0]), *outcome.deferred[1:])
    return replace(outcome, deferred=deferred, frames=tuple((local(file), line) for file, line in outcome.frames))


def _run(request: shim_copy.Request, folder: Path, python: str) -> Iterator[_Outcome]:
    asked, results = folder / "request.json", folder / "results.jsonl"
    asked.write_text(json.dumps({**request, "results": str(results)}), encoding="utf-8")
    results.write_bytes(b"")
    process = programs.start([python, "-I", "-B", "-W", "ignore", shim_child.__file__, str(asked)], folder)
    seconds = _SECONDS if request["program"] is None else shim_rehearsal.SECONDS
    late = programs.wait([process], seconds)
    end = f"it took more than {seconds} seconds" if late else f"the process ended with status {process.returncode}"
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    finished = [line for line in lines if "started" not in line]
    for line in finished:
        frames = tuple((file, number) for file, number in line.pop("frames", ()))
        deferred = line.pop("deferred", None)
        causes = tuple((name, text) for name, text in line.pop("causes", ()))
        loaded = tuple(line.pop("loaded", ()))
        yield _Outcome(**line, loaded=loaded, deferred=deferred and tuple(deferred), frames=frames, causes=causes)
    if len(finished) < len(request["modules"]):
        # the one that was started and not finished; the first, where the interpreter itself did not start
        name = lines[-1]["module"] if lines and "started" in lines[-1] else str(request["modules"][len(finished)])
        yield _Outcome(name, error="Ended", text=end)


def missing(note: Finding) -> str | None:
    """The module that a note of `prove` says is not installed here; None for other notes."""
    return note.message.removeprefix(_NEEDS).strip("`") if note.message.startswith(_NEEDS) else None


def _finding(
    module: str, outcome: _Outcome, request: shim_copy.Request, users: Sequence[str], shims: Mapping[str, ShimSpec]
) -> Finding | None:
    path = request["files"][module].removeprefix(request["folders"][0])
    if not outcome.missing:  # a file is not to blame for one that it imports
        path = next((file for file, _ in reversed(outcome.frames) if file in users), path)
    absent = shim_copy.absent(shims)
    if outcome.loaded:
        return Finding("shim-import-time", "error", f"importing it loads `{outcome.loaded[0]}`", path=path)
    if outcome.error is None:
        return None
    if outcome.deferred:
        file, number, what, value = outcome.deferred
        text = value.removeprefix("<deferred ").removesuffix(">")
        return Finding("shim-import-time", "error", _needed(f"{what} of `{text}`"), path=file, line=number)
    top = (outcome.missing or "").partition(".")[0]
    if outcome.error == "ModuleNotFoundError" and top and top not in absent:
        return Finding("shim-not-proven", "note", f"{_NEEDS}`{outcome.missing}`", path=path)
    stand_ins = {spec.to for spec in shims.values()}
    line = next((number for file, number in reversed(outcome.frames) if file == path), None)
    why = f"{outcome.error}: {outcome.text}"
    ours = any(file in stand_ins for file, _ in outcome.frames)
    named = {str(name).partition(".")[0] for name, _ in outcome.causes} | {top}
    texts = [outcome.text, *(text for _, text in outcome.causes)]
    if named & absent or not outcome.frames or ours or any(map(_OF_STAND_INS.search, texts)):
        names = "`, `".join(sorted(shims))
        return Finding(
            "shim-import-time", "error", f"it cannot be imported without `{names}`: {why}", path=path, line=line
        )
    return Finding(
        "shim-not-proven", "warning", f"importing it failed for a reason of its own: {why}", path=path, line=line
    )
