"""`shim:` every import of the modules becomes an import from their stand-ins; nothing else of the file changes.

`shim_standin` writes the stand-in, `shim_analysis` says what a file does while it is imported, `shim_proof` imports the
written files without the modules.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from vendor_tool.errors import UsageError
from vendor_tool.model import Change, Context, Shim, ShimSpec, Source
from vendor_tool.transform import modules, rewriting, shim_analysis, shim_attempts, shim_branches, shim_stars, syntax
from vendor_tool.transform.rewriting import Target
from vendor_tool.transform.shim_analysis import Needs
from vendor_tool.transform.shim_builtins import KEYED, LOADED, LOOKS
from vendor_tool.transform.shim_proof import prove as prove
from vendor_tool.transform.shim_standin import BUNDLED, GUARD, SHADOWS
from vendor_tool.transform.shim_standin import render as render
from vendor_tool.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class _StandIn:
    """Where the names of one shimmed module come from in one file."""

    spec: ShimSpec
    parts: tuple[str, ...]
    local: bool


_Known: TypeAlias = Mapping[str, tuple[_StandIn, tuple[str, ...]]]
"""First words of dotted names, with the stand-in for each and the parts that lead to the word in it."""


def apply(source: Source, rule: Shim, context: Context) -> Change:
    """Rewrites the imports of `rule.modules` to those of the stand-ins in `context.shims`.

    Imports under `if TYPE_CHECKING` stay: they never run. Raises UsageError where the lock has no stand-in for a
    module, and where a stand-in cannot be imported from where the file stands.
    """
    stand_ins = {module: _stand_in(module, context) for module in rule.modules}
    if not syntax.is_python(source.path) or not syntax.mentions(source.data, rule.modules):
        return Change(source.data)
    tree = syntax.tree(source)
    known = _with_bundled(stand_ins)
    guarded, typed = shim_attempts.guards(tree), shim_analysis.type_checking(tree)
    stars = _stars(tree, known, typed, context)
    needs = shim_analysis.needs(tree, frozenset(known), stars)
    edits, names = [], []
    for node in syntax.imports(source):
        targets = [] if node in typed else list(_targets(node, known, guard=node in guarded))
        if node in tree.body:
            targets = [old or new for old, new in zip(targets, _looking(node, known, needs), strict=True)]
        if not any(targets):
            continue
        node_text = _statement(source, node, targets, known, stars)
        names += rewriting.names(node, targets)
        if node_text is not None:
            edits.append(syntax.Edit(node, node_text))
    if not edits:
        return Change(source.data)
    first = next((edit for edit in edits if edit.node.col_offset == 0), None)
    if not _can_mark(first, known, needs):
        needs = replace(needs, waiting={}, keyed=(), modules=frozenset())
    if first is not None:
        calls = _aliases(source, needs)
        edits = _with_shadows(source, edits, first, known, needs, calls)
        edits += [syntax.Edit(node, calls[node.id]) for node in needs.recorded]
    return Change(syntax.splice(source, [*edits, *_marks(source, needs)]), tuple(dict.fromkeys(names)), matched=True)


def _can_mark(first: syntax.Edit | None, known: _Known, needs: Needs) -> bool:
    """Whether the names that marks use can be imported before them; and a stand-in cannot wait for another one."""
    lines = [*(node.lineno for node in needs.waiting), *(node.lineno for node in needs.keyed)]
    before = first is not None and all(line > first.node.lineno for line in lines)
    return before and len({known[module][0].parts for module in needs.modules}) == 1


def _marks(source: Source, needs: Needs) -> Iterator[syntax.Edit | syntax.Cut]:
    whole = syntax.text(source)
    for statement, bound in needs.waiting.items():
        yield from shim_branches.edits(whole, statement, bound)
    for table in needs.keyed:
        span = whole.span(table)
        yield syntax.Cut(span.start, span.start, f"{KEYED}(")
        yield syntax.Cut(span.stop, span.stop, ")")


def _aliases(source: Source, needs: Needs) -> dict[str, str]:
    """What the file calls the functions of Python's own that write calls down; by their own names others go on."""
    words = set(re.findall(r"\w+", syntax.text(source).text))
    found = {}
    for name in needs.shadows:
        if name not in LOOKS:
            alias = f"_{name}"
            while alias in words:
                alias += "_"
            found[name] = alias
    return found


def _stand_in(module: str, context: Context) -> _StandIn:
    spec = context.shims.get(module)
    if spec is None:
        raise UsageError(
            f"`transforms:` of `{context.upstream}` shims `{module}`, which has no stand-in under `shims:`",
            hint=f"add `{module}: {{to: vendored/_{module}.py}}` to `shims:`",
        )
    if spec.import_ is not None:
        return _StandIn(spec, tuple(spec.import_.split(".")), local=False)
    return _StandIn(spec, modules.local_parts(spec.to), local=True)


def _with_bundled(stand_ins: Mapping[str, _StandIn]) -> _Known:
    """The stand-ins with the modules that theirs bundle, which count only in a file that names their owner as well."""
    known: dict[str, tuple[_StandIn, tuple[str, ...]]] = {}
    for module, stand_in in stand_ins.items():
        known[module] = (stand_in, ())
        for name in BUNDLED.get(module, ()):
            if name not in stand_ins:
                known[name] = (stand_in, (name,))
    return known


def _stars(
    tree: ast.Module, known: _Known, typed: frozenset[syntax.Import], context: Context
) -> Mapping[ast.ImportFrom, Sequence[str]]:
    """What the star imports of shimmed modules bring; one that cannot be told stays a star, which `prove` refuses."""

    def is_own(node: ast.ImportFrom) -> bool:
        return not node.level and (node.module or "").partition(".")[0] in known

    def is_vendored(node: ast.ImportFrom) -> bool:
        name = tuple((node.module or "").split("."))
        return bool(node.level) or any(parts[-len(name) :] == name for parts in vendored)

    vendored = {modules.local_parts(path) for both in context.files.items() for path in both}
    every = [node for node in shim_stars.stars(tree) if node not in typed]
    shimmed = {node: node.module or "" for node in every if is_own(node)}
    others = [node for node in every if not is_own(node) and not is_vendored(node)]
    return shim_stars.told(tree, shimmed, others, is_own).names


def _targets(node: syntax.Import, known: _Known, *, guard: bool) -> Iterator[Target | None]:
    for alias in node.names:
        dotted = alias.name if isinstance(node, ast.Import) else node.module or ""
        found = known.get(dotted.partition(".")[0])
        if found is None or (isinstance(node, ast.ImportFrom) and node.level):
            yield None
            continue
        stand_in, stem = found
        base = (*stand_in.parts, GUARD) if guard else stand_in.parts
        below = (*stem, *dotted.split(".")[1:])
        if isinstance(node, ast.Import):
            yield Target((*base, *_module_parts(stand_in.spec, dotted, below, alias)), stand_in.local, object=True)
        elif _extra_name(stand_in.spec, f"{dotted}.{alias.name}", alias):
            yield Target((*base, alias.asname or alias.name), stand_in.local, object=True)
        else:
            yield Target((*base, *below), stand_in.local, object=False)


def _looking(node: syntax.Import, known: _Known, needs: Needs) -> Iterator[Target | None]:
    """Where an import of Python's own finds decorators that must wait for their class."""
    for alias in node.names:
        module = alias.name if isinstance(node, ast.Import) else node.module or ""
        if module not in LOOKS or module not in needs.shadows or getattr(node, "level", None):
            yield None
            continue
        stand_in, _ = known[needs.shadows[module]]
        parts = (*stand_in.parts, SHADOWS, module)
        yield Target(parts, stand_in.local, object=isinstance(node, ast.Import))


def _module_parts(spec: ShimSpec, dotted: str, below: tuple[str, ...], alias: ast.alias) -> tuple[str, ...]:
    """What to import for `import a.b.c`, which binds `a`, or `import a.b.c as x`."""
    top = dotted.partition(".")[0]
    if dotted == top:
        return (top,)
    if alias.asname is None:
        return (*below, top)
    return (alias.asname,) if _extra_name(spec, dotted, alias) else below


def _extra_name(spec: ShimSpec, dotted: str, alias: ast.alias) -> bool:
    """Whether the lock gives the stand-in a name of its own for this object, and the file calls it that."""
    return spec.names.get(alias.asname or alias.name) == dotted


def _statement(
    source: Source,
    node: syntax.Import,
    targets: Sequence[Target | None],
    known: _Known,
    stars: Mapping[ast.ImportFrom, Sequence[str]],
) -> str | None:
    bindings = {
        alias.name: alias.name.partition(".")[0] for alias in node.names if alias.name.partition(".")[0] in known
    }
    text = rewriting.statement(source, node, targets, bindings)
    if text is None or not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
        return text
    return text.rstrip()[:-1] + ", ".join(stars[node]) if stars.get(node) else text


def _with_shadows(
    source: Source,
    edits: Sequence[syntax.Edit],
    first: syntax.Edit,
    known: _Known,
    needs: Needs,
    calls: Mapping[str, str],
) -> list[syntax.Edit]:
    """Imports the built-in functions that take deferred values at import: `_float(T.max_value(...))`."""
    wanted = {f"{name} as {alias}": needs.shadows[name] for name, alias in calls.items()}
    if needs.waiting:
        wanted[LOADED] = next(iter(needs.modules))
    if needs.keyed:
        wanted[KEYED] = next(iter(needs.modules))
    if not wanted:
        return list(edits)
    end = syntax.line_end(source.data).decode()
    lines = ""
    for module in sorted(set(wanted.values())):
        stand_in, _ = known[module]
        parts = (*stand_in.parts, SHADOWS)
        place = modules.relative(source.to, parts) if stand_in.local else ".".join(parts)
        names = ", ".join(sorted(name for name, owner in wanted.items() if owner == module))
        lines += f"from {place} import {names}{end}"
    return [syntax.Edit(edit.node, lines + edit.text if edit is first else edit.text) for edit in edits]
