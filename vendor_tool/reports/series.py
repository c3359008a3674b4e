"""How the patches of each upstream fare, as text, JSON and Markdown: what `patch list` prints."""

from collections.abc import Iterator, Sequence
from typing import Final

from vendor_tool import __version__
from vendor_tool.preview import Listing, Row
from vendor_tool.reports.markdown import code, prose
from vendor_tool.reports.plan import table
from vendor_tool.reports.wording import count, dumped, visible

VERSION: Final = 1


def text(listings: Sequence[Listing]) -> str:
    """Series for a terminal or a log."""
    return "".join(f"{visible(line)}\n" for one in listings for line in _lines(one)) or "no patches\n"


def _lines(listing: Listing) -> Iterator[str]:
    against = f", against {listing.against[:12]}" if listing.against else ""
    yield f"{listing.name}: {count(len(listing.rows), 'patch')} on {listing.revision[:12]}{against}"
    if listing.problem:
        first, *more = listing.problem.split("\n")
        yield f"  how they fare there cannot be told: {first}"
        yield from (f"  {line}" for line in more)
    width = max((len(row.path) for row in listing.rows), default=0)
    for row in listing.rows:
        yield f"  {row.number}  {row.path:{width}}  {_status(row)}" + (f"  {row.title}" if row.title else "")
        yield from (f"     {note}" for note in row.notes)


def _status(row: Row) -> str:
    return row.pin if row.against is None else f"{row.pin}, then {row.against}"


def markdown(listings: Sequence[Listing]) -> str:
    """Series for a job summary or a pull request; nothing that a patch says can link, notify or break out."""
    return "\n\n".join(block for one in listings for block in _blocks(one)) + "\n" if listings else "No patches.\n"


def _blocks(listing: Listing) -> Iterator[str]:
    against = f", against {code(listing.against[:12])}" if listing.against else ""
    yield f"### {prose(listing.name)}: {count(len(listing.rows), 'patch')} on {code(listing.revision[:12])}{against}"
    if listing.problem:
        yield f"How they fare there cannot be told: {prose(listing.problem)}"
    rows = [
        (str(row.number), code(row.path), _status(row), "<br>".join(map(prose, filter(None, (row.title, *row.notes)))))
        for row in listing.rows
    ]
    if rows:
        yield table(("", "patch", "", "what"), rows)


def as_json(listings: Sequence[Listing]) -> str:
    """One JSON object; within one `version` keys are only ever added. `series.schema.json` describes it."""
    document = {
        "schema": "vendor-tool/series",
        "version": VERSION,
        "tool": {"name": "vendor-tool", "version": __version__},
        "series": [_series(one) for one in listings],
    }
    return dumped(document)


def _series(listing: Listing) -> dict[str, object]:
    return {
        "upstream": listing.name,
        "revision": listing.revision,
        "against": listing.against,
        "problem": listing.problem,
        "patches": [
            {
                "number": row.number,
                "path": row.path,
                "title": row.title,
                "status": row.pin,
                "against": row.against,
                "notes": list(row.notes),
            }
            for row in listing.rows
        ],
    }


FORMS: Final = {"text": text, "json": as_json, "markdown": markdown}
