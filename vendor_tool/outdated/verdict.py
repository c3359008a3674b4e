"""What `outdated` says of one upstream, from facts that others gathered."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from vendor_tool.findings import Finding, Level
from vendor_tool.model import Commit, Upstream
from vendor_tool.outdated.files import Changes, FileChange, NewFile
from vendor_tool.outdated.pins import Standing, request
from vendor_tool.plan import is_glob, spec_of
from vendor_tool.values import dataclass, field, replace
from vendor_tool.words import command as line_of
from vendor_tool.words import count, loss

SHOWN: Final = 3
"""Commits that one finding names before the rest is counted."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of an upstream's newest revision; what was not asked for keeps its default."""

    newest: str  # commit that the followed branch stands at
    changes: Changes
    commits: Sequence[Commit] = ()  # since the pin, that touch our files, newest first
    fixes: Collection[str] = ()  # ids of those that read as fixes
    details: Mapping[str, str] = field(default_factory=dict)  # upstream path to what changed in the file, in words
    fates: Mapping[str, str] = field(default_factory=dict)  # upstream path that is gone to where it went, in words
    outcome: str | None = None  # of an upgrade, in words: "an upgrade is clean"
    lacks: int | None = 0  # commits of the pin that the newest revision has not; None where that is not known
    behind: bool = False  # the newest revision is one that the pin goes on from
    standing: Standing = field(default_factory=lambda: Standing("unknown"))
    onward: str | None = None  # commit that a ref holds, to go to from a pin that none holds
    follows_tag: bool = False  # `branch:` names a tag
    moved_tags: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)


def findings(upstream: Upstream, facts: Facts) -> list[Finding]:
    """The findings of one upstream: the summary first, then files, licence and pin.

    Of a pin that is ahead of what it follows, the pin alone is told: there is nothing to upgrade to.
    """
    if facts.behind:
        return list(_pin(upstream, facts))
    return [*_summary(upstream, facts), *_files(upstream, facts), *_legal(upstream, facts), *_pin(upstream, facts)]


def command(upstream: Upstream, facts: Facts) -> str:
    """The upgrade."""
    return f"vendor-tool sync {upstream.name}@{facts.newest}"


def _summary(upstream: Upstream, facts: Facts) -> Iterator[Finding]:
    if facts.newest == upstream.revision:
        return
    span = f"between `{upstream.revision[:12]}` and `{facts.newest[:12]}`"
    line = upstream.revision_at.line
    changed, new = len(facts.changes.files), len(facts.changes.new)
    if not facts.changes.ours:
        other = facts.changes.elsewhere
        what = "" if other is None else f": {count(other, 'file')} changed, none of ours"
        message = f"only the repository moved {span}{what}"
        yield Finding("upstream-moved", "note", message, lock_line=line, upstream=upstream.name, side="upstream")
        return
    total = len(upstream.resolved.files) if upstream.resolved else changed
    said = [f"{changed} of {count(total, 'file')} changed upstream"] if changed else []
    said += [f"{count(new, 'file')} {'is' if new == 1 else 'are'} new{'' if changed else ' upstream'}"] if new else []
    parts = [f"{' and '.join(said)} {span}{history(facts.commits, facts.fixes)}"]
    parts += [said for said in (loss(facts.lacks, facts.newest), facts.outcome) if said is not None]
    yield Finding(
        "upstream-changed",
        "warning",
        "; ".join(parts),
        lock_line=line,
        upstream=upstream.name,
        side="upstream",
        fix=command(upstream, facts),
        revision=facts.newest,
        digest=_digest(facts),
    )


def _digest(facts: Facts) -> str:
    """Of what our files are upstream now: whoever accepts one change does not accept the next."""
    ours = [f"{change.recorded.path} {change.kind} {change.new_blob}" for change in facts.changes.files]
    ours += [f"{file.path} new" for file in facts.changes.new]
    return hashlib.sha256("\n".join(ours).encode("utf-8", "surrogateescape")).hexdigest()


def _files(upstream: Upstream, facts: Facts) -> Iterator[Finding]:
    for change in facts.changes.files:
        rule, text = _changed(change, facts)
        yield Finding(
            rule,
            "note" if rule == "upstream-file-changed" else "warning",
            text,
            path=change.recorded.to,
            line=1,
            lock_line=change.recorded.at.line,
            upstream=upstream.name,
            side="upstream",
            fix=_mend(upstream, change, facts),
            digest=change.new_blob,
        )
    for file in facts.changes.new:
        yield _new(upstream, file, facts)
    for path in facts.changes.beside:
        yield _beside(upstream, path, facts)


def _mend(upstream: Upstream, change: FileChange, facts: Facts) -> str:
    """The upgrade; before it the edit that it needs, where `files:` names a file that is not there any more."""
    upgrade, spec = command(upstream, facts), spec_of(upstream, change.recorded.path)
    if change.kind not in ("renamed", "gone") or spec is None or is_glob(spec.path):
        return upgrade
    if change.new_path is None:
        return f"say under `files:` what takes the place of `{spec.path}`, or take it out; then run `{upgrade}`"
    new = change.new_path.removeprefix(f"{upstream.from_}/" if upstream.from_ else "")
    to = change.recorded.to.removeprefix(f"{upstream.to}/" if upstream.to else "")
    return (
        f"name `{new}` instead of `{spec.path}` under `files:`, with `to: {to}` to keep its place; then run `{upgrade}`"
    )


def _new(upstream: Upstream, file: NewFile, facts: Facts) -> Finding:
    commits = [commit for commit in facts.commits if file.path in commit.paths]
    matched = f"new: `{file.path}` matches `{file.spec.path}`{history(commits, facts.fixes)}"
    return Finding(
        "upstream-file-new",
        "note",
        f"{matched}; an upgrade would take it as `{file.to}`",
        lock_line=file.spec.at.line,
        upstream=upstream.name,
        side="upstream",
        fix=command(upstream, facts),
    )


def _beside(upstream: Upstream, path: str, facts: Facts) -> Finding:
    folder = path.rpartition("/")[0] or "."
    below = path.removeprefix(f"{upstream.from_}/" if upstream.from_ else "")
    return Finding(
        "upstream-file-new",
        "note",
        f"new: `{path}` stands in `{folder}`, of which `files:` lists every other file; no upgrade takes it by itself",
        lock_line=upstream.at.line,
        upstream=upstream.name,
        side="upstream",
        fix=_add(upstream, below, facts),
    )


def _add(upstream: Upstream, below: str, facts: Facts) -> str:
    """How one more file is taken; `--file` cannot name every path, and `add` looks for all files that are listed."""
    lost = any(_mend(upstream, change, facts) != command(upstream, facts) for change in facts.changes.files)
    if lost or ":" in below or below.startswith("-") or is_glob(below) or not below.isprintable():
        return f"list it under `files:` of {upstream.name} in the lock"
    return line_of("vendor-tool", "add", upstream.name, "--rev", facts.newest, "--file", below)


def _changed(change: FileChange, facts: Facts) -> tuple[str, str]:
    path = change.recorded.path
    match change.kind:
        case "renamed":
            return "upstream-file-renamed", f"`{path}` is now `{change.new_path}` upstream, with the same content"
        case "gone":
            if path in facts.fates:
                return "upstream-file-gone", facts.fates[path]
            near = ", ".join(f"`{candidate}`" for candidate in change.candidates)
            return "upstream-file-gone", f"`{path}` is gone upstream" + (f"; perhaps it is now {near}" if near else "")
        case "mode":
            return "upstream-file-changed", f"`{path}` changed its mode upstream, not its content"
        case "changed":
            commits = [commit for commit in facts.commits if path in commit.paths]
            details, past = facts.details.get(path), history(commits, facts.fixes)
            told = f": {details}{',' if past else ''}" if details else ""
            return "upstream-file-changed", f"`{path}` changed upstream{told}{past}"


def history(commits: Sequence[Commit], fixes: Collection[str]) -> str:
    """` in 3 commits, of which 1 reads as a fix: `abc123` subject`; the first few where none does."""
    if not commits:
        return ""
    marked = [commit for commit in commits if commit.sha in fixes]
    text = f" in {count(len(commits), 'commit')}"
    listed = ", ".join(f"`{commit.sha[:12]}` {commit.subject}" for commit in (marked or commits)[:SHOWN])
    rest = len(marked or commits) - SHOWN
    listed += f" and {rest} more" if rest > 0 else ""
    if not marked:
        return f"{text}: {listed}"
    return f"{text}, of which {len(marked)} {'reads as a fix' if len(marked) == 1 else 'read as fixes'}: {listed}"


def _legal(upstream: Upstream, facts: Facts) -> Iterator[Finding]:
    for rule, what, change in (
        ("upstream-licence-changed", "licence", facts.changes.license),
        ("upstream-notice-changed", "NOTICE", facts.changes.notice),
    ):
        if change is not None:
            accept = ("--accept-license",) if what == "licence" else ()
            happened = {"changed": "has changed", "gone": "is gone", "added": "was added"}[change]
            message = f"the upstream's {what} file {happened} at `{facts.newest[:12]}`: read it before an upgrade"
            line = upstream.resolved.at.line if upstream.resolved else upstream.at.line
            digest = " ".join(facts.changes.legal_blobs)
            yield Finding(
                rule,
                "warning",
                message,
                lock_line=line,
                upstream=upstream.name,
                side="upstream",
                fix=" ".join((command(upstream, facts), *accept)),
                digest=digest,
            )


def _pin(upstream: Upstream, facts: Facts) -> Iterator[Finding]:
    pin, refs = f"the pin `{upstream.revision[:12]}`", facts.standing.refs
    line = upstream.revision_at.line
    kind = "tag" if facts.follows_tag else "branch"
    followed = f"{kind} `{upstream.branch}`" if upstream.branch else "the default branch"

    def finding(rule: str, message: str) -> Finding:
        level: Level = "note" if rule == "pin-off-branch" else "warning"
        found = Finding(rule, level, message, lock_line=line, upstream=upstream.name, side="upstream")
        return replace(found, digest=upstream.revision)  # who accepts where one pin hangs does not accept the next

    match facts.standing.kind:
        case "other-branch" | "tag":
            listed = ", ".join(f"`{ref.split('/', 2)[2]}`" for ref in refs)
            yield finding("pin-off-branch", f"{pin} is not on {followed}, only on {listed}{_ahead(facts)}")
        case "request":
            listed = ", ".join(str(request(ref)) for ref in refs)
            message = f"{pin} is on no branch, only under pull request {listed}: whoever opened it can take it away"
            message += _ahead(facts)
            yield replace(finding("pin-on-request", message), fix=_away(upstream, facts))
        case "nowhere" | "gone" | "refused":
            message = f"{pin} is on no branch, tag or pull request{NO_REF[facts.standing.kind]}"
            yield replace(finding("pin-unreachable", message), fix=_away(upstream, facts))
        case "branch" | "unknown":
            pass
    for tag, (old, new) in facts.moved_tags.items():
        yield _moved(upstream, tag, old, new)


def _moved(upstream: Upstream, tag: str, old: str, new: str | None) -> Finding:
    """A tag that stands for another commit. The fix of one that is not followed stays where the pin is."""
    where = f"is now `{new[:12]}`" if new else "is not there any more"
    message = f"tag `{tag}` was `{old[:12]}` and {where}; the lock keeps the commit"
    stay, go = (line_of("vendor-tool", "sync", f"{upstream.name}@{one}") for one in (old, new))
    if tag == upstream.branch:
        fix = go if new else "follow something else under `branch:`"
    else:
        fix = stay
        message += f"; `{go}` goes with the tag" if new else ""
    return Finding(
        "tag-moved",
        "warning",
        message,
        lock_line=upstream.revision_at.line,
        upstream=upstream.name,
        side="upstream",
        fix=fix,
        digest=new,
    )


def _ahead(facts: Facts) -> str:
    """That the pin goes on from what is followed: there is nothing to upgrade to."""
    return (
        f"; it is ahead by {count(facts.lacks or 0, 'commit')}, so that there is nothing to upgrade to"
        if facts.behind
        else ""
    )


NO_REF: Final = {
    "nowhere": ": the upstream still gives it by its id, until it clears up",
    "gone": ", and the upstream does not give it by its id any more: the history was rewritten, or its branch deleted",
    "refused": ", and the upstream gives no commit by its id: nobody can fetch it there",
}


def _away(upstream: Upstream, facts: Facts) -> str:
    """How to leave a pin that nothing holds."""
    edit = "add a URL to `mirrors:`" if upstream.mirrors else "write `mirrors: [URL]`"
    mirror = f"{edit} under `{upstream.name}:` in the lock, of a repository that holds `{upstream.revision[:12]}`"
    return mirror if facts.onward is None else f"vendor-tool sync {upstream.name}@{facts.onward}, or {mirror}"


def gone_import(upstream: Upstream, name: str, *, holder: str, reason: str, fix: str | None = None) -> Finding:
    """A run-time import that its holder lacks.

    `holder` is a revision or a package, in words: "`tile-kernels` 2.1.0, installed here". `reason` is the message of
    the search for it.
    """
    gone = _import(upstream, "import-gone", "warning", f"`{name}` is not in {holder}: {reason}")
    return replace(gone, fix=fix)


def changed_import(
    upstream: Upstream, name: str, *, holder: str, before: str, after: str, digest: str | None = None
) -> Finding:
    """A run-time import whose holder defines it otherwise than the pin does; both are signatures, equal or not.

    `digest` is of the new source.
    """
    what = f"its signature was `{before}` and is `{after}`" if before != after else "its source changed"
    changed = _import(upstream, "import-changed", "note", f"`{name}` is another one in {holder}: {what}")
    return replace(changed, digest=digest)


def unclear_import(upstream: Upstream, name: str, why: str) -> Finding:
    """A run-time import, or its module, of which nobody can tell what became of it; `why` in words."""
    return _import(upstream, "import-unclear", "note", f"`{name}`: {why}")


def _import(upstream: Upstream, rule: str, level: Level, message: str) -> Finding:
    line = upstream.resolved.at.line if upstream.resolved else upstream.at.line
    return Finding(rule, level, message, lock_line=line, upstream=upstream.name, side="upstream")
