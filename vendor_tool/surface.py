"""What changed between two versions of an upstream file, seen from those who use it."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Literal

from vendor_tool.patterns import pattern
from vendor_tool.transform.symbols import outline
from vendor_tool.values import dataclass

Where = Literal["module", "guarded", "function"]
# a new import at the top counts as new even if functions had it before, not the other way round
_WIDTH: dict[Where, int] = {"module": 2, "guarded": 1, "function": 0}

_FIX = pattern(
    r"""(?<!\w)(?:
        (?:bug|hot)?fix(?:e[sd]|ing)? | nans? | races? | racy | overflow(?:s|ed|ing)? | revert(?:s|ed)?
        | deadlock(?:s|ed)? | incorrect(?:ly)? | wrong(?:ly)? | hangs? | hanging | leak(?:s|ed|ing|age)?
    )(?!\w|-free)""",
    re.IGNORECASE | re.VERBOSE,
)
_HARMLESS = pattern(
    r"""\bfix(?:e[sd]|ing)?\s+(?:(?:a|an|the|some|minor)\s+)*
    (?:typos?|lint\w*|format\w*|docs?|docstrings?|comments?|spelling)\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Import:
    """An import that the newer version has and the older had not, or not as prominently."""

    name: str  # dotted module; relative ones keep their dots and the imported name, which may be a module
    where: Where  # guarded: at module level, below `try` or `if`
    line: int


@dataclass(frozen=True, slots=True)
class Surface:
    """The difference of two versions of a Python file. Names are qualified (`Class.method`) and sorted."""

    imports: tuple[Import, ...] = ()  # by line
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()  # parameters, result or bases changed
    body: tuple[str, ...] = ()  # the same signature over another body
    formatting_only: bool = False  # layout and comments at most, also where nothing changed at all


def surface(old: bytes, new: bytes) -> Surface | None:
    """What users of the file see change from `old` to `new`; None where one of them is not Python."""
    try:
        trees = _parse(old), _parse(new)
        before, after = outline(old), outline(new)
    except (SyntaxError, ValueError):
        return None
    both = sorted(before.keys() & after.keys())
    signature = [name for name in both if before[name].signature != after[name].signature]
    # a class's digest covers its methods, which are listed themselves
    body = [
        name
        for name in both
        if name not in signature and before[name].kind != "class" and before[name].digest != after[name].digest
    ]
    return Surface(
        imports=_new_imports(*trees),
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        signature=tuple(signature),
        body=tuple(body),
        formatting_only=ast.dump(trees[0]) == ast.dump(trees[1]),
    )


def fixlike(subject: str, body: str = "") -> str | None:
    """The word by which a commit message reads like a fix, or None. Typos and docs being fixed do not count."""
    for text in (subject, body):
        match = _FIX.search(_HARMLESS.sub("", text))
        if match:
            return match[0]
    return None


def _parse(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        # upstream's invalid escapes are upstream's business
        warnings.simplefilter("ignore")
        return ast.parse(data)


def _new_imports(old: ast.Module, new: ast.Module) -> tuple[Import, ...]:
    known: dict[str, int] = {}
    for item in _imports(old.body, "module"):
        known[item.name] = max(known.get(item.name, -1), _WIDTH[item.where])
    found = []
    for item in sorted(_imports(new.body, "module"), key=lambda item: item.line):
        if _WIDTH[item.where] > known.get(item.name, -1):
            known[item.name] = _WIDTH[item.where]
            found.append(item)
    return tuple(found)


def _imports(body: Sequence[ast.AST], where: Where) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, where, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names = [_join(module, alias.name) for alias in node.names] if node.level else [module]
            yield from (Import(name, where, node.lineno) for name in names)
        else:
            inner: Where = where
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                inner = "function"
            elif where == "module" and isinstance(node, ast.If | ast.Try):
                inner = "guarded"
            yield from _imports(list(ast.iter_child_nodes(node)), inner)


def _join(module: str, name: str) -> str:
    return module + name if module.endswith(".") else f"{module}.{name}"
