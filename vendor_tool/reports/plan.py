"""An upgrade plan as text, JSON and Markdown: what `sync NAME@REV --dry-run` prints and pull requests carry."""

from collections.abc import Iterator, Sequence
from typing import Final

from vendor_tool import __version__, links
from vendor_tool.model import Commit
from vendor_tool.preview import FileNews, LegalNews, Preview
from vendor_tool.reports.markdown import code, prose
from vendor_tool.reports.wording import count, dumped, visible
from vendor_tool.surface import Import

VERSION: Final = 1
MANY: Final = 40
"""Commits that are listed in Markdown before the rest is counted: a pull request's body has a limit."""
PATCHES: Final = {
    "clean": "applies as it is",
    "changed": "carried over",
    "obsolete": "obsolete: upstream has this now",
    "dropped": "dropped",
    "conflict": "conflicts",
    "waiting": "waits for the conflict before it",
}
FATES: Final = {
    "changed": "changed",
    "mode": "mode changed",
    "renamed": "renamed",
    "gone": "gone",
    "added": "new",
}
WHERE: Final = {"module": "at module level", "guarded": "guarded, at module level", "function": "inside a function"}


def text(plans: Sequence[Preview]) -> str:
    """Plans for a terminal or a log."""
    return "\n".join("".join(f"{visible(line)}\n" for line in _lines(plan)) for plan in plans)


def _lines(plan: Preview) -> Iterator[str]:
    yield f"{plan.upstream}: {plan.old[:12]} ({plan.old_date[:10]}) -> {plan.new[:12]} ({plan.new_date[:10]})"
    yield f"  {plan.outcome}"
    if plan.loss is not None:
        yield f"  {plan.loss}"
    if plan.refusal is not None:
        yield from (f"    {line.strip()}" for line in plan.refusal.message.split("\n"))
        yield from (f"    {line.strip()}" for line in (plan.refusal.hint or "").split("\n") if line)
    yield f"  {_summary(plan)}"
    for file in plan.files:
        yield f"    {file.to}: {FATES[file.fate]}: {file.detail}"
    for news in plan.legal:
        yield f"  {_legal(news)}"
    if plan.patches:
        yield "  patches:"
        for patch in plan.patches:
            yield f"    {patch.path}: {PATCHES[patch.status]}"
            yield from (f"      {note}" for note in patch.notes)
    for clash in plan.clashes:
        yield f"  conflict: {clash.path}: {count(clash.places, 'place')} ({clash.kind}) with {clash.patch}"
    yield from _imports(plan)
    gone = _gone(plan)
    if gone:
        yield f"  gone: {', '.join(gone)}"
    yield f"  {_history(plan)}"
    for commit in plan.commits:
        yield f"    {commit.sha[:12]} {commit.date[:10]} {commit.subject}{_mark(plan, commit)}"


def _summary(plan: Preview) -> str:
    ours = sum(file.fate != "added" for file in plan.files)
    parts = [f"{ours} of {count(plan.total, 'file')} of ours changed"]
    new = len(plan.files) - ours
    parts += [f"{new} new"] if new else []
    parts += [f"{plan.elsewhere} elsewhere in the repository"] if plan.elsewhere is not None else []
    return ", ".join(parts)


def _imports(plan: Preview) -> Iterator[str]:
    for file in plan.files:
        for item in file.imports:
            yield f"  new import: {item.name} ({WHERE[item.where]}) in {file.to}, upstream line {item.line}"


def _gone(plan: Preview) -> list[str]:
    return [f"{name} ({file.to})" for file in plan.files for name in file.removed]


def _history(plan: Preview) -> str:
    if plan.history is not None:
        return f"the commits in between are not known: {plan.history}"
    said = f"{count(len(plan.commits), 'commit')} {'touches' if len(plan.commits) == 1 else 'touch'} our files"
    marked = f", of which {len(plan.fixes)} {'reads as a fix' if len(plan.fixes) == 1 else 'read as fixes'}"
    return said + marked if plan.fixes else said


def _mark(plan: Preview, commit: Commit) -> str:
    return f"  [fix: {plan.fixes[commit.sha]}]" if commit.sha in plan.fixes else ""


def _legal(news: LegalNews) -> str:
    happened = {"changed": "has changed", "gone": "is gone", "added": "was added"}[news.change]
    ids = f": {news.before or 'unknown'} -> {news.after or 'unknown'}" if news.before != news.after else ""
    return f"the upstream's {news.what} file {happened}{ids}"


# ---- Markdown ---------------------------------------------------------------------------------------------


def markdown(plans: Sequence[Preview]) -> str:
    """Plans as the body of a pull request; nothing that an upstream wrote can link, notify or break out."""
    return "\n\n".join("\n\n".join(_blocks(plan)) for plan in plans) + "\n"


def _blocks(plan: Preview) -> Iterator[str]:
    yield f"### {prose(plan.upstream)}: {_commit(plan, plan.old)} → {_commit(plan, plan.new)}"
    compare = links.compare(plan.url, plan.old, plan.new)
    where = f"<{plan.url}>" + (f" ([compare]({compare}))" if compare else "")
    yield f"{where}, from {plan.old_date[:10]} to {plan.new_date[:10]}"
    yield f"**{prose(plan.outcome[:1].upper() + plan.outcome[1:])}.** {prose(_summary(plan))}."
    if plan.loss is not None:
        yield f"⚠️ **{prose(plan.loss[:1].upper() + plan.loss[1:])}.**"
    if plan.refusal is not None:
        yield prose(plan.refusal.message)
        yield from (f"*{prose(hint)}*" for hint in (plan.refusal.hint,) if hint)
    for news in plan.legal:
        yield f"⚠️ **{prose(_legal(news))}**"
    if plan.files:
        yield table(("file", "", "what"), [(code(file.to), FATES[file.fate], _what(file)) for file in plan.files])
    if plan.patches:
        rows = [(code(one.path), PATCHES[one.status], "<br>".join(map(prose, one.notes))) for one in plan.patches]
        yield table(("patch", "", "notes"), rows)
    if plan.clashes:
        yield table(
            ("conflict", "with", "places"),
            [(code(one.path), code(one.patch), f"{one.places} ({one.kind})") for one in plan.clashes],
        )
    imports = [(item, file) for file in plan.files for item in file.imports]
    if imports:
        yield table(
            ("new import", "where", "file"),
            [(code(item.name), WHERE[item.where], f"{code(file.to)}, line {item.line}") for item, file in imports],
        )
    gone = [f"{code(name)} ({code(file.to)})" for file in plan.files for name in file.removed]
    if gone:
        yield f"Gone: {', '.join(gone)}."
    yield from _commits(plan)


def _commits(plan: Preview) -> Iterator[str]:
    yield f"{prose(_history(plan))}."
    shown = sorted(plan.commits, key=lambda commit: commit.sha not in plan.fixes)[:MANY]
    rows = []
    for commit in (one for one in plan.commits if one in shown):
        fix = f"**{prose(plan.fixes[commit.sha])}**" if commit.sha in plan.fixes else ""
        rows.append((_commit(plan, commit.sha), commit.date[:10], prose(commit.subject), fix))
    if rows:
        yield table(("commit", "date", "subject", "fix"), rows)
    if len(plan.commits) > len(shown):
        yield f"And {len(plan.commits) - len(shown)} more."


def _what(file: FileNews) -> str:
    return prose(file.detail) + (f"<br>now {code(file.now)}" if file.now else "")


def _commit(plan: Preview, sha: str) -> str:
    link = links.commit(plan.url, sha)
    return f"[{code(sha[:12])}]({link})" if link else code(sha[:12])


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


# ---- JSON -------------------------------------------------------------------------------------------------


def as_json(plans: Sequence[Preview]) -> str:
    """One JSON object; within one `version` keys are only ever added. `plan.schema.json` describes it."""
    document = {
        "schema": "vendor-tool/plan",
        "version": VERSION,
        "tool": {"name": "vendor-tool", "version": __version__},
        "plans": [_plan(plan) for plan in plans],
    }
    return dumped(document)


def _plan(plan: Preview) -> dict[str, object]:
    return {
        "upstream": plan.upstream,
        "url": plan.url,
        "from": {"revision": plan.old, "date": plan.old_date},
        "to": {"revision": plan.new, "date": plan.new_date},
        "verdict": plan.verdict,
        "outcome": plan.outcome,
        "lacks": plan.lacks,
        "total": plan.total,
        "elsewhere": plan.elsewhere,
        "files": [_file(file) for file in plan.files],
        "patches": [{"path": one.path, "status": one.status, "notes": list(one.notes)} for one in plan.patches],
        "conflicts": [
            {"path": one.path, "patch": one.patch, "kind": one.kind, "places": one.places} for one in plan.clashes
        ],
        "legal": [
            {"what": one.what, "change": one.change, "before": one.before, "after": one.after} for one in plan.legal
        ],
        "commits": [_commit_facts(plan, commit) for commit in plan.commits],
        "history": plan.history,
        "refusal": {"message": plan.refusal.message, "hint": plan.refusal.hint} if plan.refusal else None,
    }


def _file(file: FileNews) -> dict[str, object]:
    return {
        "path": file.path,
        "to": file.to,
        "fate": file.fate,
        "now": file.now,
        "detail": file.detail,
        "imports": [_import(item) for item in file.imports],
        "added": list(file.added),
        "removed": list(file.removed),
        "signature": list(file.signature),
        "body": list(file.body),
    }


def _import(item: Import) -> dict[str, object]:
    return {"name": item.name, "where": item.where, "line": item.line}


def _commit_facts(plan: Preview, commit: Commit) -> dict[str, object]:
    return {
        "sha": commit.sha,
        "date": commit.date,
        "author": commit.author,
        "subject": commit.subject,
        "fix": plan.fixes.get(commit.sha),
        "paths": list(commit.paths),
    }


FORMS: Final = {"text": text, "json": as_json, "markdown": markdown}
