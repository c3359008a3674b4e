"""Nodes to a Lock: strict, with the line, the key path and a hint for everything that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar, cast, get_args

from vendor_tool.findings import Level
from vendor_tool.lockfile.kernels import codegen
from vendor_tool.lockfile.nodes import Node
from vendor_tool.lockfile.place import MODULE, Place, digest, nearest, plain
from vendor_tool.model import (
    FileSpec,
    Format,
    Header,
    Imports,
    KnownBad,
    Lock,
    PatchSpec,
    Project,
    Resolved,
    Rule,
    Severity,
    Shim,
    ShimSpec,
    Upstream,
)
from vendor_tool.patterns import pattern
from vendor_tool.urls import check_url

VERSION: Final = 1
UPSTREAM_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]*")
FULL_SHA = pattern(r"[0-9a-f]{40}")
T = TypeVar("T")


# ---- the parts of the file --------------------------------------------------------------------------------


def parse(path: Path, root: Node, resolved: Callable[[str, Place], Resolved | None]) -> Lock:
    """A Lock from the root node; `resolved(upstream name, place)` reads what the tool recorded."""
    fields = Place(path.name, "", root).fields("version", "project", "shims", "upstreams", "known-bad")
    version = fields.get("version")
    if version is None:
        Place(path.name, "", root).fail("no `version:`", f"begin the file with `version: {VERSION}`")
    if version.node.text != str(VERSION) if version.node.kind == "text" else True:
        version.fail(f"only version {VERSION} is known", "use the vendor-tool release that wrote this lock")
    shims = {key: _shim(key, place) for key, place in _optional(fields, "shims")}
    upstreams = {}
    for name, place in _optional(fields, "upstreams"):
        if not UPSTREAM_NAME.fullmatch(name):
            place.fail(f"`{name}` is not a name", "use letters, digits, `.`, `_` and `-`")
        upstreams[name] = _upstream(name, place, shims, resolved)
    project = _project(fields["project"]) if "project" in fields else Project(path.resolve().parent.name)
    bad = tuple(_known_bad(item) for item in fields["known-bad"].items()) if "known-bad" in fields else ()
    return Lock(path, project, shims, upstreams, bad)


def _optional(fields: Mapping[str, Place], key: str) -> list[tuple[str, Place]]:
    place = fields.get(key)
    if place is None or (place.node.kind == "text" and place.node.tag == "null"):
        return []
    return list(place.fields().items())


def _project(place: Place) -> Project:
    fields = place.fields("name", "license", "allow", "audit")
    audit = []
    for rule, item in _optional(fields, "audit"):
        sub = item.fields("level", "reason")
        if "reason" not in sub or "level" not in sub:
            item.fail("a severity needs `level:` and `reason:`", f"write `{rule}: {{level: warning, reason: ...}}`")
        level = sub["level"].line_of_text()
        if level not in {*get_args(Level), "off"}:
            sub["level"].fail(f"unknown level `{level}`", "use error, warning, note or off")
        audit.append(Severity(rule, cast("Level", level), sub["reason"].line_of_text(), item.node.at))
    return Project(
        name=fields["name"].line_of_text() if "name" in fields else "",
        license=fields["license"].line_of_text() if "license" in fields else None,
        allow=fields["allow"].texts() if "allow" in fields else (),
        audit=tuple(audit),
    )


def _shim(module: str, place: Place) -> ShimSpec:
    fields = place.fields("to", "import", "names")
    if not MODULE.fullmatch(module) or "." in module:
        place.fail(f"`{module}` is not a top-level module", "name the package that is imported, without dots")
    if "to" not in fields:
        place.fail("no `to:`", f"write where the stand-in goes, such as `{module}: {{to: vendored/_{module}.py}}`")
    to = fields["to"].local()
    if not to.endswith(".py"):
        fields["to"].fail(f"`{to}` is not a Python file", "let the name end in `.py`")
    import_ = fields["import"].module() if "import" in fields else None
    names = {key: value.module() for key, value in _optional(fields, "names")}
    return ShimSpec(module, to, place.node.at, import_, names)


def _known_bad(place: Place) -> KnownBad:
    fields = place.fields("reason", "link", "versions", "upstream", "since", "until")
    if "reason" not in fields or not ("versions" in fields or "upstream" in fields):
        place.fail("needs `reason:` and `versions:` or `upstream:`", "see `known-bad` in docs/reference/lockfile.md")

    def text(key: str) -> str | None:
        return fields[key].line_of_text() if key in fields else None

    return KnownBad(
        at=place.node.at,
        reason=fields["reason"].line_of_text(),
        link=text("link"),
        versions=fields["versions"].mapping_of_text() if "versions" in fields else {},
        upstream=text("upstream"),
        since=text("since"),
        until=text("until"),
    )


UPSTREAM_KEYS = (
    "url", "mirrors", "branch", "revision", "license", "from", "to", "files", "transforms", "patches", "requires",
    "imports", "docstring", "local", "parity", "codegen", "acknowledge", "resolved",
)  # fmt: skip


def _upstream(
    name: str,
    place: Place,
    shims: Mapping[str, ShimSpec],
    resolved: Callable[[str, Place], Resolved | None],
) -> Upstream:
    fields = place.fields(*UPSTREAM_KEYS)
    for key in ("url", "revision"):
        if key not in fields:
            place.fail(f"no `{key}:`", f"every upstream needs `url:` and `revision:`; see `vendor-tool add {name} URL`")

    def read(key: str, how: Callable[[Place], T], default: T) -> T:
        return how(fields[key]) if key in fields else default

    rules = tuple(_rule(item, shims) for item in fields["transforms"].items()) if "transforms" in fields else None
    patches = fields["patches"].items() if "patches" in fields else []
    parity = fields["parity"].fields("slower-than") if "parity" in fields else {}
    for key in ("files", "imports"):
        if key in fields and not fields[key].items():
            fields[key].fail("is empty", f"name what is taken, or take the key `{key}:` out")
    upstream = Upstream(
        name=name,
        url=_url(fields["url"], name),
        revision=_revision(fields["revision"]),
        at=place.node.at,
        revision_at=fields["revision"].node.at,
        mirrors=tuple(_url(item, name) for item in fields["mirrors"].items()) if "mirrors" in fields else (),
        branch=read("branch", Place.line_of_text, cast("str | None", None)),
        license=read("license", Place.line_of_text, cast("str | None", None)),
        from_=read("from", lambda item: item.local(empty=True), ""),
        to=read("to", lambda item: item.local(empty=True), ""),
        files=tuple(_file(item, shims) for item in fields["files"].items()) if "files" in fields else (),
        rules=rules,
        patches=tuple(PatchSpec(item.local(), item.node.at) for item in patches),
        requires=read("requires", Place.mapping_of_text, {}),
        imports=tuple(item.module() for item in fields["imports"].items()) if "imports" in fields else (),
        docstring=read("docstring", Place.boolean, False),
        local=read("local", Place.texts, ()),
        slower_than=parity["slower-than"].number() if "slower-than" in parity else None,
        codegen=read("codegen", codegen, None),
        acknowledge=_acknowledge(fields["acknowledge"]) if "acknowledge" in fields else {},
        intent=_intent(fields, shims),
        resolved=resolved(name, fields["resolved"]) if "resolved" in fields else None,
    )
    if upstream.files and upstream.imports:
        fields["imports"].fail("an entry copies `files:` or names `imports:`, not both", "make two entries of it")
    return upstream


def _url(place: Place, name: str) -> str:
    url = place.line_of_text()
    reason = check_url(url)
    if reason:
        place.fail(f"address of upstream `{name}` {reason}", "give the address of a git repository")
    return url


def _revision(place: Place) -> str:
    node = place.node
    if node.kind == "text" and node.tag != "str":
        place.fail(
            f"revision `{node.text}` reads as a number in YAML", "write the full revision, 40 hex digits, in quotes"
        )
    text = place.line_of_text()
    if not FULL_SHA.fullmatch(text):
        place.fail(
            f"`{text}` is not a full revision of 40 lower-case hex digits",
            "run `vendor-tool sync NAME@REV`, which turns a branch, a tag or a short revision into a full one",
        )
    return text


def _acknowledge(place: Place) -> dict[str, str]:
    found = {}
    for item in place.items():
        fields = item.fields("sha256", "reason")
        if "sha256" not in fields or "reason" not in fields:
            item.fail("needs `sha256:` and `reason:`", "`vendor-tool audit` prints the line to add")
        found[fields["sha256"].line_of_text()] = fields["reason"].line_of_text()
    return found


def _file(place: Place, shims: Mapping[str, ShimSpec]) -> FileSpec:
    if place.node.kind == "text":
        return FileSpec(place.local(), None, place.node.at)
    fields = place.fields("path", "to", "only", "drop", "transforms", "license", "valid-with")
    if "path" not in fields:
        place.fail("no `path:`", "write `{path: FILE, to: FILE}`")
    path = fields["path"].local()
    if "to" in fields and is_glob(path):
        fields["to"].fail("a glob cannot have a `to:`", "list the files one by one to rename them")
    names = {key: fields[key].texts() if key in fields else () for key in ("only", "drop")}
    for key in ("only", "drop"):
        if key in fields and not names[key]:
            fields[key].fail("is empty", f"name what it is for, or take `{key}:` out")
    if names["only"] and names["drop"]:
        fields["drop"].fail("`only:` and `drop:` exclude each other", "keep one of the two")
    return FileSpec(
        path=path,
        to=fields["to"].local() if "to" in fields else None,
        at=place.node.at,
        only=names["only"],
        drop=names["drop"],
        rules=tuple(_rule(item, shims) for item in fields["transforms"].items()) if "transforms" in fields else (),
        license=fields["license"].line_of_text() if "license" in fields else None,
        valid_with=fields["valid-with"].mapping_of_text() if "valid-with" in fields else {},
    )


def is_glob(path: str) -> bool:
    return any(letter in path for letter in "*?[")


# ---- transforms -------------------------------------------------------------------------------------------


def _rule(place: Place, shims: Mapping[str, ShimSpec]) -> Rule:
    if place.node.kind == "text":
        name, options = place.text(), None
    else:
        pairs = list(place.fields().items())
        if len(pairs) != 1:
            place.fail("a transform is one key with its options", "write `- header: {text: ...}`")
        name, options = pairs[0]
        if options.node.kind == "text" and options.node.tag == "null":
            options = None
    reader = RULES.get(name)
    if reader is None:
        near = nearest(name, tuple(RULES))
        place.fail(f"unknown transform `{name}`", f"did you mean `{near}`?" if near else f"use {', '.join(RULES)}")
    return reader(options or place.child(name, Node("map", [], "map", *place.node[3:])), shims)


def _header(place: Place, _shims: Mapping[str, ShimSpec]) -> Rule:
    fields = place.fields("text")
    if "text" not in fields:
        place.fail("no `text:`", 'write `header: {text: "Copyright ..."}`')
    return Header(fields["text"].text())


def _imports(place: Place, _shims: Mapping[str, ShimSpec]) -> Rule:
    fields = place.fields("rename")
    return Imports({key: item.module(local=True) for key, item in _optional(fields, "rename")})


def _shim_rule(place: Place, shims: Mapping[str, ShimSpec]) -> Rule:
    fields = place.fields("modules")
    if "modules" not in fields:
        return Shim(tuple(shims))
    modules = fields["modules"].texts()
    for module, item in zip(modules, fields["modules"].items(), strict=True):
        if module not in shims:
            item.fail(f"no shim is declared for `{module}`", f"add `{module}: {{to: ...}}` under `shims:`")
    return Shim(modules)


def _format(place: Place, _shims: Mapping[str, ShimSpec]) -> Rule:
    fields = place.fields("tool", "version", "line-length", "isort", "first-party", "combine-as", "past-noqa")
    if "tool" in fields and fields["tool"].line_of_text() != "ruff":
        fields["tool"].fail(f"unknown formatter `{fields['tool'].text()}`", "use `tool: ruff`")

    def flag(key: str) -> bool:
        return key in fields and fields[key].boolean()

    return Format(
        version=fields["version"].line_of_text() if "version" in fields else None,
        line_length=int(fields["line-length"].number()) if "line-length" in fields else 88,
        isort=flag("isort"),
        first_party=fields["first-party"].texts() if "first-party" in fields else (),
        combine_as=flag("combine-as"),
        past_noqa=flag("past-noqa"),
    )


RULES: Final[Mapping[str, Callable[[Place, Mapping[str, ShimSpec]], Rule]]] = {
    "header": _header,
    "imports": _imports,
    "shim": _shim_rule,
    "format": _format,
}


# ---- digest of the intent ----------------------------------------------------------------------------------

_BYTES = ("url", "from", "to", "files", "transforms", "patches", "imports")


def _intent(fields: Mapping[str, Place], shims: Mapping[str, ShimSpec]) -> str:
    """Digest of what shapes an entry's bytes, as people wrote it; the revision is compared by itself."""
    entry = {key: plain(fields[key].node) for key in _BYTES if key in fields}
    declared = {spec.module: [spec.to, spec.import_, dict(spec.names)] for spec in shims.values()}
    return digest([entry, declared])
