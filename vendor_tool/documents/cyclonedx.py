"""CycloneDX 1.6 JSON: each vendored file with its pedigree to the root, its patches, purl and SWHID.

Source: https://cyclonedx.org/docs/1.6/json/
"""

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vendor_tool import legal
from vendor_tool.documents import entry
from vendor_tool.legal import Ancestor, Origin
from vendor_tool.links import key, permalink, purl, swhid
from vendor_tool.model import LegalFile, Lock, Recorded, Upstream
from vendor_tool.urls import plain_url


def inputs(lock: Lock) -> list[str]:
    """The vendored files themselves and the patches."""
    found = [file.to for one in lock.upstreams.values() if one.resolved for file in one.resolved.files]
    return found + [patch.path for one in lock.upstreams.values() for patch in one.patches]


def render(lock: Lock, texts: Mapping[str, bytes]) -> bytes:
    """The bill of materials; the same lock and files give the same bytes, for it holds no time of its own."""
    components = [one for _name, up in sorted(lock.upstreams.items()) for one in _components(up, lock, texts)]
    body: dict[str, Any] = {
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "project",
                "name": lock.project.name,
                **_licenses(lock.project.license),
            },
            "tools": {"components": [{"type": "application", "name": "vendor-tool"}]},
        },
        "components": components,
        "dependencies": [
            {"ref": "project", "dependsOn": [one["bom-ref"] for one in components]},
            *({"ref": one["bom-ref"]} for one in components),
        ],
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
    }
    return (json.dumps({**head, **body}, indent=2, ensure_ascii=False) + "\n").encode()


def _components(upstream: Upstream, lock: Lock, texts: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    record = upstream.resolved
    if record is None:
        return
    for file in record.files:
        yield _file(upstream, file, lock, texts)
    if record.imports:
        yield {
            "type": "library",
            "bom-ref": f"import:{upstream.name}",
            "name": upstream.name,
            "version": record.revision,
            "description": f"imported at run time: {', '.join(one.name for one in record.imports)}",
            "scope": "optional",
            **_licenses(upstream.license or (record.license.spdx if record.license else None)),
            **_copyright(record.license),
            "purl": purl(upstream.url, record.revision),
        }


def _file(upstream: Upstream, file: Recorded, lock: Lock, texts: Mapping[str, bytes]) -> dict[str, Any]:
    data = texts.get(file.to)
    return {
        "type": "file",
        "bom-ref": f"file:{file.to}",
        "name": file.to,
        "hashes": [{"alg": "SHA-256", "content": file.sha256}],
        **_licenses(_expression(upstream, file)),
        **({"swhid": [f"swh:1:cnt:{_blob(data)}"]} if data is not None else {}),
        "pedigree": _pedigree(upstream, file, lock, texts),
    }


def _expression(upstream: Upstream, file: Recorded) -> str | None:
    known = [legal.declared(upstream, file) or file.license]
    known += [one.license.spdx for one in _ancestors(upstream, file) if one.license]
    found = list(dict.fromkeys(one for one in known if one))
    return " AND ".join(f"({one})" if " OR " in one and len(found) > 1 else one for one in found) or None


def _ancestors(upstream: Upstream, file: Recorded) -> list[Ancestor]:
    facts = legal.read(upstream.resolved)
    places = {(key(one.url), one.revision) for one in facts.origins.get(file.to, ())}
    return [one for one in facts.ancestors if (key(one.url), one.revision) in places]


def _pedigree(upstream: Upstream, file: Recorded, lock: Lock, texts: Mapping[str, bytes]) -> dict[str, Any]:
    record = upstream.resolved
    revision = record.revision if record else upstream.revision
    chain = legal.read(record).origins.get(file.to, ())
    pedigree: dict[str, Any] = {}
    if file.path:
        direct = _ancestor(
            upstream.url, revision, file.path, file.blob, upstream.license, record.license if record else None
        )
        nested = _nested(upstream, chain, file.path, 1)
        if nested:
            direct["pedigree"] = {"ancestors": nested}
        pedigree["ancestors"] = [direct]
        pedigree["commits"] = [{"uid": revision, "url": permalink(upstream.url, revision, file.path)}]
    patches = [
        {"type": "unofficial", "diff": {"text": {"contentType": "text/x-diff", "content": text}}}
        for spec in upstream.patches
        if spec.path in texts and file.to in (text := texts[spec.path].decode("utf-8", "replace"))
    ]
    if patches:
        pedigree["patches"] = patches
    pedigree["notes"] = "; ".join(entry.modifications(upstream, lock, texts)) or "unchanged"
    return pedigree


def _nested(upstream: Upstream, chain: Sequence[Origin], named_in: str, hop: int) -> list[dict[str, Any]]:
    """The origins that a file names, each with those that it names in turn."""
    known = {(key(one.url), one.revision): one for one in legal.read(upstream.resolved).ancestors}
    found: list[dict[str, Any]] = []
    for origin in chain:
        if origin.hop != hop or origin.named_in != named_in:
            continue
        ancestor = known.get((key(origin.url), origin.revision))
        own = upstream.resolved.license if upstream.resolved and key(origin.url) == key(upstream.url) else None
        license_ = ancestor.license if ancestor else own
        one = _ancestor(origin.url, origin.revision, origin.path, None, None, license_)
        # one sentence can name an origin and the origin's origin, then both are named in the same file
        deeper = [] if found else _nested(upstream, chain, named_in, hop + 1)
        deeper += _nested(upstream, chain, origin.path, hop + 1) if origin.path != named_in else []
        if deeper:
            one["pedigree"] = {"ancestors": deeper}
        found.append(one)
    return found


def _ancestor(
    url: str, revision: str, path: str, blob: str | None, declared: str | None, license_: LegalFile | None
) -> dict[str, Any]:
    return {
        "type": "file",
        "name": path or plain_url(url),
        "version": revision,
        **_licenses(declared or (license_.spdx if license_ else None)),
        **_copyright(license_),
        "purl": purl(url, revision, path),
        **({"swhid": [swhid(blob, url=url, revision=revision, path=path)]} if blob else {}),
        "externalReferences": [{"type": "vcs", "url": plain_url(url)}],
    }


def _licenses(expression: str | None) -> dict[str, Any]:
    return {"licenses": [{"expression": expression}]} if expression else {}


def _copyright(license_: LegalFile | None) -> dict[str, str]:
    return {"copyright": "\n".join(license_.holders)} if license_ and license_.holders else {}


def _blob(data: bytes) -> str:
    """The git blob id, which is the archive's content id as well."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
