"""`imports:` an upstream's imports of its own modules become relative imports of the local copies.

A name belongs to the upstream where its dotted path has a file in the listing, from a root that Python could have
started at (`modules.roots`). What is already right keeps its bytes.
"""

import ast
from collections.abc import Iterator, Sequence

from vendor_tool.errors import UsageError
from vendor_tool.model import Change, Context, Imports, Source
from vendor_tool.patterns import pattern
from vendor_tool.transform import modules, rewriting, syntax
from vendor_tool.transform.modules import Found
from vendor_tool.transform.rewriting import Target
from vendor_tool.values import dataclass, replace
from vendor_tool.words import command

_IMPORT = pattern(rb"import(?![\w\x80-\xff])")
_RELATIVE = pattern(rb"from[ \t\f]*\.")
_WORD = pattern(rb"[\w\x80-\xff]+")


@dataclass(frozen=True, slots=True)
class Need:
    """An import inside the upstream: the file that it needs, and where it stands."""

    path: str  # upstream path
    line: int
    text: str  # the import statement, on one line
    vendored: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """An import of the upstream's own that has no local file. `path` is None where the upstream has none either."""

    place: str  # upstream path and line
    text: str  # the import statement, on one line
    name: str  # the dotted module
    path: str | None


class NotVendored(UsageError):
    """Imports of the upstream's own modules have no local file to go to."""

    def __init__(self, missing: Sequence[Missing], upstream: str) -> None:
        self.missing = tuple(missing)
        super().__init__(_refusal(self.missing), hint=_remedy(self.missing, upstream))


@dataclass(frozen=True, slots=True)
class _Site:
    """One file, and what is known for all of its imports."""

    source: Source
    rule: Imports
    context: Context
    starts: tuple[str, ...]


_Outcome = Target | Missing | None
"""What becomes of one imported name; None: it is not the upstream's, and stays."""


def apply(source: Source, rule: Imports, context: Context) -> Change:
    """Rewrites every import of an upstream module in the file.

    Raises NotVendored, with all places, where a module has no local file, and UsageError where a use of a
    dotted import cannot be told from other uses of its name.
    """
    plan = _plan(source, rule, context)
    missing = [outcome for _, outcomes in plan for outcome in outcomes if isinstance(outcome, Missing)]
    if missing:
        raise NotVendored(missing, context.upstream)
    own = [(node, _targets(outcomes)) for node, outcomes in plan if any(outcomes)]
    if not own:
        return Change(source.data)
    from vendor_tool.transform import dotted  # only files with imports of their own pay for it

    edits, names = [], []
    bindings = dotted.bindings(source, own)
    for node, targets in own:
        new = rewriting.statement(source, node, targets, bindings)
        if new is not None:
            edits.append(syntax.Edit(node, new))
            names += rewriting.names(node, targets)
    edits += dotted.uses(source, bindings)
    if not edits:
        return Change(source.data, matched=True)
    return Change(syntax.splice(source, edits), tuple(dict.fromkeys(names)), matched=True)


def needs(source: Source, context: Context, rule: Imports | None = None) -> tuple[Need, ...]:
    """The upstream files that the file's imports need, vendored or not, in the order of the imports.

    Imports that `rule` renames need nothing.
    """
    found = []
    for node, outcomes in _plan(source, rule or Imports(), context):
        text = ast.unparse(node)
        for outcome in outcomes:
            if isinstance(outcome, Missing) and outcome.path is not None:
                found.append(Need(outcome.path, node.lineno, text, vendored=False))
            elif isinstance(outcome, Target) and outcome.path is not None:
                found.append(Need(outcome.path, node.lineno, text, vendored=True))
    return tuple(dict.fromkeys(found))


def renamed(source: Source, rule: Imports, context: Context) -> frozenset[str]:
    """The names of the rule's `rename` that imports of the file go by."""
    if not rule.rename or not syntax.is_python(source.path) or not may_import(source, rule, context):
        return frozenset()
    site, statements = _site(source, rule, context)
    met = set[str | None]()
    for node in statements:
        if isinstance(node, ast.Import):
            met.update(_covering(rule, alias.name) for alias in node.names)
            continue
        module = _base(site, node)[1]
        for alias in node.names:
            full = f"{module}.{alias.name}" if module else alias.name
            met.add(full if full in rule.rename else _covering(rule, module))
    return frozenset(name for name in met if name is not None)


def _plan(source: Source, rule: Imports, context: Context) -> list[tuple[syntax.Import, tuple[_Outcome, ...]]]:
    if not syntax.is_python(source.path) or not may_import(source, rule, context):
        return []
    site, statements = _site(source, rule, context)
    return [(node, tuple(_outcomes(site, node))) for node in statements]


def _site(source: Source, rule: Imports, context: Context) -> tuple[_Site, list[syntax.Import]]:
    statements = list(syntax.imports(source))
    script = not any(isinstance(node, ast.ImportFrom) and node.level for node in statements)
    return _Site(source, rule, context, modules.roots(source.path, context.listing, script=script)), statements


def may_import(source: Source, rule: Imports, context: Context) -> bool:
    """A test on bytes that spares files without such an import every parser."""
    words = {word.encode() for word in modules.tops(source.path, context.listing)}
    words |= {name.partition(".")[0].encode() for name in rule.rename}
    data = source.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for found in _IMPORT.finditer(data):  # the word stands in every statement of either kind
        start = data.rfind(b"\n", 0, found.start()) + 1
        line = data[start : end if (end := data.find(b"\n", start)) >= 0 else len(data)]
        continued = b"\\" in line or data[max(0, start - 2) : start] == b"\\\n"
        if continued or _RELATIVE.search(line) or not words.isdisjoint(_WORD.findall(line)):
            return True
    return False


def _outcomes(site: _Site, node: syntax.Import) -> Iterator[_Outcome]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield _module(site, node, alias.name)
        return
    base, name = _base(site, node)
    for alias in node.names:
        yield _member(site, node, base, name, alias.name)


def _module(site: _Site, node: syntax.Import, name: str) -> _Outcome:
    """What `import name` becomes."""
    if (renamed := _renamed(site.rule, name)) is not None:
        return _elsewhere(renamed, name, object_=True)
    if name.partition(".")[0] in site.context.shims:
        return None
    found = modules.resolve(name, site.starts, site.context.listing)
    if found.path == site.source.path:  # a script that is called like the package it uses
        return None
    if found.path is None:
        return _missing(site, node, name, None) if found.owned else None
    return _object(site, node, found.path, name)


def _object(site: _Site, node: syntax.Import, path: str, name: str) -> Target | Missing:
    local = site.context.files.get(path)
    if local is None:
        return _missing(site, node, name, path)
    return Target(modules.local_parts(local), local=True, object=True, path=path)


def _base(site: _Site, node: ast.ImportFrom) -> tuple[Found, str]:
    """What stands between `from` and `import`, and its absolute name; '' where that is a root."""
    listing, module = site.context.listing, node.module or ""
    if not node.level:
        if module.partition(".")[0] in site.context.shims and not _renamed(site.rule, module):
            return Found(None, None, owned=False), module
        return modules.resolve(module, site.starts, listing), module
    folder = modules.parent(site.source.path)
    for _ in range(node.level - 1):
        if not folder:
            return Found(None, None, owned=True), module
        folder = modules.parent(folder)
    found = modules.locate(module, folder, listing)
    place = modules.join(folder, module.replace(".", "/"))
    name = next(iter(sorted(modules.dotted_names(place, site.starts), key=len, reverse=True)), module)
    return replace(found, owned=True), name


def _member(site: _Site, node: ast.ImportFrom, base: Found, module: str, name: str) -> _Outcome:
    """What becomes of one name of `from module import name`: a module of its own, or something inside `module`."""
    full = f"{module}.{name}" if module else name
    if (renamed := site.rule.rename.get(full)) is not None:
        return _elsewhere(renamed, full, object_=True)
    if (renamed := _renamed(site.rule, module)) is not None:
        return _elsewhere(renamed, module, object_=False)
    if base.path == site.source.path and not node.level:
        return None
    package = site.context.files.get(base.path) if base.path is not None else None
    inner = Found(None, None, owned=False)
    if base.folder is not None and name != "*":
        inner = modules.locate(name, base.folder, site.context.listing)
    if inner.path is not None:
        target = _object(site, node, inner.path, full)
        if package is not None and isinstance(target, Target):
            parts = modules.local_parts(package)
            if target.parts == (*parts, name):  # either meaning of the name works: leave it to the package
                return Target(parts, local=True, object=False, path=base.path)
        return target
    if package is not None:
        return Target(modules.local_parts(package), local=True, object=False, path=base.path)
    if base.path is not None or base.owned:
        inside = base.path is None and base.folder is not None
        return _missing(site, node, full if inside else module, base.path)
    return None


def _renamed(rule: Imports, name: str) -> str | None:
    """The new name of a module that `rename` covers, itself or by a module above it."""
    covering = _covering(rule, name)
    return None if covering is None else rule.rename[covering] + name[len(covering) :]


def _covering(rule: Imports, name: str) -> str | None:
    """The longest name of `rename` that is the module or one above it."""
    parts = name.split(".")
    above = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((one for one in above if one in rule.rename), None)


def _elsewhere(renamed: str, name: str, *, object_: bool) -> Target:
    local = renamed.startswith(".")
    return Target(tuple(renamed.lstrip(".").split(".")), local=local, object=object_, keep=renamed == name)


def _targets(outcomes: Sequence[_Outcome]) -> tuple[Target | None, ...]:
    return tuple(outcome for outcome in outcomes if not isinstance(outcome, Missing))


def _missing(site: _Site, node: syntax.Import, name: str, path: str | None) -> Missing:
    return Missing(f"{site.source.path}:{node.lineno}", ast.unparse(node), name, path)


def _refusal(missing: Sequence[Missing]) -> str:
    lines = []
    for item in missing:
        needed = (
            f"`{item.path}`, which is not vendored"
            if item.path
            else f"`{item.name}`, which the upstream does not hold at this revision"
        )
        lines.append(f"`{item.place}`: `{item.text}` needs {needed}")
    return "\n".join(dict.fromkeys(lines))


def _remedy(missing: Sequence[Missing], upstream: str) -> str:
    paths = dict.fromkeys(item.path for item in missing if item.path is not None)
    hints = []
    if paths:
        add = command("vendor-tool", "add", upstream, *(word for path in paths for word in ("--file", path)))
        hints.append(f"run `{add}`, or add to its `files:` in the lockfile")
    name = missing[0].name
    hints.append(
        "to leave an import as it stands (for a patch to change, or because the module is installed) write "
        f"`imports: {{rename: {{{name}: {name}}}}}`"
    )
    return "; ".join(hints)
