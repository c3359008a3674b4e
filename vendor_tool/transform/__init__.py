"""Rules on the way from upstream's bytes to plain ones, in the order of the lock.

A new kind of rule is one module with `apply(source, rule, context) -> Change` and one line in `_apply`. Modules that
only some runs need are imported where they are used: start-up counts.
"""

import functools
import importlib.util
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import Change, Context, FileSpec, Format, Header, Imports, Rule, Shim, ShimSpec, Source
from vendor_tool.transform import dynamic, header, imports, syntax
from vendor_tool.values import dataclass, replace

PARALLEL_FROM = 1_000_000
"""Bytes of source to be rewritten from which further processes, and loading libcst in each, take less time."""


@dataclass(frozen=True, slots=True)
class Plain:
    """One file after the rules."""

    source: Source
    data: bytes
    names: tuple[str, ...]
    notes: tuple[Finding, ...]


_Listed: TypeAlias = tuple[int, int] | None
"""Which rule of the lock it is: (-1, place) in the entry's, (place of the file's item, place) in a file's; None for one
that need not fire: a default, or `only` and `drop`, whose names are looked at first."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One file on its way: its state so far, and the rules that are left."""

    source: Source
    spec: FileSpec
    left: tuple[tuple[Rule | FileSpec, _Listed], ...]
    names: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()
    fired: frozenset[_Listed] = frozenset()
    missing: tuple[imports.Missing, ...] = ()
    refused: tuple[str, str | None] | None = None


Items: TypeAlias = Sequence[tuple[Source, FileSpec]]


def apply(
    items: Items, rules: Sequence[Rule] | None, context: Context, revision: str, cache: Path | None
) -> tuple[Plain, ...]:
    """Takes each file through `only`/`drop` and then the rules, in the lock's order.

    A file's own rules take the place of those of the same kind, others come last. `rules=None` stands for the default:
    `imports`, then `shim` for every stand-in there is. `cache` is a folder that keeps results.

    Raises UsageError where a rule that the lock lists finds nothing in any of its files, where `only` or `drop` names
    nothing, where an import needs a file that is not vendored, and where a rule cannot do its work.
    """
    key = _key(items, rules, context, revision) if cache is not None else ""
    if cache is not None and (found := _kept(items, cache, key)) is not None:
        return found
    places = _places(items)
    works = [_start(source, spec, rules, context, places[_identity(spec)]) for source, spec in items]
    _demand_present(items, context)
    while any(work.left for work in works):
        works = _formatted(_advanced(works, context), context)
    _demand_fired(works, items, rules, context)
    _demand_renamed(items, rules, context)
    plains = tuple(_finish(work, item[0], context) for work, item in zip(works, items, strict=True))
    if cache is not None:
        from vendor_tool.transform import cache as kept

        changed = (None if plain.data == plain.source.data else plain.data for plain in plains)
        kept.write(cache, key, [(data, one.names, one.notes) for data, one in zip(changed, plains, strict=True)])
    return plains


def cached(
    items: Items, rules: Sequence[Rule] | None, context: Context, revision: str, cache: Path
) -> tuple[Plain, ...] | None:
    """What `apply` would give, where an earlier run kept it. Needs no listing: the revision stands for it."""
    return _kept(items, cache, _key(items, rules, context, revision))


def _kept(items: Items, cache: Path, key: str) -> tuple[Plain, ...] | None:
    from vendor_tool.transform import cache as kept

    entries = kept.read(cache, key)
    if entries is None:
        return None
    return tuple(
        Plain(source, source.data if data is None else data, names, notes)
        for (source, _), (data, names, notes) in zip(items, entries, strict=True)
    )


def versions(rules: Sequence[Rule] | None, files: Sequence[FileSpec], shims: Mapping[str, ShimSpec]) -> dict[str, str]:
    """The tools that may shape the bytes of these files under these rules, with their versions."""
    every: list[Rule] = [*(_defaults(shims) if rules is None else rules), *(r for spec in files for r in spec.rules)]
    found = {}
    if any(isinstance(rule, Imports | Shim) for rule in every) or any(spec.only or spec.drop for spec in files):
        found["libcst"] = _libcst()
    if any(isinstance(rule, Format) for rule in every):
        from vendor_tool.transform import format as formatting

        found["ruff"] = formatting.version()
    return found


def shims_used(contents: Iterable[bytes], shims: Mapping[str, ShimSpec]) -> frozenset[str]:
    """The local paths of the stand-ins that the finished files name."""
    names = {spec.to: (spec.import_ or spec.to.removesuffix(".py").replace("/", ".")) for spec in shims.values()}
    words = {path: name.rpartition(".")[2].encode() for path, name in names.items()}
    return frozenset(
        path
        for data in contents
        for path, word in words.items()
        if word in data and re.search(rb"(?<!\w)%s(?!\w)" % word, data)
    )


def _defaults(shims: Mapping[str, ShimSpec]) -> list[Rule]:
    return [Imports(), Shim(tuple(shims))] if shims else [Imports()]


def _key(items: Items, rules: Sequence[Rule] | None, context: Context, revision: str) -> str:
    from vendor_tool.transform import cache as kept

    tools = versions(rules, [spec for _, spec in items], context.shims)
    return kept.key(items, rules, context, revision, tools)


@functools.cache
def _libcst() -> str:
    """The version that is installed, read without libcst, and without `importlib.metadata` where it stands beside it.

    The latter loads a parser for mail, which takes longer than the rest of a small sync.
    """
    spec = importlib.util.find_spec("libcst")
    if spec is not None and spec.origin is not None:
        found = list(Path(spec.origin).parent.parent.glob("libcst-*.dist-info/METADATA"))
        if len(found) == 1:
            head = found[0].read_text(encoding="utf-8").partition("\n\n")[0]
            return next(line.removeprefix("Version: ") for line in head.split("\n") if line.startswith("Version: "))
    from importlib.metadata import version

    return version("libcst")


def _identity(spec: FileSpec) -> tuple[str, int, int]:
    return spec.path, spec.at.line, spec.at.column


def _places(items: Items) -> dict[tuple[str, int, int], int]:
    """Each item of `files:` by its number in the lock's order."""
    return {one: number for number, one in enumerate(dict.fromkeys(_identity(spec) for _, spec in items))}


def _start(source: Source, spec: FileSpec, rules: Sequence[Rule] | None, context: Context, place: int) -> _Work:
    listed: list[tuple[Rule, _Listed]]
    if rules is None:
        listed = [(rule, None) for rule in _defaults(context.shims)]
    else:
        listed = [(rule, (-1, number)) for number, rule in enumerate(rules)]
    own: list[tuple[Rule, _Listed]] = [(rule, (place, number)) for number, rule in enumerate(spec.rules)]
    left: list[tuple[Rule | FileSpec, _Listed]] = [(spec, None)] if spec.only or spec.drop else []
    for rule, mark in listed:
        same = [item for item in own if type(item[0]) is type(rule)]
        if not same:
            left.append((rule, mark))
        left += [item for item in same if item not in left]
    return _Work(source, spec, (*left, *(item for item in own if item not in left)))


def _advanced(works: Sequence[_Work], context: Context) -> list[_Work]:
    """Every file up to its next `format`, in several processes where that takes less time."""
    done: dict[int, _Work] = {}
    large = sum(len(work.source.data) for work in works) >= PARALLEL_FROM
    heavy = [n for n, work in enumerate(works) if large and _needs_parsing(work, context)]
    if large and sum(len(works[n].source.data) for n in heavy) >= PARALLEL_FROM:
        from vendor_tool.transform import processes

        advance = functools.partial(_advance, context=context)
        done = dict(zip(heavy, processes.spread(advance, [works[n] for n in heavy]), strict=True))
    return _checked([done.get(n) or _advance(work, context) for n, work in enumerate(works)], context)


def _needs_parsing(work: _Work, context: Context) -> bool:
    source = work.source
    if not syntax.is_python(source.path):
        return False
    return any(
        (isinstance(rule, Imports) and imports.may_import(source, rule, context))
        or (isinstance(rule, Shim) and syntax.mentions(source.data, rule.modules))
        for rule, _ in work.left
    )


def _advance(work: _Work, context: Context) -> _Work:
    while work.left and not isinstance(work.left[0][0], Format):
        rule, mark = work.left[0]
        try:
            change = _apply(work.source, rule, context)
        except imports.NotVendored as problem:
            return replace(work, missing=problem.missing)
        except UsageError as problem:  # an exception of ours would lose its hint on the way between processes
            return replace(work, refused=(problem.message, problem.hint))
        work = _after(work, change, mark)
    return work


def _after(work: _Work, change: Change, mark: _Listed) -> _Work:
    fired = change.matched or change.data is not work.source.data
    return replace(
        work,
        source=replace(work.source, data=change.data),
        left=work.left[1:],
        names=(*work.names, *change.names),
        notes=(*work.notes, *change.notes),
        fired=work.fired | {mark} if fired else work.fired,
    )


def _apply(source: Source, rule: Rule | FileSpec, context: Context) -> Change:
    match rule:
        case FileSpec():
            from vendor_tool.transform import select

            return select.apply(source, rule, context)
        case Header():
            return header.apply(source, rule, context)
        case Imports():
            return imports.apply(source, rule, context)
        case Shim():
            from vendor_tool.transform import shim

            return shim.apply(source, rule, context)
        case Format():
            from vendor_tool.transform import format as formatting

            return formatting.apply(source, rule, context)


def _checked(works: list[_Work], context: Context) -> list[_Work]:
    if missing := [item for work in works for item in work.missing]:
        raise imports.NotVendored(missing, context.upstream)
    if refused := [work.refused for work in works if work.refused is not None]:
        message = "\n".join(message for message, _ in refused)
        raise UsageError(message, hint="; ".join(dict.fromkeys(hint for _, hint in refused if hint)) or None)
    return works


def _formatted(works: list[_Work], context: Context) -> list[_Work]:
    """Every file past the `format` that it stands at, all files of one such rule together."""
    waiting: dict[str, list[int]] = {}
    for number, work in enumerate(works):
        if work.left:
            waiting.setdefault(repr(work.left[0][0]), []).append(number)
    if not waiting:
        return works
    from vendor_tool.transform import format as formatting

    for numbers in waiting.values():
        rule = works[numbers[0]].left[0][0]
        assert isinstance(rule, Format)
        changes = formatting.batch([works[n].source for n in numbers], rule, context)
        for number, change in zip(numbers, changes, strict=True):
            works[number] = _after(works[number], change, works[number].left[0][1])
    return works


def _demand_present(items: Items, context: Context) -> None:
    """Raises UsageError where `only` or `drop` names what none of the item's files has."""
    if not any(spec.only or spec.drop for _, spec in items):
        return
    from vendor_tool.transform import select

    wanted: dict[tuple[str, int, int], dict[str, str]] = {}
    for source, spec in items:
        left = wanted.setdefault(
            _identity(spec), {name: key for key in ("only", "drop") for name in getattr(spec, key)}
        )
        for name in select.present(source, left):
            del left[name]
    for (path, line, column), left in wanted.items():
        for name, key in left.items():
            raise UsageError(
                f"`{key}: {name}` of `{path}` in `{context.upstream}` names nothing: no top-level function, class or "
                f"assignment is called that (lockfile line {line}, column {column})",
                hint=f"correct the name, or take it out of `{key}:`",
            )


def _demand_fired(works: Sequence[_Work], items: Items, rules: Sequence[Rule] | None, context: Context) -> None:
    fired = frozenset().union(*(work.fired for work in works))
    for number, rule in enumerate(rules or ()):
        replaced = all(any(type(own) is type(rule) for own in spec.rules) for _, spec in items)
        if (-1, number) not in fired and not replaced:
            raise _idle(rule, f"`transforms:` of `{context.upstream}`")
    places = _places(items)
    for _, spec in items:
        for number, rule in enumerate(spec.rules):
            if (places[_identity(spec)], number) not in fired:
                raise _idle(rule, f"`transforms:` of `{spec.path}` in `{context.upstream}`")


def _demand_renamed(items: Items, rules: Sequence[Rule] | None, context: Context) -> None:
    """Raises UsageError where a name under `rename:` is imported by none of the files that the rule is for."""
    for rule in rules or ():
        if isinstance(rule, Imports):
            meant = [source for source, spec in items if not any(isinstance(own, Imports) for own in spec.rules)]
            _renames(rule, meant, f"`transforms:` of `{context.upstream}`", context)
    for spec in {_identity(spec): spec for _, spec in items}.values():
        for rule in spec.rules:
            if isinstance(rule, Imports):
                meant = [source for source, other in items if _identity(other) == _identity(spec)]
                _renames(rule, meant, f"`transforms:` of `{spec.path}` in `{context.upstream}`", context)


def _renames(rule: Imports, sources: Sequence[Source], where: str, context: Context) -> None:
    met = frozenset[str]().union(*(imports.renamed(source, rule, context) for source in sources)) if sources else ()
    idle = [name for name in rule.rename if name not in met]
    if idle and sources:
        item = f"{{{idle[0]}: {rule.rename[idle[0]]}}}"
        raise UsageError(
            f"`imports: {{rename: {item}}}` in {where} finds no such import in its files",
            hint="correct the name, or take it out of `rename:`",
        )


def _idle(rule: Rule, where: str) -> UsageError:
    name = type(rule).__name__.lower()
    what = f" for {', '.join(f'`{module}`' for module in rule.modules)}" if isinstance(rule, Shim) else ""
    return UsageError(
        f"the rule `{name}`{what} in {where} finds nothing to do in any of its files",
        hint=f"take `{name}` out, or look for the file that it was meant for",
    )


def _finish(work: _Work, source: Source, context: Context) -> Plain:
    notes = (*work.notes, *dynamic.find(work.source, context))
    return Plain(source, work.source.data, tuple(dict.fromkeys(work.names)), notes)
