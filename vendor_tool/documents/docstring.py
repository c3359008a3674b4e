"""The package docstring of entries that ask for one: provenance where a reader of the package looks first."""

import ast
from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.documents import block, entry
from vendor_tool.errors import UsageError
from vendor_tool.links import permalink
from vendor_tool.model import Lock, Upstream

BEGIN = ".. begin: written by vendor-tool from vendor.lock.yaml, edits are lost"
END = ".. end: written by vendor-tool"


def inputs(lock: Lock) -> list[str]:
    """The packages' `__init__.py`, of which the tool owns a part of the docstring, and the patches."""
    return [path for path, _group in _packages(lock)] + [
        patch.path for _path, group in _packages(lock) for one in group for patch in one.patches
    ]


def render(lock: Lock, texts: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The `__init__.py` of each folder whose entries have `docstring: true`."""
    return {path: _file(path, texts.get(path), group, lock, texts) for path, group in _packages(lock)}


def _packages(lock: Lock) -> list[tuple[str, list[Upstream]]]:
    groups: dict[str, list[Upstream]] = {}
    for _name, upstream in sorted(lock.upstreams.items()):
        if upstream.docstring and upstream.resolved:
            folder = upstream.to.strip("/")
            groups.setdefault(f"{folder}/__init__.py" if folder else "__init__.py", []).append(upstream)
    return sorted(groups.items())


def _file(path: str, current: bytes | None, group: list[Upstream], lock: Lock, texts: Mapping[str, bytes]) -> bytes:
    content = "\n".join(line for upstream in group for line in _entry(upstream, lock, texts)).replace('"""', "'''")
    content = content.replace("\\", "\\\\")
    if current is None:
        names = ", ".join(one.name for one in group)
        frame = f'"""Files vendored from {names}."""\n'.encode()
    else:
        frame = current
    if BEGIN.encode() not in frame:
        frame = _open(path, frame)
    return block.replace(path, frame, content, begin=BEGIN, end=END)


def _open(path: str, source: bytes) -> bytes:
    """The source with an empty pair of markers at the end of its module docstring."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f"{path}: not Python, so it has no docstring to write to: {error}", hint="mend the file"
        ) from error
    markers = f"\n\n{BEGIN}\n{END}\n".encode()
    lines = source.splitlines(keepends=True)
    first = module.body[0] if module.body else None
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        at = next(
            (number for number, line in enumerate(lines) if not line.startswith((b"#", b"\n", b"\r"))), len(lines)
        )
        return b"".join(lines[:at]) + b'"""Vendored files.' + markers + b'"""\n' + b"".join(lines[at:])
    last = (first.value.end_lineno or 1) - 1
    end = first.value.end_col_offset or 0
    if lines[last][end - 3 : end] not in (b'"""', b"'''"):
        raise UsageError(f"{path}:{last + 1}: the docstring is not in triple quotes", hint='write it as """..."""')
    before = b"".join(lines[:last]) + lines[last][: end - 3]
    return before.rstrip() + markers + lines[last][end - 3 :] + b"".join(lines[last + 1 :])


def _entry(upstream: Upstream, lock: Lock, texts: Mapping[str, bytes]) -> Iterator[str]:
    yield upstream.name
    yield "-" * len(upstream.name)
    for fact in entry.facts(upstream):
        yield f"* {fact.label}: ``{fact.value}``" if fact.code else f"* {fact.label}: {fact.value}"
    if seen := entry.evidence(upstream, lock, texts):
        yield f"* Parity: {seen}"
    yield from _section("Files:", _files(upstream))
    yield from _section("Origins:", _origins(upstream))
    yield from _section("Local modifications:", [f"* {one}" for one in entry.modifications(upstream, lock, texts)])
    yield from _section("Imported at run time, not copied:", _imports(upstream))
    yield from _section("Tool versions:", [f"* {one}" for one in entry.requirements(upstream, lock)])
    yield ""


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, "", *lines] if lines else []


def _files(upstream: Upstream) -> list[str]:
    prefix = upstream.to.strip("/") + "/" if upstream.to.strip("/") else ""
    found = [
        (f"``{row.local.removeprefix(prefix)}``", f"``{row.upstream}``" if row.upstream else "brought by a patch")
        for row in entry.rows(upstream)
    ]
    if not found:
        return []
    heads = ("Local file", "Upstream file")
    widths = [max(len(row[column]) for row in [heads, *found]) for column in (0, 1)]
    rule = "  ".join("=" * width for width in widths)
    body = [f"{left:<{widths[0]}}  {right}" for left, right in [heads, *found]]
    return [rule, body[0], rule, *body[1:], rule]


def _origins(upstream: Upstream) -> list[str]:
    lines = [
        f"* {row.local}: {permalink(one.url, one.revision, one.path)}"
        for row in entry.rows(upstream)
        for one in row.origins
    ]
    known = legal.read(upstream.resolved).ancestors
    return lines + [f"* {one.url} at ``{one.revision}``: {entry.license_line(one)}" for one in known]


def _imports(upstream: Upstream) -> list[str]:
    record = upstream.resolved
    if record is None:
        return []
    return [
        f"* ``{one.name}``: {permalink(upstream.url, record.revision, one.path, one.line)}" for one in record.imports
    ]
