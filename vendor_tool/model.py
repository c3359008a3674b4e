"""The values that flow from step to step: frozen, and without a hand on disk, network or clock.

Paths are POSIX strings: *upstream paths* start at the root of a repository, *local paths* at the lockfile's folder.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from vendor_tool.findings import Finding, Level
from vendor_tool.values import dataclass, field

# ---- content ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes of one file, and whether it is executable. Symbolic links and submodules never become a Blob."""

    data: bytes
    executable: bool = False


Tree: TypeAlias = Mapping[str, Blob]
"""Local path to content: what the pure middle of the program works on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path in a revision's listing, as `git ls-tree` gives it: mode, kind and id."""

    mode: str  # "100644", "100755", "120000" (symbolic link), "160000" (submodule)
    kind: str  # "blob" or "commit"; folders are not listed
    oid: str  # as every git id here: 40 lower-case hex digits


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an upstream holds at one revision, without the contents."""

    revision: str
    date: str  # committer date, ISO 8601 with the committer's own offset, as git prints it with %cI
    entries: Mapping[str, Entry]  # upstream path to entry, sorted by path
    partial: bool = False  # holds only what a record names: enough to rebuild, not to look for further files


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of an upstream's history, and which of the paths asked for it touches."""

    sha: str
    date: str  # committer date, as in Snapshot
    author: str  # name only
    subject: str
    body: str
    paths: tuple[str, ...] = ()  # upstream paths, sorted


@dataclass(frozen=True, slots=True)
class Access:
    """How upstreams are reached: the user's cache folder, and whether the network may be used."""

    cache: Path
    offline: bool = False
    progress: Callable[[str], None] = lambda _message: None


# ---- lockfile: what people wrote --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class At:
    """A place in the lockfile, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Header:
    """`header:` a comment block put above each file, below `#!` and coding lines. `text` holds no comment marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Imports:
    """`imports:` imports of the upstream's own modules become imports of the local ones.

    `rename` maps further dotted names, whole ones only, to the module to import instead: `.a.b` by its local path.
    """

    rename: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shim:
    """`shim:` imports of these top-level modules come from the generated stand-ins under `shims:`."""

    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """`format:` the finished file goes through a formatter, whose version shapes the bytes and is recorded."""

    tool: Literal["ruff"] = "ruff"
    version: str | None = None  # exact; None takes the one that is installed
    line_length: int = 88
    isort: bool = False  # sort imports first
    first_party: tuple[str, ...] = ()  # isort's known-first-party
    combine_as: bool = False  # isort's combine-as-imports
    past_noqa: bool = False  # sort even where the file's own `# ruff: noqa` forbids it


Rule: TypeAlias = Header | Imports | Shim | Format
"""One entry of `transforms:`; the module `transform/<name>.py` applies it."""


@dataclass(frozen=True, slots=True)
class FileSpec:
    """One item of `files:`. `path` may be a glob; with one, `to` is None."""

    path: str  # below the entry's `from`
    to: str | None  # below the entry's `to`; None: the same as `path`
    at: At
    only: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()  # replace rules of the same kind, others come last
    license: str | None = None
    valid_with: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShimSpec:
    """One item of `shims:`: the stand-in for a top-level module."""

    module: str
    to: str  # local path of the generated file
    at: At
    import_: str | None = None  # dotted module for absolute imports; None: relative ones
    names: Mapping[str, str] = field(default_factory=dict)  # extra name in the stand-in -> dotted name, e.g. T


@dataclass(frozen=True, slots=True)
class PatchSpec:
    """One item of `patches:`: the local path of a patch file."""

    path: str
    at: At


@dataclass(frozen=True, slots=True)
class KnownBad:
    """One item of `known-bad:`: a range of tool versions, or of upstream commits, that is wrong."""

    at: At
    reason: str
    link: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)  # distribution -> PEP 440 range; all must match
    upstream: str | None = None
    since: str | None = None  # first bad commit
    until: str | None = None  # first good commit


@dataclass(frozen=True, slots=True)
class Severity:
    """One item of `project: audit:`: a rule's severity as this project sets it, and why."""

    rule: str
    level: Level | Literal["off"]
    reason: str
    at: At


@dataclass(frozen=True, slots=True)
class Project:
    """`project:` the consumer itself."""

    name: str
    license: str | None = None
    allow: tuple[str, ...] = ()
    audit: tuple[Severity, ...] = ()


# ---- lockfile: what the tool recorded ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LegalFile:
    """A licence or NOTICE file of an upstream, as it stood at the recorded revision."""

    path: str  # upstream path
    blob: str
    to: str  # local path of our copy
    sha256: str
    spdx: str | None = None  # detected; None where nothing was recognised
    holders: tuple[str, ...] = ()  # copyright lines as they stand


@dataclass(frozen=True, slots=True)
class Recorded:
    """One vendored file: where it came from and what its final bytes are."""

    path: str  # upstream path; with `blob` empty for a file that only a patch makes
    blob: str
    to: str  # local path
    sha256: str  # of the final bytes
    at: At
    executable: bool = False
    names: tuple[str, ...] = ()  # names that transforms changed or took out
    origins: tuple[str, ...] = ()  # links found in "adapted from" comments
    license: str | None = None  # from the file's own header


@dataclass(frozen=True, slots=True)
class RecordedImport:
    """A run-time import that was found in the upstream's source: nothing of it is copied."""

    name: str  # dotted, as the lock asks for it
    path: str  # upstream path of the file that defines it
    blob: str
    line: int


@dataclass(frozen=True, slots=True)
class Resolved:
    """An upstream's `resolved:` block. Holds only what does not change for one set of inputs."""

    at: At
    revision: str
    date: str
    intent: str  # digest of the entry as people wrote it, so that an edit after the sync shows
    seal: str  # digest of this block, so that an edit of the record shows
    tag: str | None = None  # by which the revision was asked for, without `refs/tags/`
    license: LegalFile | None = None
    notice: LegalFile | None = None  # None is written as `none`: looked for and not there
    tools: Mapping[str, str] = field(default_factory=dict)  # versions that shaped bytes
    files: tuple[Recorded, ...] = ()  # sorted by local path
    imports: tuple[RecordedImport, ...] = ()
    shims: tuple[str, ...] = ()  # local paths of the stand-ins that the files use
    shim_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # stand-in -> names in its submodules
    patches: Mapping[str, str] = field(default_factory=dict)  # local path -> sha256, in the order applied
    extra: Mapping[str, object] = field(default_factory=dict)  # further facts (licences, evidence), kept as read
    sealed: bool = True  # whether the seal fits what was read


@dataclass(frozen=True, slots=True)
class Upstream:
    """One item of `upstreams:`."""

    name: str
    url: str
    revision: str
    at: At
    revision_at: At
    mirrors: tuple[str, ...] = ()
    branch: str | None = None
    license: str | None = None
    from_: str = ""  # prefix of upstream paths, without a slash at its end
    to: str = ""  # prefix of local paths
    files: tuple[FileSpec, ...] = ()
    rules: tuple[Rule, ...] | None = None  # None: the default, imports and then every shim
    patches: tuple[PatchSpec, ...] = ()
    requires: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    docstring: bool = False
    local: tuple[str, ...] = ()  # globs below `to`: files there that are the project's own
    acknowledge: Mapping[str, str] = field(default_factory=dict)  # sha256 of extra licence terms -> reason
    slower_than: float | None = None  # parity: ratio to upstream's time that counts as a finding
    codegen: Mapping[str, object] | None = None  # the kernels for `check --codegen`, as read
    intent: str = ""  # digest over everything above but `revision` and `at`
    resolved: Resolved | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """vendor.lock.yaml, parsed."""

    path: Path
    project: Project
    shims: Mapping[str, ShimSpec]
    upstreams: Mapping[str, Upstream]
    known_bad: tuple[KnownBad, ...] = ()

    @property
    def root(self) -> Path:
        """The folder that all local paths start at."""
        return self.path.parent


# ---- transforms, and what came out -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Source:
    """One upstream file on its way to its local path."""

    path: str
    to: str
    blob: str
    data: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a transform may know beyond its file."""

    upstream: str
    files: Mapping[str, str]  # upstream path -> local path, of everything vendored from this repository
    listing: frozenset[str]  # every upstream path at the revision
    shims: Mapping[str, ShimSpec]


@dataclass(frozen=True, slots=True)
class Change:
    """What a transform made of a file; `data` is the same object where nothing fired."""

    data: bytes
    names: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()
    matched: bool = False  # it found what it is for, though the bytes may have needed no change


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """One file in its three states: pristine (upstream's bytes), plain (after the rules), final (after the patches)."""

    path: str
    to: str
    blob: str
    executable: bool
    pristine: bytes
    plain: bytes
    final: bytes
    names: tuple[str, ...] = ()
    executable_before: bool = False  # upstream's mode, which a patch may change


@dataclass(frozen=True, slots=True)
class Build:
    """What one upstream's entry makes of one revision; `sync` writes it, `check --rebuild` compares it."""

    upstream: Upstream
    snapshot: Snapshot
    files: tuple[BuiltFile, ...]  # sorted by local path
    legal: Tree  # licence and NOTICE copies, by local path
    resolved: Resolved
    notes: tuple[Finding, ...] = ()
