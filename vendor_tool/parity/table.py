"""A parity report for people: Markdown, one row a kernel and GPU, and what failed below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vendor_tool.parity.evidence import summary
from vendor_tool.parity.report import Report, Test

_HEAD = (
    "| kernel | on | tests | worst relative error to float32 | same bits as upstream | spread of the others "
    "| time ÷ upstream's | ms vendored, upstream, torch |"
)


def markdown(report: Report) -> str:
    """The table, then settings, then failed and expected failures with their reasons. Ends with a newline."""
    groups: dict[tuple[str, str, str], list[Test]] = {}
    for test in report.tests:
        if test.kernel and test.machine:
            key = (test.kernel["upstream"], test.kernel["name"], test.machine["gpu"])
            groups.setdefault(key, []).append(test)
    lines = [_HEAD, "|" + "---|" * 8]
    lines += [_row(upstream, name, gpu, tests) for (upstream, name, gpu), tests in sorted(groups.items())]
    lines += ["", *sorted({_setting(test.machine) for test in report.tests if test.machine})]
    lines.append(f"Seed {report.seed}, {report.date}.")
    lines += _list("Failed:", report, "failed")
    lines += _list("Fails as expected, a limit of the upstream's kernel:", report, "xfailed")
    lines += _list("Not run:", report, "skipped")
    return "\n".join(lines) + "\n"


def _row(upstream: str, name: str, gpu: str, tests: list[Test]) -> str:
    found = summary(tests)
    passed, failed = found["passed"], sum(test.outcome == "failed" for test in tests)
    skipped = sum(test.outcome == "skipped" for test in tests)
    count = f"{passed} passed" + (f", {failed} failed" if failed else "") + (f", {skipped} not run" if skipped else "")
    cells = [
        f"{upstream}: `{name}`",
        gpu if gpu != "none" else "CPU",
        count,
        _numbers(found.get("errors", {}), "{:.1e}"),
        ", ".join(found.get("identical", ())),
        _numbers(found.get("spread", {}), "{:.1e}"),
        _numbers(found.get("ratios", {}), "{:.2f}"),
        _times(found.get("milliseconds", {})),
    ]
    return "| " + " | ".join(cell or "–" for cell in cells) + " |"


def _numbers(values: Mapping[str, float], form: str) -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in values.items())


def _times(values: Mapping[str, float]) -> str:
    """`forward vendored`, `forward upstream` ... as one group for each timed thing."""
    timed: dict[str, dict[str, float]] = {}
    for label, value in values.items():
        name, _, side = label.rpartition(" ")
        timed.setdefault(name, {})[side] = value
    return "; ".join(f"{name} {_three(sides)}" for name, sides in timed.items())


def _three(sides: Mapping[str, float]) -> str:
    wanted = ("vendored", "upstream", "reference")
    return ", ".join(f"{sides[side]:.3f}" if side in sides else "–" for side in wanted)


def _setting(machine: Mapping[str, object] | None) -> str:
    versions = machine["versions"] if machine else {}
    named = (
        ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
        if isinstance(versions, dict)
        else ""
    )
    return f"{machine['gpu']}, driver {machine['driver']}, {named}." if machine else ""


def _list(title: str, report: Report, outcome: str) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for test in report.tests:
        if test.outcome == outcome:
            found.setdefault(test.reason, []).append(test.id.rpartition("/")[2])
    if found:
        yield from ("", title, "")
        for reason, names in found.items():
            shown = ", ".join(f"`{name}`" for name in names[:12]) + (
                f" and {len(names) - 12} more" if len(names) > 12 else ""
            )
            yield f"- {shown}: {reason}"
