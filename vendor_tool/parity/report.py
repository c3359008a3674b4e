"""What a parity run measured, as a JSON file: written by the plugin, read by `parity`, joined from several machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vendor_tool.errors import UsageError
from vendor_tool.parity import form

if TYPE_CHECKING:
    import pytest

_T = TypeVar("_T")
_FORMAT = 1
NOTE, MACHINE, KERNEL = "parity", "parity-machine", "parity-kernel"
"""Names of the user properties that carry a test's facts from a worker to the controller, as JSON."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test's outcome. `kernel`, `machine` and `notes` are empty for tests that never began."""

    __test__ = False  # not one for pytest to collect

    id: str
    outcome: form.Outcome
    reason: str
    seconds: float
    kernel: dict[str, str] | None = None  # upstream, name
    machine: dict[str, Any] | None = None  # gpu, driver, versions
    notes: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """One run, with what it was about by upstream.

    `files` holds sha256 of the files that were tested, by local path, `entries` the rest that evidence rests on.
    `marked` names the upstream of every test with a `kernel` marker, whether it ran or not; reports of older versions
    have none.
    """

    seed: int
    date: str  # of the run, in UTC
    tests: list[Test] = field(default_factory=list)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    marked: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)  # files that pytest could not collect

    def write(self, path: Path) -> None:
        """Put the report into a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"format": _FORMAT} | asdict(self)
        for test in content["tests"]:
            for note in test["notes"]:
                note["value"] = form.written(note["value"])
                note["limit"] = None if note.get("limit") is None else form.written(note["limit"])
        path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    def count(self, outcome: str) -> int:
        """How many tests ended that way."""
        return sum(test.outcome == outcome for test in self.tests)

    def left_out(self) -> list[str]:
        """The tests that were collected and have no outcome: deselected, or not reached."""
        return sorted(self.marked.keys() - {test.id for test in self.tests})

    def upstream(self, test: Test) -> str | None:
        """The upstream that a test is about, also of one that crashed before it could say so."""
        return test.kernel["upstream"] if test.kernel else self.marked.get(test.id)


def outcome(report: pytest.TestReport) -> Test:
    """A test's outcome from pytest's own report of it."""
    facts = [(name, json.loads(str(value))) for name, value in report.user_properties if name.startswith(NOTE)]
    kind: form.Outcome = report.outcome
    reason = ""
    if hasattr(report, "wasxfail"):
        kind, reason = ("xfailed" if report.skipped else "xpassed"), report.wasxfail
    elif report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
    elif report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else report.longreprtext
        reason = (text.strip().splitlines() or [""])[0].removeprefix("AssertionError: ")
    return Test(
        id=report.nodeid,
        outcome=kind,
        reason=reason,
        seconds=round(report.duration, 3),
        kernel=next((value for name, value in facts if name == KERNEL), None),
        machine=next((value for name, value in facts if name == MACHINE), None),
        notes=[value for name, value in facts if name == NOTE],
    )


def read(path: Path) -> Report:
    """A report from its file. UsageError when it is none of ours."""
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}", hint="name a file that parity wrote") from error


def parse(text: str, name: str) -> Report:
    """A report from its text; `name` stands for it in errors. UsageError when it is none of ours."""
    try:
        content = json.loads(text)
        form.check(content)
        del content["format"]
        for test in content["tests"]:
            for note in test["notes"]:
                note["value"] = form.number(note["value"])
                note["limit"] = None if note.get("limit") is None else form.number(note["limit"])
        return Report(**content | {"tests": [Test(**test) for test in content["tests"]]})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"`{name}` is no parity report: {error}", hint="write one with `--parity-report`") from error


def join(reports: Sequence[Report]) -> Report:
    """One report of several, at least one. UsageError when they tested different bytes or entries."""
    files: dict[str, dict[str, str]] = {}
    entries: dict[str, dict[str, Any]] = {}
    for report in reports:
        for name, hashes in report.files.items():
            _merge(files.setdefault(name, {}), hashes)
        _merge(entries, report.entries)
    return Report(
        reports[0].seed,
        max(report.date for report in reports),
        [test for report in reports for test in report.tests],
        files,
        entries,
        {test: name for report in reports for test, name in report.marked.items()},
        list(dict.fromkeys(name for report in reports for name in report.broken)),
    )


def _merge(into: dict[str, _T], further: Mapping[str, _T]) -> None:
    for name, value in further.items():
        if into.setdefault(name, value) != value:
            raise UsageError(
                f"two machines tested different states of `{name}`", hint="give them one checkout and run parity again"
            )
