"""Who saw the kernels compute the right thing, on what, how exactly, and whether it still holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vendor_tool import evidence
from vendor_tool.evidence import Record
from vendor_tool.known_bad import known_bad
from vendor_tool.model import Recorded, Upstream
from vendor_tool.reports.html.dossier import Dossier
from vendor_tool.reports.html.elements import NOTHING, Html, code, element, joined, lines, listed, prose, table, text
from vendor_tool.words import count

_HEADS = (
    "Kernel", "Tests passed", "Worst relative error", "Same bits as upstream", "Same bits twice", "Time ÷ upstream’s",
    "Known limits",
)  # fmt: skip
_MOVES = "what was seen does not speak of what is vendored now:"


def parity(upstream: Upstream, dossier: Dossier) -> Html:
    """What holds in one sentence, then each record with its measurements; nothing for an entry without a record."""
    if upstream.resolved is None:
        return NOTHING
    said = standing(upstream, dossier)
    head = element("p", element("strong", text(f"{said[0].upper()}{said[1:]}.")))
    records = evidence.recorded(upstream.resolved)
    return joined([head, *(_record(one, upstream, dossier) for one in records)], "\n")


def standing(upstream: Upstream, dossier: Dossier) -> str:
    """In few words: on which GPUs evidence holds, on which it is stale."""
    records = evidence.recorded(upstream.resolved)
    held = [one["gpu"] for one in records if not _stale(one, upstream, dossier)]
    old = [one["gpu"] for one in records if one["gpu"] not in held]
    if not records:
        return evidence.NEVER
    names = {name for one in records if one["gpu"] in held for name in one["kernels"]}
    parts = [f"{count(len(names), 'kernel')} verified on {' and '.join(held)}"] if held else [evidence.NEVER]
    return "; ".join(parts + ([f"evidence from {' and '.join(old)} is stale"] if old else []))


def _stale(record: Record, upstream: Upstream, dossier: Dossier) -> tuple[str, ...]:
    return evidence.stale(record, upstream, dossier.hashes.get(upstream.name, {}), known_bad(dossier.lock))


def _record(record: Record, upstream: Upstream, dossier: Dossier) -> Html:
    reasons = _stale(record, upstream, dossier)
    state = "stale" if reasons else "holds"
    rows = [_row(name, found, upstream) for name, found in sorted(record["kernels"].items())]
    sentence = evidence.sentence(record)
    shown = [table(f"{state.capitalize()}: {sentence}", _HEADS, rows)]
    if reasons:
        shown += [element("p", text(f"{record['gpu']}: {_MOVES}")), listed(map(prose, reasons))]
    return joined(shown, "\n")


def _row(name: str, found: object, upstream: Upstream) -> Sequence[Html]:
    told = found if isinstance(found, Mapping) else {}
    item = evidence.find(upstream, name)
    return (
        code(item.to if isinstance(item, Recorded) else name),
        text(str(told.get("passed", "–"))),
        lines(_numbers(told, "errors")),
        text(_names(told, "identical")),
        text(_names(told, "repeats")),
        lines(_numbers(told, "ratios")),
        lines(map(text, _items(told, "limits"))),
    )


def _numbers(told: Mapping[str, Any], key: str) -> Iterator[Html]:
    values = told.get(key)
    for name, value in values.items() if isinstance(values, Mapping) else ():
        yield text(f"{name} {value}")


def _names(told: Mapping[str, Any], key: str) -> str:
    return ", ".join(_items(told, key))


def _items(told: Mapping[str, Any], key: str) -> list[str]:
    values = told.get(key)
    return [str(one) for one in values] if isinstance(values, list | tuple) else []
