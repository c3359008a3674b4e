"""What parity finds, by stable id."""

from __future__ import annotations

from vendor_tool.findings import RuleInfo

RULES = {
    rule.id: rule
    for rule in (
        RuleInfo(
            "kernel-wrong",
            "error",
            "A kernel does not compute its definition",
            "An output is not finite, or further from the float32 reference than its dtype explains.",
        ),
        RuleInfo(
            "kernel-differs",
            "error",
            "A vendored kernel is not upstream's",
            "On the same inputs it gives other bits than the unmodified upstream file; where atomics add, it is "
            "further off than upstream's own runs from each other.",
        ),
        RuleInfo(
            "kernel-wavers",
            "error",
            "A kernel does not repeat itself",
            "Two runs on the same inputs gave different bits: suspect a race.",
        ),
        RuleInfo(
            "kernel-slow",
            "error",
            "A vendored kernel is slower than the entry allows",
            "The ratio to upstream's time is past `parity: {slower-than: ...}`.",
        ),
        RuleInfo(
            "parity-test-failed",
            "error",
            "A parity test failed by itself",
            "No claim about a kernel failed, but the test did: read its message.",
        ),
    )
}
RULE_OF = {
    "error": "kernel-wrong",
    "row": "kernel-wrong",
    "identical": "kernel-differs",
    "spread": "kernel-differs",
    "repeats": "kernel-wavers",
    "ratio": "kernel-slow",
}
"""Which rule a failed claim of `Tolerance` breaks, by the kind of its note."""
