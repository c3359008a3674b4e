"""Uses of `import a.b.c` in the body: the name `a` goes, so that every `a.b.c` there must follow.

Positions inside f-strings are wrong before Python 3.12, so libcst rewrites each f-string as a whole.
"""

import ast
from collections.abc import Mapping, Sequence

from vendor_tool.errors import UsageError
from vendor_tool.model import Source
from vendor_tool.transform import scopes, syntax
from vendor_tool.transform.rewriting import Target


def bindings(source: Source, own: Sequence[tuple[syntax.Import, Sequence[Target | None]]]) -> Mapping[str, str]:
    """A free name for each module that is imported by its full dotted name: `a.b.c` becomes `c` where nothing else
    in the file is called that, otherwise `a_b_c`.
    """
    wanted = [
        alias.name
        for node, targets in own
        if isinstance(node, ast.Import)
        for alias, target in zip(node.names, targets, strict=True)
        if target and not target.keep and not alias.asname and "." in alias.name
    ]
    if not wanted:
        return {}
    taken = set(scopes.identifiers(syntax.tree(source)))
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(wanted):
        new = name.rpartition(".")[2]
        if new in taken:
            new = name.replace(".", "_")
        while new in taken:
            new += "_"
        taken.add(new)
        chosen[name] = new
    return chosen


def uses(source: Source, chosen: Mapping[str, str]) -> list[syntax.Edit]:
    """The edits that put the new name for each use of a dotted import.

    Raises UsageError with `path:line` where a use cannot be told from another meaning of the name.
    """
    if not chosen:
        return []
    finder = _Uses(source, chosen)
    finder.enter(syntax.tree(source), {})
    return finder.edits


class _Uses(ast.NodeVisitor):
    """Walks the file with what each tracked first word means in the scope at hand: the dotted imports that are seen
    there, or None where the word means something else.
    """

    def __init__(self, source: Source, chosen: Mapping[str, str]) -> None:
        self.source = source
        self.chosen = chosen
        self.tops = {name.partition(".")[0] for name in chosen}
        self.seen: Mapping[str, frozenset[str] | None] = {}
        self.edits: list[syntax.Edit] = []
        self.in_string: dict[str, str] | None = None

    def enter(self, scope: ast.Module | scopes.Function, outer: Mapping[str, frozenset[str] | None]) -> None:
        """Visits the inside of a scope with the imports that it adds to those of `outer`."""
        before, self.seen = self.seen, self.scope(scope, outer)
        body = scope.body if isinstance(scope.body, list) else [scope.body]
        for node in body:
            self.visit(node)
        self.seen = before

    def scope(
        self, scope: ast.Module | scopes.Function, outer: Mapping[str, frozenset[str] | None]
    ) -> Mapping[str, frozenset[str] | None]:
        seen = dict(outer)
        imported, others = scopes.bound(scope)
        for top in self.tops:
            mine = frozenset(name for name in imported if name.partition(".")[0] == top and name in self.chosen)
            whole = top in imported
            if top in others and (mine or isinstance(scope, ast.Module)) and (mine or outer.get(top)):
                raise self.refusal(others[top], f"`{top}` gets another meaning beside `import {min(mine)}`")
            if top in others:
                seen[top] = None
            elif mine or whole:
                seen[top] = (seen.get(top) or frozenset()) | mine | (frozenset({top}) if whole else frozenset())
        return seen

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args, *([node.returns] if node.returns else ())):
            self.visit(part)
        self.enter(node, self.seen)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self.enter(node, self.seen)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        imported, others = scopes.bound(node)
        for top in self.tops:
            if top in others or any(name.partition(".")[0] == top for name in imported):
                raise self.refusal(node, f"`{top}` gets a meaning of its own in this class")
        self.generic_visit(node)

    def visit_comprehension_scope(self, node: ast.AST) -> None:
        before = self.seen
        targets = {
            name.id
            for part in ast.walk(node)
            if isinstance(part, ast.comprehension)
            for name in scopes.stored(part.target)
        }
        self.seen = {**before, **dict.fromkeys(targets & self.tops)}
        self.generic_visit(node)
        self.seen = before

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_scope

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if self.in_string is not None:  # one f-string inside another
            self.generic_visit(node)
            return
        found: dict[str, str] = {}
        self.in_string = found
        self.generic_visit(node)
        self.in_string = None
        if found:
            whole = syntax.text(self.source)
            self.edits.append(syntax.Edit(node, _in_string(whole.text[whole.span(node)], found)))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain: list[ast.expr] = [node]
        while isinstance(inner := chain[-1], ast.Attribute):
            chain.append(inner.value)
        base = chain[-1]
        if not isinstance(base, ast.Name):
            self.generic_visit(node)
            return
        seen = self.seen.get(base.id)
        if not seen:
            return
        text = base.id
        longest: tuple[str, ast.expr] | None = (text, base) if text in seen else None
        for part in reversed(chain[:-1]):
            assert isinstance(part, ast.Attribute)
            text += f".{part.attr}"
            if text in seen:
                longest = text, part
        if longest is None:
            raise self.refusal(node, f"`{text}` is reached through an import of another module")
        self.replace(*longest)

    def replace(self, name: str, node: ast.expr) -> None:
        if name not in self.chosen:
            return
        if self.in_string is not None:
            self.in_string[name] = self.chosen[name]
        else:
            self.edits.append(syntax.Edit(node, self.chosen[name]))

    def visit_Name(self, node: ast.Name) -> None:
        seen = self.seen.get(node.id)
        if seen and node.id not in seen:
            raise self.refusal(node, f"`{node.id}` is used on its own")

    def refusal(self, node: ast.AST, why: str) -> UsageError:
        line = getattr(node, "lineno", 1)
        names = ", ".join(f"`import {name}`" for name in self.chosen)
        return UsageError(
            f"`{self.source.path}:{line}`: {why}, so that {names} cannot be rewritten",
            hint="keep the import as it stands with `rename: {NAME: NAME}` in the entry's `imports:` rule, and change "
            "the file with a patch",
        )


def _in_string(text: str, chosen: Mapping[str, str]) -> str:
    import libcst as cst

    def spelled(node: cst.BaseExpression) -> str | None:
        match node:
            case cst.Name(value=name):
                return name
            case cst.Attribute(value=inner, attr=cst.Name(value=name)):
                return f"{before}.{name}" if (before := spelled(inner)) else None
            case _:
                return None

    class Replace(cst.CSTTransformer):
        def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
            new = chosen.get(spelled(original_node) or "")
            return cst.Name(new) if new else updated_node

    module = cst.parse_module(f"({text})")
    return module.visit(Replace()).code[1:-1]
