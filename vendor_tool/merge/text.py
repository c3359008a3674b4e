"""Three-way merge of one text, line by line, that would rather ask than lose or revive a line."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from vendor_tool.lines import Span, changes, split
from vendor_tool.merge.explain import explain
from vendor_tool.values import dataclass, replace

MARKER = 7
_LOOKS_LIKE_MARKER = re.compile(rb"(?:<{7}|\|{7}|>{7})(?: |\r?\n?$)|={7}\r?\n?$")
# lines that any two pieces of code may share; that one comes back says nothing
_COMMON = frozenset({b"else:", b"try:", b"finally:", b"pass", b"return", b"continue", b"break", b'"""', b"'''"})


class Labels(NamedTuple):
    """What the three sides are called, in conflict markers and in sentences."""

    ours: str
    base: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Clash:
    """A place where both sides cannot be kept. Ranges are lines from 1, first and last; last < first is empty."""

    ours: tuple[bytes, ...]
    base: tuple[bytes, ...]
    theirs: tuple[bytes, ...]
    ours_lines: tuple[int, int]
    base_lines: tuple[int, int]
    theirs_lines: tuple[int, int]
    marked_lines: tuple[int, int] = (0, 0)  # in the marked text, markers included
    reason: str = ""  # why a person has to look, where more can be said than that both sides changed it


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text; with clashes it holds conflict markers in the style of diff3."""

    data: bytes
    clashes: tuple[Clash, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes, labels: Labels) -> Merged:
    """Merge `ours` and `theirs`, both made from `base`.

    Changes that overlap or touch clash unless they are the same, as in `git merge-file --diff3`. Beyond it these
    clash too: a line that one side removed and the other moved elsewhere, a line that one side removed everywhere
    and the other adds, and the same new lines added by both sides at different places.
    """
    texts = split(base), split(ours), split(theirs)
    parts = _guard(_parts(*texts), *texts, labels)
    found: list[bytes | Clash] = []
    for part in parts:
        found += [_explained(part.clash, labels)] if part.kind == "clash" else part.text
    return marked_text(found, labels)


def _explained(clash: Clash, labels: Labels) -> Clash:
    return replace(
        clash, reason=clash.reason or explain(clash.base, clash.ours, clash.theirs, labels.ours, labels.theirs)
    )


def marked_text(parts: Iterable[bytes | Clash], labels: Labels) -> Merged:
    """Lines that are settled, and clashes as they are marked, put together in this order."""
    out: list[bytes] = []
    clashes = []
    for part in parts:
        if isinstance(part, bytes):
            out.append(part)
            continue
        marked = _marked(part, labels)
        clashes.append(replace(part, marked_lines=(len(out) + 1, len(out) + len(marked))))
        out += marked
    return Merged(b"".join(out), tuple(clashes))


def markers_left(data: bytes, base: bytes, ours: bytes, theirs: bytes) -> tuple[int, ...]:
    """Lines of `data`, from 1, that are conflict markers.

    Text that looks like one, such as a line of seven equals signs below a title, is none as long as there is no more
    of it than the three versions explain: what ours and theirs have, less what both have from the base.
    """
    was, our, their = (_alike(text) for text in (base, ours, theirs))
    left = []
    seen: Counter[bytes] = Counter()
    for number, line in enumerate(split(data), 1):
        text = line.rstrip(b"\r\n")
        seen[text] += 1
        if _LOOKS_LIKE_MARKER.match(line) and seen[text] > max(
            our[text] + their[text] - was[text], was[text], our[text], their[text]
        ):
            left.append(number)
    return tuple(left)


def _alike(text: bytes) -> Counter[bytes]:
    return Counter(line.rstrip(b"\r\n") for line in split(text) if _LOOKS_LIKE_MARKER.match(line))


# ---- what each side did -----------------------------------------------------------------------------------

_Kind = Literal["stable", "ours", "theirs", "same", "clash"]
_Range = tuple[int, int]  # first and past the last line, from 0


class _Edit(NamedTuple):
    """What one side takes out of the base and puts in."""

    removed: tuple[bytes, ...] = ()
    added: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the result. `clash` holds the three texts whatever the kind is."""

    kind: _Kind
    clash: Clash
    ours: _Edit
    theirs: _Edit

    @property
    def text(self) -> tuple[bytes, ...]:
        """What the merge takes where the part is no clash."""
        return self.clash.theirs if self.kind == "theirs" else self.clash.ours


def _parts(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[_Part]:
    parts = []
    at = ours_at = theirs_at = 0

    def part(end: int, ours_end: int, theirs_end: int, group: _Group) -> _Part:
        clash = _clash(base, ours, theirs, (at, end), (ours_at, ours_end), (theirs_at, theirs_end))
        edits = _edit(base, ours, group.ours), _edit(base, theirs, group.theirs)
        return _Part(_kind(clash), clash, *edits)

    for group in _groups(changes(base, ours), changes(base, theirs), len(base)):
        kept = group.start - at
        if kept:
            parts.append(part(group.start, ours_at + kept, theirs_at + kept, _Group(at, group.start, [], [])))
        at, ours_at, theirs_at = group.start, ours_at + kept, theirs_at + kept
        width = group.end - group.start
        ends = ours_at + width + _growth(group.ours), theirs_at + width + _growth(group.theirs)
        if group.ours or group.theirs:
            parts.append(part(group.end, *ends, group))
        at, (ours_at, theirs_at) = group.end, ends
    return parts


def _clash(base: list[bytes], ours: list[bytes], theirs: list[bytes], was: _Range, our: _Range, their: _Range) -> Clash:
    texts = tuple(ours[slice(*our)]), tuple(base[slice(*was)]), tuple(theirs[slice(*their)])
    return Clash(*texts, (our[0] + 1, our[1]), (was[0] + 1, was[1]), (their[0] + 1, their[1]))


def _kind(clash: Clash) -> _Kind:
    if clash.ours == clash.theirs:
        return "stable" if clash.ours == clash.base else "same"
    if clash.ours == clash.base:
        return "theirs"
    return "ours" if clash.theirs == clash.base else "clash"


def _edit(base: list[bytes], side: list[bytes], spans: Sequence[Span]) -> _Edit:
    removed = tuple(line for span in spans for line in base[span.old_start : span.old_end])
    return _Edit(removed, tuple(line for span in spans for line in side[span.new_start : span.new_end]))


@dataclass(slots=True)
class _Group:
    """Changes of both sides that overlap or touch, and the lines of the base that they span."""

    start: int
    end: int
    ours: list[Span]
    theirs: list[Span]


def _groups(ours: Sequence[Span], theirs: Sequence[Span], size: int) -> list[_Group]:
    """The groups in order, and an empty one at the end of the base."""
    marked = sorted([(span, True) for span in ours] + [(span, False) for span in theirs])
    groups: list[_Group] = []
    for span, is_ours in marked:
        if not groups or span.old_start > groups[-1].end:
            groups.append(_Group(span.old_start, span.old_end, [], []))
        group = groups[-1]
        group.end = max(group.end, span.old_end)
        (group.ours if is_ours else group.theirs).append(span)
    return [*groups, _Group(size, size, [], [])]


def _growth(spans: Sequence[Span]) -> int:
    return sum((s.new_end - s.new_start) - (s.old_end - s.old_start) for s in spans)


# ---- what a merge by lines does not see -------------------------------------------------------------------


def _guard(
    parts: list[_Part], base: list[bytes], ours: list[bytes], theirs: list[bytes], labels: Labels
) -> list[_Part]:
    """Turn changes of one side into clashes where the other side took out, or put elsewhere, the same lines."""
    revivable = {
        "ours": _revivable(parts, "theirs", base, theirs),
        "theirs": _revivable(parts, "ours", base, ours),
    }
    doubled = _doubled(parts, base)
    result = []
    for part in parts:
        reason = ""
        if part.kind in ("ours", "theirs"):
            added = _key(part.ours.added if part.kind == "ours" else part.theirs.added)
            line = next((line for line in added if line in revivable[part.kind]), None)
            if line is not None:
                reason = _revived(part.kind, line, labels)
            elif added in doubled:
                reason = _doubled_reason(part.kind, labels)
        result.append(replace(part, kind="clash", clash=replace(part.clash, reason=reason)) if reason else part)
    return result


def _key(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    """Lines as they are compared across places: a moved line may be indented otherwise, or be the last one."""
    return tuple(line.strip() for line in lines)


def _telling(line: bytes) -> bool:
    return re.search(rb"[^\W_]", line) is not None and line not in _COMMON


def _revivable(parts: Sequence[_Part], side: str, base: list[bytes], text: list[bytes]) -> set[bytes]:
    """Lines that `side` took out for good, so that the other side must not bring them back unseen.

    Those are lines that it has nowhere any more, and lines that both sides took out at one place without putting
    anything there: then the other side moved what this side deleted.
    """
    gone = set(_key(base)) - set(_key(text))
    taken: set[bytes] = set()
    for part in parts:
        removed = _key((part.ours if side == "ours" else part.theirs).removed)
        if part.kind == "same" and not part.ours.added:
            taken.update(removed)
        elif part.kind == "clash":
            both = set(_key(part.ours.removed)) & set(_key(part.theirs.removed))
            taken.update(line for line in removed if line in gone or line in both)
        else:
            taken.update(line for line in removed if line in gone)
    return {line for line in taken if _telling(line)}


def _doubled(parts: Sequence[_Part], base: list[bytes]) -> set[tuple[bytes, ...]]:
    """What both sides add, each at a place of its own, and the base did not have."""
    known = set(_key(base))
    by_side: dict[str, set[tuple[bytes, ...]]] = {"ours": set(), "theirs": set()}
    for part in parts:
        if part.kind in by_side:
            added = _key(part.ours.added if part.kind == "ours" else part.theirs.added)
            if any(_telling(line) and line not in known for line in added):
                by_side[part.kind].add(added)
    return by_side["ours"] & by_side["theirs"]


def _revived(kind: str, line: bytes, labels: Labels) -> str:
    text = line.decode(errors="replace")
    puts, takes = (labels.theirs, labels.ours) if kind == "theirs" else (labels.ours, labels.theirs)
    return f"{puts} puts `{text}` here, which {takes} takes out"


def _doubled_reason(kind: str, labels: Labels) -> str:
    here, elsewhere = (labels.theirs, labels.ours) if kind == "theirs" else (labels.ours, labels.theirs)
    return f"{here} adds these lines here and {elsewhere} adds the same lines elsewhere: they would stand twice"


def _marked(clash: Clash, labels: Labels) -> list[bytes]:
    end = b"\r\n" if any(line.endswith(b"\r\n") for line in clash.ours + clash.base + clash.theirs) else b"\n"
    out: list[bytes] = []
    for mark, label, lines in (("<", labels.ours, clash.ours), ("|", labels.base, clash.base), ("=", "", clash.theirs)):
        out.append((mark * MARKER + (f" {label}" if label else "")).encode() + end)
        out += [line if line.endswith(b"\n") else line + end for line in lines]
    return [*out, f"{'>' * MARKER} {labels.theirs}".encode() + end]
