"""`outdated`: what upstreams did since the pins. One listing of refs each; more only where that shows something new."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vendor_tool import fetch, memory, plan, vcs
from vendor_tool.errors import GoneError, UpstreamError, UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import Access, Lock, Snapshot, Upstream
from vendor_tool.outdated import verdict
from vendor_tool.outdated.files import Changes, compare
from vendor_tool.outdated.pins import Standing
from vendor_tool.outdated.verdict import Facts
from vendor_tool.pipeline import installed, pin
from vendor_tool.plan import Selection
from vendor_tool.values import dataclass, replace

if TYPE_CHECKING:
    from vendor_tool.fetch.names import Listing
    from vendor_tool.outdated.siblings import Siblings
    from vendor_tool.pipeline.copies import Missed
    from vendor_tool.pipeline.preview import Ground
    from vendor_tool.preview import Preview

NOTHING = Changes((), None, None, None)


@dataclass(frozen=True, slots=True)
class Report:
    """What was found of all upstreams that were asked for."""

    findings: tuple[Finding, ...]
    previews: tuple[Preview, ...]  # of upstreams of which files of ours changed
    siblings: tuple[Siblings, ...]  # pairs of copies of one file
    missed: tuple[Missed, ...]  # copies that lack what another one's upstream has changed
    lost: tuple[UpstreamError, ...]  # of upstreams that gave no answer


@dataclass(frozen=True, slots=True)
class _Look:
    """What one upstream told; its `revision` is the one that was synced."""

    upstream: Upstream
    facts: Facts | None = None
    ground: Ground | None = None  # where files of ours changed
    findings: tuple[Finding, ...] = ()
    lost: UpstreamError | None = None


def outdated(
    lock: Lock, names: Collection[str], access: Access, *, wheels: Sequence[Path] = (), hunks: bool = False
) -> Report:
    """Compare pins with what their upstreams stand at; `NAME@REV` compares with that revision instead.

    `wheels` are packages to look for run-time imports in, besides the installed ones. `hunks` asks for `siblings`
    also where nothing changed. An upstream that gives no
    answer does not keep the others from being told. Raises UsageError for a name that the lock does not hold.
    """
    chosen = plan.select(lock, names)
    looks = vcs.side_by_side(lambda one: _look(lock, one, access), chosen)
    made = {look.upstream.name: _preview(lock, look.ground, access) for look in looks if look.ground is not None}
    previews = tuple(one for one in made.values() if not isinstance(one, str))
    findings = [found for look in looks for found in _told(look, made.get(look.upstream.name))]
    selected = [look.upstream for look in looks]
    if wheels or installed.at_hand(name for one in selected for name in one.imports):
        from vendor_tool.pipeline import runtime

        findings += runtime.packaged(selected, wheels, access)
    if lock.known_bad:
        findings += _known_bad(lock, {one.name for one in selected}, access)
    kin = _Kin()
    if sum(bool(one.resolved and one.resolved.files) for one in lock.upstreams.values()) > 1:
        kin = _kin(lock, looks, access, hunks=hunks)
        findings += kin.findings
    lost = tuple(look.lost for look in looks if look.lost is not None)
    return Report(tuple(findings), previews, kin.pairs, kin.missed, lost)


@dataclass(frozen=True, slots=True)
class _Kin:
    """What the copies of one file tell."""

    findings: tuple[Finding, ...] = ()
    pairs: tuple[Siblings, ...] = ()
    missed: tuple[Missed, ...] = ()


def _kin(lock: Lock, looks: Sequence[_Look], access: Access, *, hunks: bool) -> _Kin:
    """The copies of the upstreams that were looked at; those that hold the others are looked at for them."""
    from vendor_tool.outdated.sibling_findings import unclear
    from vendor_tool.pipeline import copies

    asked = {look.upstream.name for look in looks}
    compared = copies.compared(lock, asked, access)
    others = [name for name in compared.kin if name not in asked]
    further = (
        vcs.side_by_side(lambda one: _look(lock, one, access, health=False), plan.select(lock, others))
        if others
        else []
    )
    findings = list(compared.findings)
    for look in further:
        if look.lost is not None:
            findings.append(replace(unclear(look.upstream.name, look.lost.message), lock_line=look.upstream.at.line))
    grounds = [look.ground for look in (*looks, *further) if look.ground is not None]
    if not grounds and not hunks:
        return _Kin(tuple(findings))
    pairs, _ = copies.pairs(lock, asked, access)  # what could not be fetched is among the findings
    missed = tuple(copies.lacking(lock, pairs, grounds))
    return _Kin((*findings, *(one.finding for one in missed)), pairs, missed)


def _preview(lock: Lock, ground: Ground, access: Access) -> Preview | str:
    """What an upgrade would do; or why nobody can tell, where the upstream dropped what the old side is made of."""
    from vendor_tool.pipeline import preview

    try:
        return preview.preview(lock, ground, access)
    except GoneError as problem:
        return f"what an upgrade would do is not known: {problem.message}"


def _told(look: _Look, one: Preview | str | None) -> list[Finding]:
    facts = look.facts
    if facts is None:
        return list(look.findings)
    if isinstance(one, str):
        facts = replace(facts, outcome=one)
    elif one is not None:
        facts = replace(
            facts,
            commits=one.commits,
            fixes=tuple(one.fixes),
            details={file.path: file.detail for file in one.files if file.fate == "changed"},
            fates={file.path: file.detail for file in one.files if file.fate == "gone"},
            outcome=one.outcome,
        )
    return [*look.findings, *verdict.findings(look.upstream, facts)]


# ---- one upstream -----------------------------------------------------------------------------------------


def _look(lock: Lock, selection: Selection, access: Access, *, health: bool = True) -> _Look:
    """What one upstream tells; `health` asks what holds the pin, too."""
    upstream, resolved = selection.upstream, selection.upstream.resolved
    if resolved is None:
        return _Look(upstream, findings=(_never_synced(upstream),))
    upstream = replace(upstream, revision=resolved.revision)
    try:
        return _asked(lock, upstream, selection.rev, access, health=health)
    except UpstreamError as problem:
        line = upstream.revision_at.line
        lost = Finding(
            "upstream-unreachable",
            "error",
            problem.message,
            lock_line=line,
            upstream=upstream.name,
            side="upstream",
            fix=problem.hint,
        )
        return _Look(upstream, findings=(lost,), lost=problem)


def _asked(lock: Lock, upstream: Upstream, rev: str | None, access: Access, *, health: bool) -> _Look:
    found = pin.listing(upstream, access)
    newest = _wanted(upstream, rev, access) if rev is not None else found.tip or upstream.revision
    standing, unclear = pin.standing(upstream, found, access) if health else (Standing("unknown"), ())
    lacks = pin.lacking(upstream, newest, access)
    facts = Facts(
        newest,
        NOTHING,
        lacks=lacks,
        # who asks about an older revision is told what it would take back
        behind=rev is None
        and bool(lacks)
        and pin.lacking(replace(upstream, revision=newest), upstream.revision, access) == 0,
        standing=standing,
        onward=pin.onward(upstream, newest, found),
        follows_tag=found.name.startswith(pin.TAGS),
        moved_tags=found.moved,
    )
    gone = (pin.branch_gone(upstream, found),) if found.tip is None and rev is None else ()
    told = _Look(upstream, facts, None, (*_address(upstream, found.listing), *gone, *unclear))
    return told if newest == upstream.revision or facts.behind else _compared(lock, told, newest, access)


def _wanted(upstream: Upstream, rev: str, access: Access) -> str:
    try:
        return fetch.resolve(upstream, rev, access)
    except GoneError as problem:  # the upstream answered: what was asked for is wrong
        raise UsageError(problem.message, hint=problem.hint) from None


def _compared(lock: Lock, look: _Look, newest: str, access: Access) -> _Look:
    """The same with what became of our files, and of run-time imports, in a newer revision."""
    assert look.facts is not None
    upstream, facts = look.upstream, look.facts
    place = _unmoved(upstream, newest, access)
    known = memory.recall(place)
    if isinstance(known, list) and not upstream.imports:
        return replace(look, facts=replace(facts, changes=replace(NOTHING, elsewhere=known[0])))
    snapshot = fetch.snapshot(upstream, newest, access)
    changes = _changes(upstream, snapshot, access)
    if changes == replace(NOTHING, elsewhere=changes.elsewhere):
        memory.remember(place, [changes.elsewhere])
    ground = None
    if changes.ours:
        from vendor_tool.pipeline import preview

        try:
            ground = preview.survey(lock, upstream, newest, access)
            changes = ground.changes
        except GoneError:
            if facts.standing.kind not in ("gone", "refused"):  # it is not the pin that is missing
                raise
    findings = list(look.findings)
    if upstream.imports:
        from vendor_tool.pipeline import runtime

        findings += runtime.upstream(upstream, snapshot, access)
    return _Look(upstream, replace(facts, changes=changes), ground, tuple(findings))


def _changes(upstream: Upstream, new: Snapshot, access: Access) -> Changes:
    """What became of our files; with what happened elsewhere where the old listing is at hand anyway."""
    assert upstream.resolved is not None
    try:
        old = fetch.snapshot(upstream, upstream.revision, replace(access, offline=True))
    except UpstreamError:
        return compare(upstream, new)
    return compare(upstream, new, old)


def _unmoved(upstream: Upstream, newest: str, access: Access) -> Path:
    """Where it is kept that a revision holds all recorded files as they were, and how many others it changed."""
    assert upstream.resolved is not None
    legal = (upstream.resolved.license, upstream.resolved.notice)
    files = [(file.path, file.blob, file.executable) for file in upstream.resolved.files]
    kept = [(file.path, file.blob) if file else None for file in legal]
    patterns = [upstream.from_, [spec.path for spec in upstream.files if plan.is_glob(spec.path)]]
    return memory.place(access.cache, "unmoved", [2, upstream.url, upstream.revision, newest, files, kept, patterns])


# ---- findings that need no comparison ---------------------------------------------------------------------


def _never_synced(upstream: Upstream) -> Finding:
    return Finding(
        "drift-not-synced",
        "error",
        f"upstream `{upstream.name}` was never synced",
        lock_line=upstream.at.line,
        upstream=upstream.name,
        fix=f"vendor-tool sync {upstream.name}",
    )


def _address(upstream: Upstream, listing: Listing) -> Iterator[Finding]:
    def finding(rule: str, message: str) -> Finding:
        return Finding(rule, "warning", message, lock_line=upstream.at.line, upstream=upstream.name, side="upstream")

    asked = fetch.plain_url(upstream.url)
    if listing.url != upstream.url:
        yield finding("repository-mirror", f"`{asked}` gives no answer; `{fetch.plain_url(listing.url)}` does")
    elif listing.moved is not None and listing.moved.removesuffix(".git") != asked.rstrip("/").removesuffix(".git"):
        yield finding("repository-renamed", f"`{asked}` is `{listing.moved}` now: write that under `url:`")


def _known_bad(lock: Lock, names: Collection[str], access: Access) -> list[Finding]:
    from vendor_tool.outdated import known_bad

    def is_ancestor(name: str, older: str, newer: str) -> bool | None:
        try:
            return fetch.descends(lock.upstreams[name], older, newer, access)
        except UpstreamError:
            return None

    versions = installed.versions(sorted({name for note in lock.known_bad for name in note.versions}))
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        lambda: known_bad.bad_pins(lock, is_ancestor),
        lambda: known_bad.bad_environment(lock, versions),
        lambda: known_bad.bad_requirements(lock),
    )
    return [one for check in checks for one in check() if one.upstream is None or one.upstream in names]
