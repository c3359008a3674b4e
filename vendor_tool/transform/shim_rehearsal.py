"""Rehearses written files with made-up packages: does each become what the unmodified file would be?

Every file is imported with a made-up runtime that is loaded already, and with one that is put off and then caught up
with. What stands in the modules afterwards, what was printed and what other packages were given must be the same.
"""

import ast
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from vendor_tool.rehearsal.made_up import CASTS
from vendor_tool.transform import programs
from vendor_tool.transform.shim_copy import PROGRAM, Request
from vendor_tool.values import dataclass

SECONDS = 120
"""How long anything may take in which packages are made up."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from vendor_tool.rehearsal import play; "
    "del sys.path[0]; play.main(*sys.argv[1:])"
)
_ORDERS = ("first", "late")
_NEEDED = "what that is made of is needed while the file is imported, and known at the first call only"

_BINDERS = (ast.Name, ast.alias, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Remark:
    """What a file would do otherwise than the unmodified one, or, as a note, why that could not be tried."""

    level: Literal["error", "note"]
    file: str  # a path as the processes saw it
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class _Play:
    """One process that imports the files."""

    cast: int
    order: str
    answer: Path
    program: programs.Program


@contextmanager
def begun(request: Request, folder: Path, python: str) -> Iterator[Callable[[], list[Remark]]]:
    """Starts a rehearsal in processes of `python` that write into `folder`; what it gives waits for the remarks."""
    plays = [_begin(request, folder, python, cast, order) for cast in CASTS for order in _ORDERS]
    try:
        yield lambda: _remarks(request, folder, python, plays)
    finally:
        programs.stop([play.program for play in plays])


def _begin(request: Request, folder: Path, python: str, cast: int, order: str) -> _Play:
    number = len(list(folder.glob("play-*")))
    place = folder / f"play-{number}"
    place.mkdir()
    (place / "request.json").write_text(json.dumps(request), encoding="utf-8")
    answer = place / "answer.json"
    arguments = [str(place / "request.json"), str(cast), order, str(answer)]
    # without -S, packages that are installed here would not be made up
    command = [python, "-I", "-S", "-B", "-W", "ignore", "-c", _START, PROGRAM, *arguments]
    return _Play(cast, order, answer, programs.start(command, place))


def _answers(plays: Sequence[_Play]) -> dict[tuple[int, str], _Answer]:
    programs.wait([play.program for play in plays], SECONDS)
    there = [play for play in plays if play.answer.exists()]
    return {(play.cast, play.order): json.loads(play.answer.read_text(encoding="utf-8")) for play in there}


def _remarks(request: Request, folder: Path, python: str, plays: Sequence[_Play]) -> list[Remark]:
    answers = _answers(plays)
    if len(answers) < len(plays):
        return _by_halves(request, folder, python)
    found: dict[tuple[str, str], Remark] = {}
    for cast in CASTS:
        first, late = answers[cast, "first"], answers[cast, "late"]
        differing = _compared(request["files"], first, late)
        if differing:  # the clock, the process and chance make differences of their own
            again = _begin(request, folder, python, cast, "first")
            same = _answers([again]).get((cast, "first"), late)
            noise = _compared(request["files"], first, same)
            found = {**{what: one for what, one in differing.items() if what not in noise}, **found}
    untried = _untried(request["files"], [answers[cast, "first"] for cast in CASTS])
    remarks = [*_readers(answers[CASTS[0], "late"]), *found.values(), *untried]
    return sorted(remarks, key=lambda one: (one.file, one.line or 0, one.text))


def _by_halves(request: Request, folder: Path, python: str) -> list[Remark]:
    """One of the modules ended its process, or never came to an end: the others are tried without it."""
    names = request["modules"]
    if len(names) == 1:
        why = f"its process ended, or took more than {SECONDS} seconds"
        return [Remark("note", request["files"][names[0]], None, why)]
    found = []
    for some in (names[: len(names) // 2], names[len(names) // 2 :]):
        with begun({**request, "modules": some}, folder, python) as remarks:
            found += remarks()
    return found


def _untried(files: Mapping[str, str], firsts: Sequence[_Answer]) -> Iterator[Remark]:
    """Modules that cannot be imported with any made-up runtime: what they ask, nothing made up can answer."""
    for module, file in files.items():
        if all(module in answer["failed"] for answer in firsts):
            yield Remark("note", file, None, firsts[0]["failed"][module])


def _readers(late: _Answer) -> Iterator[Remark]:
    """Functions that read what is not right before anything is caught up with."""
    for file, line, function, name, what in late["readers"]:
        state = "is text with a deferred value in it" if what == "text" else "cannot be looked up rightly"
        text = f"`{function}` may be called before anything else is, and `{name}` {state} until then"
        yield Remark("error", file, line or None, text)


def _compared(files: Mapping[str, str], first: _Answer, late: _Answer) -> dict[tuple[str, str], Remark]:
    """The differences between two answers, by file and name. Modules that fail with the runtime there have none."""
    found = {}
    for module in late["failed"].keys() - first["failed"].keys():
        text = f"it would fail at the first use: {late['failed'][module]}"
        found[files[module], ""] = Remark("error", files[module], None, text)
    failed = {files[module] for answer in (first, late) for module in answer["failed"]}
    for file, names in first["names"].items():
        others = {} if file in failed else late["names"].get(file, {})
        for name in sorted(others.keys() & names.keys()):
            if others[name] != names[name]:
                text = f"`{name}` would be {_unlike(names[name], others[name])}"
                found[file, name] = Remark("error", file, _line(file, name), text)
    for module in first["said"].keys() - first["failed"].keys():
        if late["said"][module] != first["said"][module]:
            text = f"it would print {_unlike(first['said'][module], late['said'][module])}"
            found[files[module], "said"] = Remark("error", files[module], None, text)
    return found | _deeds(first, late, failed)


def _deeds(first: _Answer, late: _Answer, failed: set[str]) -> dict[tuple[str, str], Remark]:
    """Differences in what was given to other packages, line by line, and to the runtime, in its order."""
    found = {}
    ones, others = (_grouped(answer, set(first["runtime"]), failed) for answer in (first, late))
    for key, deeds in ones.items():
        theirs = [text for text, _, _ in others.get(key, [])]
        for (text, file, line), other in zip(deeds, [*theirs, *[""] * len(deeds)], strict=False):
            if file is not None and other != text:
                told = f"`{key[0]}` would be given {_unlike(text, other)}"
                found[file, f"{key[0]}, line {line}"] = Remark("error", file, line, told)
                break
    return found


def _grouped(
    answer: _Answer, tops: set[str], failed: set[str]
) -> Mapping[tuple[object, ...], list[tuple[str, str | None, int]]]:
    grouped: dict[tuple[object, ...], list[tuple[str, str | None, int]]] = defaultdict(list)
    for top, text, file, line in answer["deeds"]:
        if file not in failed:
            grouped[(top,) if top in tops else (top, file, line)].append((text, file, line))
    return grouped


def _unlike(first: str, late: str) -> str:
    """Where two texts begin to differ, in words."""
    start = max(len(os.path.commonprefix([first, late])) - 20, 0)
    return f"`{late[start : start + 40]}` instead of `{first[start : start + 40]}`: {_NEEDED}"


def _line(file: str, name: str) -> int | None:
    """Where the file first binds the name."""
    nodes = ast.walk(ast.parse(Path(file).read_bytes()))
    return min((node.lineno for node in nodes if isinstance(node, _BINDERS) and _bound(node) == name), default=None)


def _bound(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    return str(getattr(node, "name", ""))
