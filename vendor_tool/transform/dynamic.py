"""Imports by a name in a string: no rule rewrites them, so that each is reported."""

import ast
from collections.abc import Mapping

from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import Context, Source
from vendor_tool.patterns import pattern
from vendor_tool.transform import modules, syntax

RULES: Mapping[str, RuleInfo] = {
    "imports-dynamic": RuleInfo(
        "imports-dynamic",
        "warning",
        "A module is imported by a string",
        "The file imports a module of the upstream, or one that a shim stands in for, by its name in a string "
        "(`importlib.import_module`, `__import__`, `pytest.importorskip`, `importlib.util.find_spec`). Strings are "
        "never rewritten: look at the line, and change it with a patch where it must not reach for the upstream.",
    )
}

_CALLS = ("import_module", "__import__", "importorskip", "find_spec")
_CALLED = tuple(call.encode() for call in _CALLS)
_QUOTED = pattern(rb"[\"'](\.(?=\w)|\w+)")


def find(source: Source, context: Context) -> tuple[Finding, ...]:
    """A finding for each dynamic import of an upstream or shimmed module; lines are those of `source.data`."""
    if not syntax.is_python(source.path) or not any(map(source.data.__contains__, _CALLED)):
        return ()
    words = {word.encode() for word in (*modules.tops(source.path, context.listing), *context.shims, ".")}
    if words.isdisjoint(_QUOTED.findall(source.data)):
        return ()
    starts = modules.roots(source.path, context.listing, script=True)
    found = []
    for node in ast.walk(syntax.tree(source)):
        name = _imported(node)
        if name is None or not _concerns(name, starts, context):
            continue
        assert isinstance(node, ast.Call)
        found.append(
            Finding(
                "imports-dynamic",
                "warning",
                f"`{ast.unparse(node)}` imports `{name}` by its name: strings are not rewritten",
                path=source.to,
                line=node.lineno,
                upstream=context.upstream,
                side="upstream",
                fix=f"vendor-tool patch new {context.upstream}",
            )
        )
    return tuple(sorted(found, key=lambda finding: finding.line or 0))


def _imported(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call):
        return None
    asked = next(iter((*node.args, *(k.value for k in node.keywords if k.arg in ("name", "modname")))), None)
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    if called not in _CALLS:
        return None
    match asked:
        case ast.Constant(value=str(name)):
            return name
        case ast.JoinedStr(values=[ast.Constant(value=str(name)), *_]):  # f"pkg.{x}": its fixed beginning
            return name.rpartition(".")[0] or None
        case _:
            return None


def _concerns(name: str, starts: tuple[str, ...], context: Context) -> bool:
    if name.startswith(".") or name.partition(".")[0] in context.shims:
        return True
    found = modules.resolve(name, starts, context.listing)
    return found.path is not None or found.owned
