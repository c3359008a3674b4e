"""Findings that every format is tried with: plain ones, and one with all that could break out of a format."""

from typing import TypedDict

from vendor_tool.findings import Finding, RuleInfo

RULES = {
    "file-edited": RuleInfo(
        "file-edited",
        "error",
        "vendored file edited",
        "The file is not what the lock recorded. Sync it, or keep the edit as a patch.",
    ),
    "upstream-moved": RuleInfo(
        "upstream-moved", "note", "only the repository moved", "None of the files that the lock maps has changed."
    ),
    "odd": RuleInfo("odd", "warning", "50 %, a: title | <b>", "A rule with marks in it."),
    "unused": RuleInfo("unused", "error", "never found", "No finding has this rule, so no report mentions it."),
}

EDITED = Finding(
    "file-edited",
    "error",
    "`vendored/glm5/indexer.py` was edited: 3 lines differ from the record",
    path="vendored/glm5/indexer.py",
    line=12,
    lock_line=40,
    upstream="slime",
    side="local",
    fix="vendor-tool sync slime --force",
)
MOVED = Finding(
    "upstream-moved", "note", "5 commits since the pin, none of them on our files", lock_line=31, upstream="slime"
)
PROJECT = Finding("upstream-moved", "note", "nothing to point at")
HOSTILE = Finding(
    "odd",
    "warning",
    'pipe | `a|b` ]]> </failure> "q" & %0A é 💥 \x1b[2J\x00\u202e\r\n::error::gone\n@someone closes #12 [x](y) ``',
    path="vendored/mi les/`é|%0A,:<b>.py",
    line=7,
    lock_line=9,
    upstream="miles",
    side="both",
    fix="vendor-tool patch new miles 'a|b`c'",
)
FINDINGS = [PROJECT, MOVED, EDITED, HOSTILE]


class Place(TypedDict):
    lock: str
    root: str


PLACE: Place = {"lock": "third_party/vendor.lock.yaml", "root": "third_party"}
