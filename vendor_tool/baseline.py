"""Findings that a project has accepted for now: a file of fingerprints that only ever gets shorter."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.patterns import pattern
from vendor_tool.values import dataclass
from vendor_tool.words import command

VERSION: Final = 1
# counts, lines and commit ids move while the finding stays the same one; the number of an issue, a version or a licence
# makes it another
COUNTED: Final = "of|more|notice lines|(?:commit|conflict|file|finding|hunk|kernel|line|other|place)s?|patch(?:es)?"
MOVING: Final = pattern(
    rf"\b(?=[a-f]*[0-9])[0-9a-f]{{7,64}}\b|\b[0-9]+(?=%| (?:{COUNTED})\b)"
    r"|(?<=\bline )[0-9]+|(?<=\blines )[0-9]+(?:(?:, | and |-)[0-9]+)*|(?<=\.py:)[0-9]+(?::[0-9]+)?"
)


@dataclass(frozen=True, slots=True)
class Accepted:
    """One item of a baseline: what it stands for is written beside the mark for people to read."""

    mark: str
    rule: str
    path: str | None
    message: str
    upstream: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings split by a baseline."""

    new: tuple[Finding, ...]
    accepted: tuple[Finding, ...]
    fixed: tuple[Accepted, ...]  # no longer found: to be taken out of the file


def fingerprint(finding: Finding) -> str:
    """A mark that survives edits elsewhere: of rule, upstream, path and message, without lines, counts and commits.

    A finding about the bytes of a file holds their digest, so that whoever accepts an edit accepts that one alone.
    """
    stable = MOVING.sub("#", finding.message)
    digest = [finding.digest] if finding.digest else []
    facts = "\0".join([finding.rule, finding.upstream or "", finding.path or "", stable, *digest])
    return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """The mark of each finding; equal ones are told apart by their order, as in `mark:2`."""
    seen: Counter[str] = Counter()
    marks = []
    for finding in findings:
        mark = fingerprint(finding)
        seen[mark] += 1
        marks.append(f"{mark}:{seen[mark]}")
    return marks


def render(findings: Sequence[Finding], kept: Sequence[Accepted] = ()) -> str:
    """The text of a baseline that accepts `findings`, and what is `kept` of an earlier one."""
    return _dump(
        [
            *kept,
            *(
                Accepted(mark, finding.rule, finding.path, finding.message, finding.upstream)
                for finding, mark in zip(findings, fingerprints(findings), strict=True)
            ),
        ]
    )


def parse(text: str, *, name: str) -> tuple[Accepted, ...]:
    """Read a baseline; `name` is the file in messages.

    Raises UsageError where the text is not a baseline of this version.
    """
    hint = f"delete `{name}` and accept today's findings with `{command('--write-baseline', name)}`"
    try:
        document = json.loads(text)
        version, accepted = document["version"], tuple(_item(item) for item in document["accepted"])
    except (ValueError, KeyError, TypeError, RecursionError) as cause:
        raise UsageError(f"`{name}` is not a baseline of findings", hint=hint) from cause
    if version != VERSION:
        raise UsageError(f"`{name}` is a baseline of version {version}, this program reads {VERSION}", hint=hint)
    return accepted


def _item(raw: object) -> Accepted:
    """One item as it stands in the file. Raises KeyError or TypeError where it is none."""
    if not isinstance(raw, dict):
        raise TypeError
    mark, rule, message = raw["fingerprint"], raw["rule"], raw["message"]
    path, upstream = raw["path"], raw.get("upstream")
    if not all(isinstance(text, str) for text in (mark, rule, message)) or not all(
        text is None or isinstance(text, str) for text in (path, upstream)
    ):
        raise TypeError
    return Accepted(mark, rule, path, message, upstream)


def compare(findings: Sequence[Finding], accepted: Sequence[Accepted]) -> Compared:
    """Split findings into new ones and accepted ones, and list what is accepted and gone."""
    allowed = {item.mark for item in accepted}
    marked = list(zip(findings, fingerprints(findings), strict=True))
    found = {mark for _, mark in marked}
    return Compared(
        new=tuple(finding for finding, mark in marked if mark not in allowed),
        accepted=tuple(finding for finding, mark in marked if mark in allowed),
        fixed=tuple(item for item in accepted if item.mark not in found),
    )


def _dump(items: Sequence[Accepted]) -> str:
    listed = [
        {
            "fingerprint": item.mark,
            "rule": item.rule,
            "upstream": item.upstream,
            "path": item.path,
            "message": item.message,
        }
        for item in sorted(
            {item.mark: item for item in items}.values(),
            key=lambda item: (item.rule, item.path or "", item.message, item.mark),
        )
    ]
    return json.dumps({"version": VERSION, "accepted": listed}, indent=2) + "\n"
