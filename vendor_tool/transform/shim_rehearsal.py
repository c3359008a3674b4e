"""Rehearses written files with made-up packages: does each become what the unmodified file would be?

Every file is imported with a made-up runtime that is loaded already, and with one that is put off and then caught up
with. What stands in the modules afterwards, what was printed and what other packages were given must be the same.
"""

import ast
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from vendor_tool.rehearsal.made_up import CASTS
from vendor_tool.transform import programs
from vendor_tool.transform.shim_copy import PROGRAM, Request
from vendor_tool.values import dataclass

SECONDS = 60
"""How long anything may take in which packages are made up."""

_START = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from vendor_tool.rehearsal import play; "
    "del sys.path[0]; play.main(*sys.argv[1:])"
)
_ENDED = "its process ended, or took more than"
_MISSING = "not there"
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
    command = [python, "-S", "-s", "-B", "-W", "always", "-c", _START, PROGRAM, *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # sets in one order everywhere, and files under the home folder beside the copy
    environment = {**kept, "HOME": str(place), "TMPDIR": str(place), "PYTHONHASHSEED": "0"}
    return _Play(cast, order, answer, programs.start(command, place, environment))


def _answers(plays: Sequence[_Play]) -> dict[tuple[int, str], _Answer]:
    """What each process wrote down; nothing of one that did not come to an end."""
    programs.wait([play.program for play in plays], SECONDS)
    found = {}
    for play in plays:
        with suppress(OSError, ValueError):  # none, or one that the files spoiled
            found[play.cast, play.order] = json.loads(play.answer.read_text(encoding="utf-8"))
    return found


def _remarks(request: Request, folder: Path, python: str, plays: Sequence[_Play]) -> list[Remark]:
    answers = _answers(plays)
    if len(answers) < len(plays):
        return _without(request, folder, python, [play for play in plays if (play.cast, play.order) not in answers])
    found: dict[tuple[str, str], Remark] = {}
    for cast in CASTS:
        first, late = answers[cast, "first"], answers[cast, "late"]
        differing = _compared(request["files"], first, late)
        for _ in range(2 if differing else 0):  # the clock, the process and chance make differences of their own
            again = _begin(request, folder, python, cast, "first")
            same = _answers([again]).get((cast, "first"), late)
            noise = _compared(request["files"], first, same)
            differing = {
                what: one for what, one in differing.items() if what not in noise or _beside(what, first, same, late)
            }
        found = {**differing, **found}
    readers = [one for cast in CASTS for one in _readers(answers[cast, "late"])]
    untried = _untried(request["files"], [answers[cast, "first"] for cast in CASTS])
    remarks = {*readers, *found.values(), *untried}
    return sorted(remarks, key=lambda one: (one.file, one.line or 0, one.text))


def _without(request: Request, folder: Path, python: str, ended: Sequence[_Play]) -> list[Remark]:
    """The modules at which processes ended, or never came to an end, cannot be tried; the others are without them."""
    at = {play.answer.with_name("at").read_text(encoding="utf-8") for play in ended if _started(play)}
    found = [Remark("note", request["files"][name], None, f"{_ENDED} {SECONDS} seconds") for name in sorted(at)]
    left = [name for name in request["modules"] if name not in at]
    if at and left:
        with begun({**request, "modules": left}, folder, python) as remarks:
            found += remarks()
    return found


def _started(play: _Play) -> bool:
    return play.answer.with_name("at").exists()


def _untried(files: Mapping[str, str], firsts: Sequence[_Answer]) -> Iterator[Remark]:
    """Modules that cannot be imported with a made-up runtime: what they ask, nothing made up can answer."""
    for module, file in files.items():
        failed = [answer["failed"][module] for answer in firsts if module in answer["failed"]]
        if failed:
            yield Remark("note", file, None, failed[0])


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
    for what, text in first["surroundings"].items() if not failed else ():
        if late["surroundings"][what] != text:
            file = next(iter(files.values()))
            changed = f"`{what}` would be {_unlike(text, late['surroundings'][what])}"
            found["", what] = Remark("error", file, None, changed)
    for module in first["said"].keys() - first["failed"].keys():
        if late["said"][module] != first["said"][module]:
            text = f"it would print {_unlike(first['said'][module], late['said'][module])}"
            found[files[module], "said"] = Remark("error", files[module], None, text)
    return found | _names(first, late, failed) | _reads(first, late, failed) | _deeds(first, late, failed)


def _names(first: _Answer, late: _Answer, failed: set[str]) -> dict[tuple[str, str], Remark]:
    """Differences in what the names of modules hold."""
    found = {}
    for file, names in first["names"].items():
        others = late["names"].get(file)
        for name in sorted(others.keys() | names.keys()) if others is not None and file not in failed else ():
            one, other = names.get(name, _MISSING), others.get(name, _MISSING)
            if one != other:
                text = f"`{name}` would be {_unlike(one, other)}"
                found[file, name] = Remark("error", file, _line(file, name), text)
    return found


def _reads(first: _Answer, late: _Answer, failed: set[str]) -> dict[tuple[str, str], Remark]:
    """Differences in what decorators find that read functions at once."""
    found = {}
    for key, (file, line, function, name, text) in first["read"].items():
        other = late["read"].get(key, [text])[-1]  # one that is bound later than the function is not read at once
        if file not in failed and other != text:
            short = name.rpartition(".")[2]
            read = f"`{short}` as `{function}` finds it would be {_unlike(text, other)}"
            found[file, key] = Remark("error", file, line, read)
    return found


def _beside(what: tuple[str, str], first: _Answer, same: _Answer, late: _Answer) -> bool:
    """Whether what a name holds differs in more than two runs of the same kind differ in it."""
    texts = [answer["names"].get(what[0], {}).get(what[1], "").split(", ") for answer in (first, same, late)]
    one, two, other = texts
    alike = len(one) == len(two) == len(other)
    return alike and any(a == b != c for a, b, c in zip(one, two, other, strict=True))


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
