"""Keeps formatters, linters, coverage and copyright hooks of the project off the vendored files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Protocol

from vendor_tool.errors import UsageError
from vendor_tool.fence import coverage, gitattributes, licenserc, precommit, ruff
from vendor_tool.fence.block import begin, without
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import Lock, Upstream


class Kind(Protocol):
    """A tool that walks over files. `entries` are paths; those of folders end with a slash."""

    @property
    def CONFIGS(self) -> tuple[str, ...]:
        """Where its configuration may stand; the first file that holds one counts."""
        ...

    @property
    def PYTHON_ONLY(self) -> bool:
        """Whether it looks at Python files alone."""
        ...

    def uses(self, text: str, name: str) -> bool:
        """Whether the file, one of CONFIGS, configures this tool."""
        ...

    def missing(self, text: str, name: str, entries: Sequence[str]) -> list[str]:
        """What the configuration does not leave out."""
        ...

    def patterns(self, text: str, name: str) -> list[str]:
        """What the configuration leaves out, as it is written."""
        ...

    def rest(self, text: str, name: str) -> object:
        """Everything else that the configuration says: what `apply` must leave as it is."""
        ...

    def apply(self, text: str, name: str, entries: Sequence[str]) -> str:
        """The configuration that leaves out all entries, every byte of the user's kept; twice is the same as once."""
        ...


KINDS: Final[Mapping[str, Kind]] = {
    "ruff": ruff,
    "pre-commit": precommit,
    "coverage": coverage,
    "gitattributes": gitattributes,
    "licenserc": licenserc,
}

CONFIGS: Final = tuple(sorted({name for kind in KINDS.values() for name in kind.CONFIGS}))
"""The files to hand to `check`, those that exist."""

RULES: Final[Mapping[str, RuleInfo]] = {
    rule.id: rule
    for rule in (
        RuleInfo(
            "fence-missing",
            "warning",
            "a tool of the project would touch vendored files",
            "Formatters, hooks and header tools rewrite what the lock has hashes of, which then shows as drift. "
            "`vendor-tool fence --write` adds the excludes.",
        ),
        RuleInfo(
            "fence-stale",
            "note",
            "excludes name what is no longer vendored",
            "The lines between the tool's marks were made from an older lock. `vendor-tool fence --write` renews them.",
        ),
    )
}


def entries(lock: Lock, *, generated: Sequence[str] = (), python_only: bool = False) -> tuple[str, ...]:
    """What is fenced: folders of entries (with a slash at the end), shims, patches, licence texts.

    `generated` adds further local paths, as of documents. With `python_only` only what may hold Python.
    """
    found = {shim.to for shim in lock.shims.values()}
    stubs = {path for path in generated if path.endswith(".pyi")}  # in folders that hold nothing else, beside the shims
    beside = {f"{path.removesuffix('.py')}/" for path in found}
    found |= stubs | {folder for folder in beside if any(path.startswith(folder) for path in stubs)}
    for upstream in lock.upstreams.values():
        found.update(_code(upstream))
        if not python_only:
            found.update(patch.path for patch in upstream.patches)
            legal = (upstream.resolved.license, upstream.resolved.notice) if upstream.resolved else ()
            found.update(text.to for text in legal if text is not None)
    if not python_only:
        found.update(generated)
    return tuple(sorted(path for path in found if not _inside(path, found)))


def _code(upstream: Upstream) -> Iterator[str]:
    if not upstream.files:
        return
    if upstream.to not in ("", "."):
        yield f"{upstream.to}/"
    elif upstream.resolved is not None:
        yield from (file.to for file in upstream.resolved.files)


def _inside(path: str, found: set[str]) -> bool:
    return any(f"{parent}/" in found and f"{parent}/" != path for parent in PurePosixPath(path).parents)


def render(lock: Lock, *, generated: Sequence[str] = ()) -> dict[str, str]:
    """A snippet for each kind, as its first configuration file would hold it, to paste by hand."""
    starts = {"licenserc": "header:\n  paths-ignore:\n"}
    return {
        name: kind.apply(starts.get(name, ""), kind.CONFIGS[-1], _entries(lock, kind, generated))
        for name, kind in KINDS.items()
    }


def check(
    lock: Lock, files: Mapping[str, str], *, generated: Sequence[str] = (), written: bool = False
) -> list[Finding]:
    """What the project's configurations lack; `files` holds the text of those of CONFIGS that exist.

    A kind that no file configures is not asked for; nor, with `written`, one that `apply` has not put anything into.
    A configuration that cannot be read keeps nothing out: that is a finding too.
    """
    findings: list[Finding] = []
    for name, kind in KINDS.items():
        config = configured(kind, files)
        if config is None or (written and not any(owned(name, files[one]) for one in kind.CONFIGS if one in files)):
            continue
        try:
            findings += _findings(name, kind, config, files[config], _entries(lock, kind, generated))
        except UsageError as problem:
            findings.append(Finding("fence-missing", "warning", problem.message, path=config, line=1, fix=problem.hint))
    return findings


def owned(tool: str, text: str) -> bool:
    """Whether a configuration holds lines that `apply` put there for a tool, a key of KINDS."""
    return begin(tool) in text or (tool == precommit.OWNER and precommit.OWNED.search(text) is not None)


def configured(kind: Kind, files: Mapping[str, str]) -> str | None:
    """The file of `files` that configures a kind, if one does."""
    return next((name for name in kind.CONFIGS if name in files and kind.uses(files[name], name)), None)


def apply(lock: Lock, files: Mapping[str, str], *, generated: Sequence[str] = ()) -> dict[str, str]:
    """The new texts of those of `files` that change; read and write them without newline translation.

    Raises UsageError where a configuration has no place for the lines, so that they would have no effect or change
    something else; the hint says what to add by hand.
    """
    texts = dict(files)
    for name, kind in KINDS.items():
        config = configured(kind, texts)
        if config is not None:
            texts[config] = _applied(name, kind, texts[config], config, _entries(lock, kind, generated))
    return {name: text for name, text in texts.items() if text != files[name]}


def _applied(tool: str, kind: Kind, text: str, config: str, fenced: Sequence[str]) -> str:
    """What `apply` gives, once it says all that the user's text said, and leaves out what it is to leave out."""
    plain = precommit.OWNED.sub("", without(text, tool))
    before, left_out = kind.rest(plain, config), kind.patterns(plain, config)
    new = kind.apply(text, config, fenced)
    try:
        after = kind.patterns(new, config)
        kept = all(any(one.startswith(own.rstrip()) for one in after) for own in left_out)
        held = kept and kind.rest(new, config) == before and not kind.missing(new, config, fenced)
    except UsageError:
        held = False
    if not held:
        raise UsageError(
            f"`{config}` is written in a way that leaves no room for the excludes of {tool}; it was not changed",
            hint=f"add by hand what `vendor-tool fence` prints for {tool}",
        )
    return new


def _entries(lock: Lock, kind: Kind, generated: Sequence[str]) -> tuple[str, ...]:
    return entries(lock, generated=generated, python_only=kind.PYTHON_ONLY)


def _findings(tool: str, kind: Kind, config: str, text: str, fenced: Sequence[str]) -> Iterator[Finding]:
    fix = "vendor-tool fence --write"
    lacking = kind.missing(text, config, fenced)
    if lacking:
        listed = ", ".join(f"`{entry}`" for entry in lacking)
        yield Finding(
            "fence-missing", "warning", f"the {tool} configuration lacks {listed}", path=config, line=1, fix=fix
        )
    elif begin(tool) in text and kind.apply(text, config, fenced) != text:
        line = text[: text.index(begin(tool))].count("\n") + 1
        message = f"the {tool} excludes were made from an older lock"
        yield Finding("fence-stale", "note", message, path=config, line=line, fix=fix)
