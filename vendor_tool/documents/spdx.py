"""SPDX 2.3 JSON: vendored files as packages that descend from their upstreams.

Source: https://spdx.github.io/spdx-spec/v2.3/
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from vendor_tool import legal
from vendor_tool.documents.cyclonedx import inputs
from vendor_tool.documents.notice import vendored
from vendor_tool.errors import UsageError
from vendor_tool.links import purl, swhid
from vendor_tool.model import LegalFile, Lock, Recorded, Upstream
from vendor_tool.urls import plain_url

__all__ = ["inputs", "render"]

_REFERENCE = re.compile(r"LicenseRef-[A-Za-z0-9.-]+")


def render(lock: Lock, texts: Mapping[str, bytes]) -> bytes:
    """The document; the same lock and files give the same bytes: its date is that of the newest revision.

    Raises UsageError where a vendored file is missing, for SPDX wants its SHA-1.
    """
    packages: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    relations: list[dict[str, str]] = []
    for upstream in vendored(lock):
        own = [_file(upstream, file, texts) for file in (upstream.resolved.files if upstream.resolved else ())]
        files += own
        packages += _packages(upstream, own)
        relations += _relations(upstream, own)
    body = {
        "packages": packages,
        "files": files,
        "relationships": relations,
        "hasExtractedLicensingInfos": list(_extracted(packages, files)),
    }
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    head = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": lock.project.name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{_id(lock.project.name)}-{digest[:32]}",
        "creationInfo": {"created": _newest(lock), "creators": ["Tool: vendor-tool"]},
    }
    kept = {name: value for name, value in body.items() if value}
    return (json.dumps({**head, **kept}, indent=2, ensure_ascii=False) + "\n").encode()


def _file(upstream: Upstream, file: Recorded, texts: Mapping[str, bytes]) -> dict[str, Any]:
    data = texts.get(file.to)
    if data is None:
        raise UsageError(f"`{file.to}` is recorded and not there", hint="run `vendor-tool sync`")
    license_ = legal.declared(upstream, file) or file.license or "NOASSERTION"
    return {
        "SPDXID": f"SPDXRef-File-{_id(file.to)}",
        "fileName": f"./{file.to}",
        "checksums": [
            {"algorithm": "SHA1", "checksumValue": hashlib.sha1(data, usedforsecurity=False).hexdigest()},
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()},
        ],
        "fileTypes": ["SOURCE"],
        "licenseConcluded": license_,
        "licenseInfoInFiles": sorted(legal.identifiers(file.license)) or ["NOASSERTION"],
        "copyrightText": _copyright(upstream.resolved.license if upstream.resolved else None),
    }


def _packages(upstream: Upstream, files: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    record = upstream.resolved
    if record is None:
        return
    facts = legal.read(record)
    spdx = upstream.license or (record.license.spdx if record.license else None) or "NOASSERTION"
    whole = dict.fromkeys([spdx, *(one.license.spdx for one in facts.ancestors if one.license and one.license.spdx)])
    checksums = sorted(one["checksums"][0]["checksumValue"] for one in files)
    code = hashlib.sha1("".join(checksums).encode(), usedforsecurity=False).hexdigest()
    yield {
        "SPDXID": f"SPDXRef-Vendored-{_id(upstream.name)}",
        "name": f"{upstream.name}-vendored",
        "versionInfo": record.revision,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "licenseConcluded": _joined(list(whole)),
        "licenseDeclared": spdx,
        "licenseInfoFromFiles": sorted({name for one in files for name in one["licenseInfoInFiles"]}),
        "copyrightText": _copyright(record.license),
        "supplier": "NOASSERTION",
        "attributionTexts": [
            f"{one.path} of {upstream.name}: see {one.to}" for one in (record.license, record.notice) if one
        ],
    }
    references = [_reference(purl(upstream.url, record.revision))]
    references += [
        {
            "referenceCategory": "PERSISTENT-ID",
            "referenceType": "swh",
            "referenceLocator": swhid(one.blob, url=upstream.url, revision=record.revision, path=one.path).partition(
                ";"
            )[0],
        }
        for one in record.files
        if one.path
    ]
    yield _source(
        f"Upstream-{upstream.name}", upstream.name, upstream.url, record.revision, spdx, record.license, references
    )
    for one in facts.ancestors:
        name = _ancestor_id(upstream, one)
        spdx = one.license.spdx if one.license and one.license.spdx else "NOASSERTION"
        refs = [_reference(purl(one.url, one.revision))]
        yield _source(name, legal.ancestor_folder(one.url), one.url, one.revision, spdx, one.license, refs)


def _source(
    name: str,
    title: str,
    url: str,
    revision: str,
    spdx: str,
    license_: LegalFile | None,
    references: list[dict[str, str]],
) -> dict[str, Any]:
    address = plain_url(url)
    return {
        "SPDXID": f"SPDXRef-{_id(name)}",
        "name": title,
        "versionInfo": revision or "NOASSERTION",
        "downloadLocation": f"git+{address}@{revision}" if "://" in address and revision else "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": spdx,
        "licenseDeclared": spdx,
        "copyrightText": _copyright(license_),
        "supplier": "NOASSERTION",
        "externalRefs": references,
    }


def _relations(upstream: Upstream, files: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    package = f"SPDXRef-Vendored-{_id(upstream.name)}"
    origin = f"SPDXRef-{_id('Upstream-' + upstream.name)}"
    yield _relation("SPDXRef-DOCUMENT", "DESCRIBES", package)
    yield _relation(package, "DESCENDANT_OF", origin)
    for one in files:
        yield _relation(package, "CONTAINS", one["SPDXID"])
        yield _relation(one["SPDXID"], "DESCENDANT_OF", origin)
    for ancestor in legal.read(upstream.resolved).ancestors:
        yield _relation(origin, "DESCENDANT_OF", f"SPDXRef-{_id(_ancestor_id(upstream, ancestor))}")


def _relation(left: str, kind: str, right: str) -> dict[str, str]:
    return {"spdxElementId": left, "relationshipType": kind, "relatedSpdxElement": right}


def _reference(locator: str) -> dict[str, str]:
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}


def _ancestor_id(upstream: Upstream, ancestor: legal.Ancestor) -> str:
    return f"Ancestor-{upstream.name}-{legal.ancestor_folder(ancestor.url)}-{ancestor.revision[:12]}"


def _extracted(packages: list[dict[str, Any]], files: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """SPDX wants the text of every licence that is not on its list; ours are copied as files, so it is a pointer."""
    values = [
        one[field] for one in [*packages, *files] for field in ("licenseConcluded", "licenseDeclared") if field in one
    ]
    values += [name for one in files for name in one["licenseInfoInFiles"]]
    for name in sorted({found for value in values for found in _REFERENCE.findall(value)}):
        yield {"licenseId": name, "extractedText": f"The text of {name} stands in the licence file of its package."}


def _copyright(license_: LegalFile | None) -> str:
    return "\n".join(license_.holders) if license_ and license_.holders else "NOASSERTION"


def _joined(expressions: list[str]) -> str:
    known = [one for one in expressions if one != "NOASSERTION"]
    return " AND ".join(f"({one})" if " OR " in one and len(known) > 1 else one for one in known) or "NOASSERTION"


def _newest(lock: Lock) -> str:
    # git prints UTC as Z from 2.45 on, which Python reads from 3.11 on
    dates = [
        datetime.fromisoformat(re.sub(r"Z\Z", "+00:00", one.resolved.date)) for one in vendored(lock) if one.resolved
    ]
    newest = max(dates, default=datetime(1970, 1, 1, tzinfo=timezone.utc))
    return newest.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _id(name: str) -> str:
    """A name in the letters that SPDX ids may have; a digest keeps two that fall together apart."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
