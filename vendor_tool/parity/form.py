"""The form that a report's JSON must have: it may have been written by hand, or on a machine that nobody here knows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, get_args

Outcome = Literal["passed", "failed", "skipped", "xfailed", "xpassed"]
Check = Literal["error", "row", "identical", "repeats", "spread", "ratio", "milliseconds"]

ENTRY = ("revision", "intent", "requires", "tools", "patches")
TAKEN = ("gpu", "driver", "date", *ENTRY, "files", "kernels")
"""What a record under `resolved: evidence:` says beside versions, so no distribution may be called that."""


def check(content: Mapping[str, Any]) -> None:
    """Raise ValueError, in words, where a report is not what parity writes."""
    if content.get("format") != 1:
        raise ValueError("it is of another format")
    _need(isinstance(content.get("seed"), int), "`seed` is no number")
    _date(content.get("date"))
    _need(isinstance(content.get("tests"), list), "`tests` is no list")
    for test in content["tests"]:
        _test(test)
    files, entries = content.get("files"), content.get("entries")
    _need(isinstance(files, dict) and all(map(_texts, files.values())), "`files` does not hold sha256 by path")
    _need(isinstance(entries, dict), "`entries` is no mapping")
    for entry in (entries or {}).values():
        _entry(entry)
    _need(_texts(content.get("marked", {})), "`marked` does not hold upstreams by test")
    broken = content.get("broken", [])
    _need(isinstance(broken, list) and all(map(_text, broken)), "`broken` is no list of texts")


def number(value: object) -> float:
    """A measured value; JSON has no word for what is not finite, so that stands as text."""
    if isinstance(value, str) and value in ("inf", "-inf", "nan"):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"`{value}` is no number")


def written(value: float) -> float | str:
    """The counterpart of `number`."""
    return value if math.isfinite(value) else str(float(value))


def _test(test: object) -> None:
    _need(isinstance(test, dict) and _text(test.get("id")), "a test has no `id`")
    assert isinstance(test, dict)
    name = test["id"]
    _need(test.get("outcome") in get_args(Outcome), f"`{name}` has the outcome `{test.get('outcome')}`")
    _need(isinstance(test.get("reason"), str), f"`reason` of `{name}` is no text")
    number(test.get("seconds"))
    kernel, machine = test.get("kernel"), test.get("machine")
    if kernel is not None:
        _need(_texts(kernel) and kernel.keys() == {"upstream", "name"}, f"`kernel` of `{name}` is malformed")
    if machine is not None:
        _machine(name, machine)
    _need(isinstance(test.get("notes"), list), f"`notes` of `{name}` is no list")
    for note in test["notes"]:
        _note(name, note)


def _machine(name: str, machine: object) -> None:
    _need(
        isinstance(machine, dict)
        and _text(machine.get("gpu"))
        and _text(machine.get("driver"))
        and _texts(machine.get("versions")),
        f"`machine` of `{name}` lacks `gpu`, `driver` or `versions`",
    )
    assert isinstance(machine, dict)
    taken = sorted(set(TAKEN) & machine["versions"].keys())
    _need(not taken, f"`machine` of `{name}` has a version of `{''.join(taken[:1])}`, which is no distribution")


def _note(name: str, note: object) -> None:
    _need(isinstance(note, dict), f"a note of `{name}` is malformed")
    assert isinstance(note, dict)
    _need(note.get("check") in get_args(Check), f"a note of `{name}` is of the kind `{note.get('check')}`")
    _need(_text(note.get("name")), f"a note of `{name}` has no name")
    number(note.get("value"))
    if note.get("limit") is not None:
        number(note["limit"])


def _entry(entry: object) -> None:
    _need(
        isinstance(entry, dict)
        and set(entry) == set(ENTRY)
        and all(_text(entry[key]) for key in ENTRY[:2])
        and all(_texts(entry[key]) for key in ENTRY[2:]),
        "`entries` does not hold what the lock says",
    )


def _date(value: object) -> None:
    _need(isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None, "`date` is no date")
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).date().isoformat()
    _need(str(value) <= tomorrow, f"its date, {value}, is to come")


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _texts(value: object) -> bool:
    return (
        isinstance(value, dict)
        and all(_text(key) and isinstance(item, str) for key, item in value.items())
        and all(item.isprintable() for item in value.values())
    )


def _need(holds: bool, words: str) -> None:
    if not holds:
        raise ValueError(words)
