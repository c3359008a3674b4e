"""A project in which every rule is content: each test breaks one thing of it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import ModuleType

from tests.support import rights
from vendor_tool import documents, licences, origins
from vendor_tool.checks import packages
from vendor_tool.checks.subject import Subject
from vendor_tool.findings import Finding
from vendor_tool.legal import Facts
from vendor_tool.model import Lock, Recorded, Upstream

FWD = "vendored/mid/fwd.py"
BODY = (
    "\n\ndef fwd(total):\n"
    + "".join(f"    total = total * {number + 3}\n" for number in range(8))
    + "    return total\n"
)
PRISTINE = f"# Adapted from {rights.ROOT}/blob/{rights.ROOT_REVISION}/examples/fwd.py\nimport os\n{BODY}"
HEADER = (
    f"# {rights.APACHE_HOLDER}\n"
    "# Modified by Us\n"
    f"# From {rights.MID}/blob/{rights.REVISION}/ops/fwd.py\n"
)  # fmt: skip
LOCAL = HEADER + PRISTINE.replace("import os", "from . import os")
PYPROJECT = """\
[project]
name = "ours"
license = "Apache-2.0 AND MIT"
license-files = ["LICENSE", "NOTICE", "vendored/LICENSES/**"]
dependencies = ["numpy"]
"""
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={FWD: (rights.origin(),)})


def file(text: str = LOCAL, *, upstream: str = PRISTINE, name: str = "fwd.py") -> Recorded:
    return rights.recorded(f"ops/{name}", f"vendored/mid/{name}", upstream.encode(), text.encode())


def entry(text: str = LOCAL, *, upstream: str = PRISTINE, facts: Facts | None = FACTS) -> Upstream:
    return rights.upstream(file(text, upstream=upstream), facts=facts)


def project(lock: Lock, changes: Mapping[str, str | None] | None = None) -> dict[str, bytes]:
    """The files of the project, documents included; None takes one away."""
    files: dict[str, bytes] = {
        FWD: LOCAL.encode(),
        "LICENSE": rights.APACHE.replace(b"Mid Labs", b"Us"),
        "pyproject.toml": PYPROJECT.encode(),
        rights.MID_LICENSE.to: rights.APACHE,
        rights.ROOT_LICENSE.to: rights.MIT,
    }
    files |= {path: blob.data for path, blob in documents.render(lock, files).items()}
    for path, text in (changes or {}).items():
        files.pop(path, None)
        if text is not None:
            files[path] = text.encode()
    return files


def subject(
    one: Upstream | None = None,
    changes: Mapping[str, str | None] | None = None,
    *,
    upstream: str = PRISTINE,
    others: Iterable[Upstream] = (),
    **facts: object,
) -> Subject:
    """The sound project as the rules see it, with an entry, files or facts changed."""
    lock = rights.lock(one or entry(), *others)
    local = project(lock, changes)
    paths = [
        found.to for up in lock.upstreams.values() if up.resolved for found in up.resolved.files if found.to in local
    ]
    head = upstream.encode()
    return replace(
        Subject(
            lock=lock,
            local=local,
            headers={path: licences.header(local[path], path) for path in paths},
            claims={path: tuple(origins.claims(local[path], path)) for path in paths},
            pristine={rights.blob(head): head},
            upstream_headers={rights.blob(head): licences.header(head, "a.py")},
            texts={
                path: licences.detect(data.decode())
                for path, data in local.items()
                if "LICENSES/" in path or path == "LICENSE"
            },
            project=packages.pyproject(local["pyproject.toml"]) if "pyproject.toml" in local else None,
        ),
        **facts,  # type: ignore[arg-type]  # fields of Subject by name
    )


def found(check: ModuleType, subject_: Subject) -> list[tuple[str, str | None, int | None, str]]:
    """Rule, path, line and message of every finding."""
    findings: list[Finding] = list(check.check(subject_))
    return [(one.rule, one.path, one.line, one.message) for one in findings]
