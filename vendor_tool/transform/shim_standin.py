"""The generated stand-in of a module: a template, and the few facts that are written into it."""

import functools
from collections.abc import Iterable, Mapping
from importlib import resources

from vendor_tool.model import KnownBad, ShimSpec

BUNDLED: Mapping[str, tuple[str, ...]] = {"tilelang": ("tvm",)}
"""Modules that bring top-level modules of their own with them, found only once the module itself is loaded."""

KNOWN_BAD: Mapping[str, tuple[tuple[Mapping[str, str], str, str], ...]] = {
    "tilelang": (
        (
            {"tilelang": ">=0.1.10,<0.1.13", "apache-tvm-ffi": ">=0.1.12"},
            "ends the process: both register the same FFI types",
            "https://github.com/tile-ai/tilelang/issues/2367",
        ),
    ),
}
"""Versions of distributions that must not be loaded together, by the module that would load them."""

REQUIRES: Mapping[str, Mapping[str, str]] = {"tilelang": {"tilelang": "==0.1.11", "apache-tvm-ffi": "==0.1.11"}}
"""What to install where the lock does not say it."""


def render(spec: ShimSpec, *, known_bad: Iterable[KnownBad] = (), requires: Mapping[str, str] | None = None) -> bytes:
    """The text of the stand-in at `spec.to`; the same inputs give the same bytes.

    `known_bad` are the lock's own items, of which those that name the module's distribution are written in beside
    the built-in ones. `requires` maps distributions to version ranges, for the hint of the error message.
    """
    wanted = {**REQUIRES.get(spec.module, {}), **(requires or {})}
    facts = {
        "LICENSE": "Apache-2.0",
        "MODULE": spec.module,
        "MODULE_REPR": repr(spec.module),
        "TYPING": _typing(spec),
        "NAMES": repr(dict(sorted(spec.names.items()))),
        "BUNDLED": repr(BUNDLED.get(spec.module, ())),
        "REQUIRES": repr(tuple(wanted.items())),
        "KNOWN_BAD": _table([*KNOWN_BAD.get(spec.module, ()), *_own(spec, known_bad)]),
    }
    text = _template()
    for name, value in facts.items():
        text = text.replace(f"@@{name}@@", value)
    return text.encode()


@functools.cache
def _template() -> str:
    return resources.files("vendor_tool").joinpath("templates/shim.py.in").read_text(encoding="utf-8")


def _typing(spec: ShimSpec) -> str:
    """What type checkers and editors see: the real names, where the runtime is installed."""
    lines = [f"    import {spec.module} as {spec.module}"]
    for name, dotted in sorted(spec.names.items()):
        place, _, last = dotted.rpartition(".")
        lines.append(f"    from {place} import {last} as {name}" if place else f"    import {last} as {name}")
    return "\n".join(lines)


def _own(spec: ShimSpec, known_bad: Iterable[KnownBad]) -> list[tuple[Mapping[str, str], str, str]]:
    distributions = {spec.module, spec.module.replace("_", "-")}
    return [
        (dict(sorted(item.versions.items())), f"is known to be bad: {item.reason}", item.link or "")
        for item in known_bad
        if distributions & item.versions.keys()
    ]


def _table(rows: list[tuple[Mapping[str, str], str, str]]) -> str:
    if not rows:
        return "()"
    return "(\n" + "".join(f"    ({dict(ranges)!r}, {why!r}, {link!r}),\n" for ranges, why, link in rows) + ")"
