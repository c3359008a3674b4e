"""Which rules of a lock explain how copies differ from upstream's files: tried on the real build, fewest lines win."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vendor_tool import lines, lockfile, plan
from vendor_tool.adoption import headers, left_out
from vendor_tool.adoption.renames import Texts, renames
from vendor_tool.errors import UsageError
from vendor_tool.fence import reading, ruff
from vendor_tool.lockfile import edit
from vendor_tool.model import Access, Lock, Tree
from vendor_tool.pipeline import build as builds
from vendor_tool.pipeline import state
from vendor_tool.pipeline.build import Fetched, Made
from vendor_tool.transform.imports import NotVendored
from vendor_tool.values import dataclass, field, replace

# a formatter binds a project to one version of it: only for what is worth it
WORTH = 4
# what an entry without `transforms` does, stand-ins aside
DEFAULT: Sequence[Mapping[str, Any]] = ({"imports": {}},)


@dataclass(frozen=True, slots=True)
class Draft:
    """The lock with the new entry, and what the entry makes without patches."""

    text: str
    lock: Lock
    made: Made
    entry: Mapping[str, Any]
    left: int  # lines that differ


@dataclass(frozen=True, slots=True)
class Question:
    """What rules are looked for: the lock as it is, the entry without rules, and the files as they shall be."""

    lock: Lock
    text: str
    name: str
    entry: Mapping[str, Any]
    fetched: Fetched
    disk: Tree
    access: Access
    renamed: Mapping[str, str] = field(default_factory=dict)  # what imports of copies name elsewhere

    def pairs(self) -> list[Texts]:
        """Upstream's bytes and ours, of every text."""
        return [
            Texts(target.path, target.to, self.fetched.data(target.path), self.disk[target.to].data)
            for target in self.fetched.targets
        ]


def explained(question: Question) -> Draft:
    """The draft whose rules leave the fewest lines to patches; of equal ones that with fewer rules.

    Without any rule the files come as they are upstream, so that there always is one. Raises what `build.make` does.
    """
    first = (_tried_or_none(question, entry) for entry in (question.entry, _with(question.entry, DEFAULT)))
    plain = next((draft for draft in first if draft is not None and not draft.left), None)
    best = plain or _tried(question, _with(question.entry, []))
    if best.left:
        question = replace(question, renamed=renames(question.pairs()))
        best = min([best, *_variants(question)], key=_rank)
        best = _dropped(question, best)
    if best.left >= WORTH:
        best = _formatted(question, best)
    return best


def unreadable(question: Question) -> dict[str, str]:
    """Local files whose upstream file no build takes as it is, each with the reason."""
    found = {}
    for item in question.entry["files"]:
        try:
            _tried(question, {**question.entry, "files": [item], "transforms": []})
        except UsageError as problem:
            found[_goes_to(question.entry, item)] = problem.message
    return found


def _rank(draft: Draft) -> tuple[int, bool, int]:
    """Of equal drafts that with a rename is better, and one without `imports` worse: an upgrade brings imports, too."""
    rules = draft.entry.get("transforms", DEFAULT)
    found = [rule["imports"] for rule in rules if "imports" in rule]
    return draft.left, not any(options.get("rename") for options in found), len(rules) if found else len(rules) + 2


def _variants(question: Question) -> Iterator[Draft]:
    """Drafts with the default rules, and with header, imports and stand-ins."""
    default = _tried_or_none(question, question.entry)
    yield from [default] if default is not None else []
    for head, imports, shim in itertools.product(_headers(question), _imports(question), _shims(question)):
        entry = {**question.entry, **head}
        listed = [*entry.get("transforms", []), *imports, *shim]
        draft = _tried_or_none(question, _with(entry, listed))
        if draft is not None:
            yield draft


# ---- what may be a rule -----------------------------------------------------------------------------------


def _headers(question: Question) -> Iterator[dict[str, Any]]:
    """Parts of an entry: nothing, then the header of each file, on the entry where all files have one."""
    yield {}
    found = {
        target.to: headers.header(texts.local, texts.upstream, target.path)
        for target, texts in zip(question.fetched.targets, question.pairs(), strict=True)
    }
    if not any(found.values()):
        return
    shared = headers.shared(found)
    files = []
    for target, item in zip(question.fetched.targets, _items(question), strict=True):
        own = found[target.to]
        rule = {"transforms": [{"header": {"text": own}}]}
        files.append(item if own in (None, shared) else {**_keys(item), **rule})
    yield {"files": files, **({"transforms": [{"header": {"text": shared}}]} if shared else {})}


def _items(question: Question) -> list[Any]:
    """The items of `files:` in the order of the targets, which are sorted by local path."""
    return sorted(question.entry["files"], key=lambda item: _goes_to(question.entry, item))


def _goes_to(entry: Mapping[str, Any], item: Any) -> str:
    """The local path of an item of `files:`."""
    return plan.join(entry["to"], item if isinstance(item, str) else item.get("to", item["path"]))


def _keys(item: Any) -> dict[str, Any]:
    """An item of `files:` as a map."""
    return {"path": item} if isinstance(item, str) else dict(item)


def _imports(question: Question) -> Iterator[list[dict[str, Any]]]:
    yield [{"imports": {}}]
    if question.renamed:
        yield [{"imports": {"rename": question.renamed}}]
    yield []


def _shims(question: Question) -> Iterator[list[dict[str, Any]]]:
    yield []
    if question.lock.shims:
        yield [{"shim": {}}]
        yield from ([{"shim": {"modules": [module]}}] for module in question.lock.shims if len(question.lock.shims) > 1)


def _dropped(question: Question, best: Draft) -> Draft:
    """The draft whose items name what copies left out, or the little that they kept, where that leaves fewer lines."""
    items = {_goes_to(best.entry, item): item for item in best.entry["files"]}
    found = {}
    for texts in question.pairs():
        plain = different(texts.upstream, texts.local)
        for key, names in left_out.choices(texts.upstream, texts.local, texts.path) if plain else ():
            item = {**_keys(items[texts.to]), key: list(names)}
            bare = {one: value for one, value in item.items() if one != "transforms"}
            alone = {**question.entry, "files": [bare], "transforms": []}
            draft = _tried_or_none(question, alone)
            if draft is not None and draft.left < plain:
                found[texts.to] = item
                break
    if not found:
        return best
    draft = _tried_or_none(question, {**best.entry, "files": [found.get(to, item) for to, item in items.items()]})
    return draft if draft is not None and draft.left < best.left else best


def _formatted(question: Question, best: Draft) -> Draft:
    """The draft with the project's formatter, where that explains more than a few lines."""
    tried = [best]
    for rule in _formats(question):
        for entry in (best.entry, *_unformatted(question, best)):
            draft = _tried_or_none(question, _with(entry, [*entry.get("transforms", []), {"format": rule}]))
            if draft is not None:
                tried.append(draft)
    least = min(tried, key=lambda draft: draft.left)
    return least if least.left + WORTH <= best.left else best


def _unformatted(question: Question, best: Draft) -> Iterator[Mapping[str, Any]]:
    """Entries whose rules explain something only once the imports are sorted."""
    rules = [rule for rule in best.entry.get("transforms", []) if "imports" not in rule and "shim" not in rule]
    tried: list[list[dict[str, Any]]]
    tried = [[{"imports": {"rename": question.renamed}}]] if question.renamed else []
    tried += [[{"imports": {}}], *([[{"imports": {}}, {"shim": {}}]] if question.lock.shims else [])]
    yield from (_with(best.entry, [*rules, *more]) for more in tried)


def _formats(question: Question) -> Iterator[dict[str, Any]]:
    """Options of ruff as the project has them, with and without sorted imports; nothing where it does not use ruff."""
    from vendor_tool.transform import format as formatting

    try:
        version = formatting.version()
    except UsageError:
        return
    settings = _settings(question.lock)
    if settings is None:
        return
    width = settings.get("line-length", 88)
    top = question.entry["to"].partition("/")[0]
    isort = reading.table(settings, ("lint", "isort"))
    own = reading.strings(isort.get("known-first-party")) or sorted({top, *_tops(question)} - {""})
    base = {"tool": "ruff", "version": version, "line-length": width}
    sorting = {"isort": True, **({"first-party": own} if own else {})}
    yield base
    for combined in [True] if isort.get("combine-as-imports") is True else [False, True]:
        order = {**base, **sorting, **({"combine-as": True} if combined else {})}
        yield from (order, {**order, "past-noqa": True})


def _tops(question: Question) -> set[str]:
    """Packages of the project that copies import from: a name that upstream's files have for none of theirs."""
    return {new.partition(".")[0] for old, new in question.renamed.items() if new != old}


def _settings(lock: Lock) -> Mapping[str, object] | None:
    """What the project says to ruff; None where it says nothing, or where that cannot be read."""
    for name in ruff.CONFIGS:
        data = state.on_disk(lock, name)[0]
        if data is None:
            continue
        try:
            found = reading.toml(data.decode("utf-8", "replace"), name)
        except UsageError:
            continue
        table = reading.table(found, ("tool", "ruff")) if name == "pyproject.toml" else found
        if table or name != "pyproject.toml":
            return table
    return None


# ---- trying -----------------------------------------------------------------------------------------------


def _with(entry: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {**entry, "transforms": list(rules)}


def _tried_or_none(question: Question, entry: Mapping[str, Any]) -> Draft | None:
    """The draft, where these rules find something to do in files that they can work on."""
    try:
        return _tried(question, entry)
    except NotVendored as problem:
        entry = _letting(entry, [missing.name for missing in problem.missing])
    except UsageError:
        return None
    try:
        return _tried(question, entry)
    except UsageError:
        return None


def _letting(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The entry whose imports of these modules stay, for a patch to change or because they are installed."""
    stay = {name: name for name in sorted(set(names))}
    listed = entry.get("transforms", DEFAULT)
    rules = [
        {"imports": {"rename": {**stay, **rule["imports"].get("rename", {})}}} if "imports" in rule else rule
        for rule in listed
    ]
    return _with(entry, rules)


def _tried(question: Question, entry: Mapping[str, Any]) -> Draft:
    text = edit.add_upstream(question.text, question.name, entry)
    lock, _ = lockfile.parse_text(question.lock.path, text)
    upstream = lock.upstreams[question.name]
    targets = plan.targets(upstream, question.fetched.snapshot, lock.path.name)
    fetched = replace(question.fetched, upstream=upstream, targets=targets)
    made = builds.make(lock, fetched, question.access, ())
    left = sum(different(file.plain, question.disk[file.to].data) for file in made.files)
    return Draft(text, lock, made, entry, left)


def different(plain: bytes, wanted: bytes) -> int:
    """Lines of a patch that turns the one into the other, context aside; 1 for what is not text."""
    if plain == wanted:
        return 0
    if b"\0" in plain or b"\0" in wanted:
        return 1
    spans = lines.changes(lines.split(plain), lines.split(wanted))
    return sum(span.old_end - span.old_start + span.new_end - span.new_start for span in spans)
