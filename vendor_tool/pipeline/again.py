"""What `outdated` told, remembered together with all that it was told from: said again while that is the same.

An answer is remembered where upstreams were asked for their refs, and git for nothing else: then it follows from the
lock, these listings, what is installed here, and this program. Upstreams are asked at once, by the commands that asked
them then; whether the rest is the same is looked at while they answer. Where anything is not, their answers are handed
on, so that nobody is asked twice. What is remembered lies in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Mapping, Sequence

from vendor_tool import __version__, remote, vcs
from vendor_tool.errors import ExitCode
from vendor_tool.pipeline import installed, program
from vendor_tool.remote import Command
from vendor_tool.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vendor_tool.model import Lock
    from vendor_tool.vcs import Ran

FORMAT = 1
_LIMITS = {"--heads", "--tags"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The report as it was printed, and how the run ended."""

    out: str
    code: ExitCode


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a question before anything else is loaded."""

    place: str  # where its answer is kept
    asked: list[str]  # all of the question, the text of the lock included
    told: Mapping[Command, Ran]  # what upstreams list now, where that is known
    answer: Answer | None


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, and what it was told from besides the lock."""

    answer: Answer
    listings: Mapping[Command, str]
    modules: Sequence[str]  # of which none was at hand
    distributions: Sequence[str]
    state: object


def recall(lock: str, cache: str, question: str) -> Earlier | None:
    """Ask upstreams as they were asked before, and see whether the answer is what it was; None where no lock is read.

    `question` is the command with all that shapes its answer but files.
    """
    text = _text(lock)
    if text is None:
        return None
    asked = [f"{FORMAT} {__version__} {question}", text]
    # no digest: `hashlib` costs more than all that is compared
    place = f"{cache}/outdated/{zlib.crc32(asked[0].encode()):08x}"
    kept = _read(place, asked)
    if kept is None or not all(os.path.isdir(f"{cache}/git/{one.folder}") for one in kept.listings):  # noqa: PTH112
        return Earlier(place, asked, {}, None)
    with contextlib.ExitStack() as running:
        started = {
            one: running.enter_context(vcs.start(f"{cache}/git/{one.folder}", *one.arguments, config=one.config))
            for one in kept.listings
        }
        same = _state(kept.modules, kept.distributions) == kept.state
        end = time.monotonic() + remote.patience()
        told = {one: vcs.finish(process, max(end - time.monotonic(), 0)) for one, process in started.items()}
    same = same and all(_listed(told[one]) == listed for one, listed in kept.listings.items())
    return Earlier(place, asked, told, kept.answer if same else None)


def _text(lock: str) -> str | None:
    try:
        with open(lock, encoding="utf-8", newline="") as file:  # noqa: PTH123 - `pathlib` costs more
            return file.read()
    except (OSError, ValueError):
        return None


def _read(place: str, asked: list[str]) -> _Kept | None:
    """What is kept there; None for anything that this program would not have written for this question."""
    try:
        with open(place, "rb") as file:  # noqa: PTH123
            kept = json.loads(file.read())
        if kept["asked"] != asked:
            return None
        listings = {}
        for store, url, limits, listed in kept["listings"]:
            if "/" in store or not store.endswith(".git") or url not in asked[1] or not set(limits) <= _LIMITS:
                return None
            listings[remote.listing(store, url, limits)] = listed
        answer = Answer(str(kept["out"]), ExitCode(kept["code"]))
        modules, distributions = ([str(name) for name in kept[names]] for names in ("modules", "distributions"))
        return _Kept(answer, listings, modules, distributions, kept["state"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _listed(ran: Ran | None) -> str | None:
    """What a command listed; None where it failed, or had more to say than a list."""
    return ran.out.decode("utf-8", "surrogateescape") if ran and ran.status == 0 and not ran.err else None


def _state(modules: Sequence[str], distributions: Sequence[str]) -> list[object]:
    """What an answer rests on besides the lock and its upstreams, as JSON gives it back."""
    return [program.files(), installed.at_hand(modules), installed.versions(distributions)]


def keep(earlier: Earlier, answer: Answer, lock: Lock, *, asked: Mapping[Command, Ran | None]) -> None:
    """Remember an answer that rests on nothing but what `recall` looks at. `asked` is every git command of the run."""
    from pathlib import Path

    from vendor_tool import memory

    listings = []
    for command, ran in asked.items():
        url, limits = dict(command.config).get(f"remote.{remote.NAME}.url", ""), command.arguments[2:-1]
        listed = _listed(ran)
        if listed is None or command != remote.listing(command.folder, url, limits):
            return
        listings.append((command.folder, url, limits, listed))
    modules = sorted({name.partition(".")[0] for one in lock.upstreams.values() for name in one.imports})
    # a package that is at hand is read through; and a lock that was edited meanwhile is another question
    if len(listings) > vcs.WORKERS or installed.at_hand(modules) or _text(str(lock.path)) != earlier.asked[1]:
        return
    distributions = sorted({name for note in lock.known_bad for name in note.versions})
    content = {
        "asked": earlier.asked,
        "out": answer.out,
        "code": int(answer.code),
        "listings": listings,
        "modules": modules,
        "distributions": distributions,
        "state": _state(modules, distributions),
    }
    memory.remember(Path(earlier.place), content)
