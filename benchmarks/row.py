"""What one goal came to: both sides, their ratio, and whether it is within the goal."""

from __future__ import annotations

from dataclasses import dataclass

from clock import Pair


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. `limit` is the largest `ratio` that meets the goal; None for a line that only informs."""

    goal: str
    job: str
    ours: str
    theirs: str
    yardstick: str
    ratio: float | None
    limit: float | None
    stretch: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """`met`, `met, stretch too` or `MISSED`; a dash where there is nothing to hold to."""
        if self.ratio is None or self.limit is None:
            return "-"
        if self.ratio > self.limit:
            return "MISSED"
        return "met, stretch too" if self.stretch is not None and self.ratio <= self.stretch else "met"


def timed(
    goal: str, job: str, pair: Pair, yardstick: str, limit: float | None, stretch: float | None = None, note: str = ""
) -> Row:
    """The row of two timed commands."""
    ours, theirs = (f"{seconds * 1000:.0f} ms" for seconds in (pair.ours, pair.theirs))
    work = f"work {pair.work:.2f}"
    return Row(goal, job, ours, theirs, yardstick, pair.ratio, limit, stretch, f"{work}, {note}" if note else work)


def counted(
    goal: str, job: str, ours: float, theirs: float, yardstick: str, limit: float, unit: str = "", note: str = ""
) -> Row:
    """The row of two counts, or of a count and the most that it may be (`limit` 1)."""
    shown = (f"{value:,.0f}{unit}" for value in (ours, theirs))
    return Row(goal, job, *shown, yardstick, ours / theirs, limit, None, note)


def absent(goal: str, job: str, what: str) -> Row:
    """The row of a yardstick or a command that is not there."""
    return Row(goal, job, "-", "-", what, None, None)


def table(rows: list[Row]) -> str:
    """Rows as columns of text."""
    head = ("goal", "job", "ours", "yardstick", "of", "ratio", "goal", "")
    lines = [head]
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        limit = "-" if row.limit is None else f"{row.limit:g}"
        verdict = f"{row.verdict}{'; ' if row.note else ''}{row.note}"
        lines.append((row.goal, row.job, row.ours, row.theirs, row.yardstick, ratio, limit, verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
