"""What changed in one file, in a few words: what its users would notice first."""

from collections.abc import Iterator, Sequence

from vendor_tool import lines
from vendor_tool.outdated.formatting import difference
from vendor_tool.surface import Surface, surface

MANY = 6
"""Names that are listed before the rest is counted."""

WHERE = {"module": "", "guarded": " (guarded)", "function": " (inside a function)"}


def detail(old: bytes, new: bytes) -> str:
    """Imports that are new, definitions added, removed or changed, and lines; or that layout alone changed."""
    match difference(old, new):
        case "none":
            return "no change"
        case "format":
            return "formatting only"
        case "imports":
            return "formatting and order of imports only"
        case "comments":
            return "comments only"
        case "code":
            pass
    found = surface(old, new)
    parts = list(_parts(found)) if found is not None else []
    return "; ".join([*parts, _lines(old, new)])


def _parts(found: Surface) -> Iterator[str]:
    if found.imports:
        yield "new import of " + _listed([f"`{item.name}`{WHERE[item.where]}" for item in found.imports])
    for names, said in (
        (found.added, "added"),
        (found.removed, "removed"),
        (found.signature, "with another signature"),
        (found.body, "with another body"),
    ):
        if names:
            yield f"{_listed([f'`{name}`' for name in names])} {said}"


def _listed(items: Sequence[str]) -> str:
    rest = len(items) - MANY
    return ", ".join(items[:MANY]) + (f" and {rest} more" if rest > 0 else "")


def _lines(old: bytes, new: bytes) -> str:
    spans = lines.changes(lines.split(old), lines.split(new))
    removed = sum(span.old_end - span.old_start for span in spans)
    added = sum(span.new_end - span.new_start for span in spans)
    return f"{added} {'line' if added == 1 else 'lines'} added, {removed} removed"
