"""What an upgrade would bring, as facts: the same for `outdated` and for `sync NAME@REV --dry-run`."""

from collections.abc import Mapping
from typing import Literal

from vendor_tool.model import Commit
from vendor_tool.surface import Import
from vendor_tool.values import dataclass, field
from vendor_tool.words import count, loss

Fate = Literal["changed", "mode", "renamed", "gone", "added"]


@dataclass(frozen=True, slots=True)
class FileNews:
    """One file of ours that is another one in the new revision."""

    path: str  # upstream path at the pin; of an added file, in the new revision
    to: str  # local path
    fate: Fate
    detail: str  # what changed, or where it went, in words
    now: str | None = None  # upstream path in the new revision, where that is another one
    imports: tuple[Import, ...] = ()  # new ones, by line
    added: tuple[str, ...] = ()  # functions, classes and methods, by qualified name
    removed: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()  # those whose parameters, result or bases changed
    body: tuple[str, ...] = ()  # those that have another body


@dataclass(frozen=True, slots=True)
class PatchNews:
    """What becomes of one patch: the words of `merge.Status`."""

    path: str
    status: Literal["clean", "changed", "obsolete", "dropped", "conflict", "waiting"]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClashNews:
    """One file that a person has to settle."""

    path: str  # local path
    patch: str
    kind: str
    places: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no upgrade before the lock or a patch is edited."""

    message: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class LegalNews:
    """What became of the upstream's licence or NOTICE file; SPDX ids where they were recognised."""

    what: Literal["licence", "NOTICE"]
    change: Literal["changed", "gone", "added"]
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """An upgrade of one entry, worked out and not carried out."""

    upstream: str
    url: str
    old: str
    new: str
    old_date: str
    new_date: str
    total: int  # files of the record
    files: tuple[FileNews, ...] = ()  # by local path
    lacks: int | None = 0  # commits of the pin that the new revision has not; None where that is not known
    elsewhere: int | None = None  # other files of the repository that differ; None where that is not known
    commits: tuple[Commit, ...] = ()  # that touch our files, newest first
    fixes: Mapping[str, str] = field(default_factory=dict)  # commit to the word by which it reads as a fix
    history: str | None = None  # why the commits are not known
    legal: tuple[LegalNews, ...] = ()
    patches: tuple[PatchNews, ...] = ()  # in the order of the series
    clashes: tuple[ClashNews, ...] = ()
    refusal: Refusal | None = None

    @property
    def verdict(self) -> Literal["clean", "aside", "conflict", "refused"]:
        """How the upgrade would end; `aside` where it meets no conflict, and does not go on from the pin."""
        if self.refusal or self.clashes:
            return "refused" if self.refusal else "conflict"
        return "clean" if self.lacks == 0 else "aside"

    @property
    def outcome(self) -> str:
        """The verdict in words: "an upgrade is clean, 1 patch obsolete"."""
        if self.refusal is not None:
            gone = sum(file.fate in ("gone", "renamed") for file in self.files)
            why = f"{count(gone, 'mapped file')} {_is(gone)} not there" if gone else self.refusal.message.split("\n")[0]
            return f"an upgrade is refused: {why}"
        if self.clashes:
            places = sum(clash.places for clash in self.clashes)
            patches = ", ".join(f"`{path}`" for path in dict.fromkeys(clash.patch for clash in self.clashes))
            return f"an upgrade stops at {count(places, 'conflict')} in {patches}"
        obsolete = sum(patch.status == "obsolete" for patch in self.patches)
        carried = len(self.patches) - obsolete
        parts = [f"{count(carried, 'patch')} carried over"] if carried else []
        parts += [f"{count(obsolete, 'patch')} obsolete"] if obsolete else []
        if any(one.what == "licence" for one in self.legal):
            parts.append("once the licence that changed is accepted")
        how = "an upgrade is clean" if self.lacks == 0 else "an upgrade meets no conflict"
        how += ", and does not go on from the pin" if self.lacks else ""
        return ", ".join([how, *parts])

    @property
    def loss(self) -> str | None:
        """What an upgrade would take back, in words: "the pin has 1 commit that `abc` lacks"; None where nothing."""
        return loss(self.lacks, self.new)


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


# ---- how a series stands ----------------------------------------------------------------------------------

Standing = Literal["applies", "obsolete", "conflicts", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class Row:
    """One patch of a list: how it fares at the pin, and at the revision that it is held against."""

    number: int
    path: str
    title: str
    pin: Standing
    against: Standing | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """The series of one upstream. `against` is the revision that was asked for, `problem` why it cannot be told."""

    name: str
    revision: str
    rows: tuple[Row, ...]
    against: str | None = None
    problem: str | None = None
