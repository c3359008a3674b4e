"""The `resolved:` block: read from nodes, laid out for writing, sealed against edits by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vendor_tool.lockfile.place import MODULE, Place, digest, plain
from vendor_tool.model import LegalFile, Recorded, RecordedImport, Resolved
from vendor_tool.paths import revision_name, unsafe

_KNOWN = (
    "revision", "tag", "date", "license", "notice", "tools", "shims", "shim-names", "patches", "files", "imports",
    "intent", "seal",
)  # fmt: skip


def layout(resolved: Resolved) -> dict[str, Any]:
    """A Resolved as plain data in the order of the file, without the seal."""
    block: dict[str, Any] = {"revision": resolved.revision}
    if resolved.tag is not None:
        block["tag"] = resolved.tag
    block["date"] = resolved.date
    block["license"] = _legal(resolved.license)
    block["notice"] = _legal(resolved.notice)
    block |= {key: resolved.extra[key] for key in sorted(resolved.extra)}
    if resolved.tools:
        block["tools"] = dict(sorted(resolved.tools.items()))
    if resolved.shims:
        block["shims"] = list(resolved.shims)
    if resolved.shim_names:
        block["shim-names"] = {path: list(names) for path, names in sorted(resolved.shim_names.items())}
    if resolved.patches:
        block["patches"] = dict(resolved.patches)
    if resolved.files:
        block["files"] = [_file(item) for item in resolved.files]
    if resolved.imports:
        block["imports"] = [
            {"name": item.name, "path": item.path, "blob": item.blob, "line": item.line} for item in resolved.imports
        ]
    block["intent"] = resolved.intent
    return block


def _legal(legal: LegalFile | None) -> Any:
    if legal is None:
        return "none"
    block: dict[str, Any] = {"path": legal.path, "blob": legal.blob, "to": legal.to, "sha256": legal.sha256}
    if legal.spdx:
        block["spdx"] = legal.spdx
    if legal.holders:
        block["holders"] = list(legal.holders)
    return block


def _file(item: Recorded) -> dict[str, Any]:
    block: dict[str, Any] = {"path": item.path, "blob": item.blob} if item.path else {}
    block |= {"to": item.to, "sha256": item.sha256}
    if item.executable:
        block["executable"] = True
    for key in ("names", "origins"):
        if getattr(item, key):
            block[key] = list(getattr(item, key))
    if item.license:
        block["license"] = item.license
    return block


def seal(block: Mapping[str, Any]) -> str:
    """Digest of a block's facts: an edit of any of them shows, a change of layout does not."""
    return digest({key: value for key, value in block.items() if key != "seal"})


def read(place: Place) -> Resolved | None:
    """A `resolved:` block; its seal is not looked at. An empty one reads as None."""
    if place.node.kind == "text" and place.node.tag == "null":
        return None
    fields = place.fields()
    if not fields:
        return None
    for key in ("revision", "date", "intent", "seal"):
        if key not in fields:
            place.fail(f"no `{key}:`", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return Resolved(
        at=place.node.at,
        revision=fields["revision"].line_of_text(),
        date=fields["date"].line_of_text(),
        intent=fields["intent"].line_of_text(),
        seal=fields["seal"].line_of_text(),
        tag=_read_tag(fields["tag"]) if "tag" in fields else None,
        license=_read_legal(fields.get("license")),
        notice=_read_legal(fields.get("notice")),
        tools=fields["tools"].mapping_of_text() if "tools" in fields else {},
        shims=tuple(item.local() for item in fields["shims"].items()) if "shims" in fields else (),
        shim_names=_read_shim_names(fields["shim-names"]) if "shim-names" in fields else {},
        patches=fields["patches"].mapping_of_text() if "patches" in fields else {},
        files=_read_files(fields["files"]) if "files" in fields else (),
        imports=tuple(_read_import(item) for item in fields["imports"].items()) if "imports" in fields else (),
        extra={key: plain(value.node) for key, value in fields.items() if key not in _KNOWN},
    )


def _read_shim_names(place: Place) -> dict[str, tuple[str, ...]]:
    """Paths are made of these, so each is a path below the project, or a dotted name with at least one dot."""
    found = {path: value.texts() for path, value in place.fields().items()}
    names = [name for row in found.values() for name in row]
    sound = all("." in name and MODULE.fullmatch(name.removesuffix(".*")) for name in names)
    if not sound or any(unsafe(path) for path in found):
        place.fail("not what `sync` records", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return found


def _read_tag(place: Place) -> str:
    tag = place.line_of_text()
    if not revision_name(tag):
        place.fail(f"`{tag}` cannot be a tag", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return tag


def _read_legal(place: Place | None) -> LegalFile | None:
    if place is None or (place.node.kind == "text" and place.node.text == "none"):
        return None
    fields = place.fields("path", "blob", "to", "sha256", "spdx", "holders")
    text = {key: fields[key].line_of_text() for key in ("path", "blob", "sha256") if key in fields}
    if len(text) != 3 or "to" not in fields:
        place.fail("incomplete", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return LegalFile(
        **text,
        to=fields["to"].local(),
        spdx=fields["spdx"].line_of_text() if "spdx" in fields else None,
        holders=fields["holders"].texts() if "holders" in fields else (),
    )


def _read_files(place: Place) -> tuple[Recorded, ...]:
    if place.node.kind == "rows":
        return place.node.records
    return tuple(_read_file(item) for item in place.items())


def _read_file(place: Place) -> Recorded:
    fields = place.fields("path", "blob", "to", "sha256", "executable", "names", "origins", "license")
    missing = [key for key in ("to", "sha256") if key not in fields]
    if missing or ("path" in fields) != ("blob" in fields):
        place.fail("incomplete", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return Recorded(
        path=fields["path"].line_of_text() if "path" in fields else "",
        blob=fields["blob"].line_of_text() if "blob" in fields else "",
        to=fields["to"].local(),
        sha256=fields["sha256"].line_of_text(),
        at=place.node.at,
        executable=fields["executable"].boolean() if "executable" in fields else False,
        names=fields["names"].texts() if "names" in fields else (),
        origins=fields["origins"].texts() if "origins" in fields else (),
        license=fields["license"].line_of_text() if "license" in fields else None,
    )


def _read_import(place: Place) -> RecordedImport:
    fields = place.fields("name", "path", "blob", "line")
    if len(fields) != 4:
        place.fail("incomplete", "delete the whole `resolved:` block and run `vendor-tool sync`")
    return RecordedImport(
        fields["name"].module(),
        fields["path"].line_of_text(),
        fields["blob"].line_of_text(),
        int(fields["line"].number()),
    )
