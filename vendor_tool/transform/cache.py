"""Plain files of an earlier run, under a digest of everything that shapes them.

The folder is the user's cache: a damaged or missing entry is a miss, and a folder that cannot be written costs time.
"""

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vendor_tool.findings import Finding
from vendor_tool.model import Context, FileSpec, Rule, Source

Entry = tuple[bytes | None, tuple[str, ...], tuple[Finding, ...]]
"""Of one file: its plain bytes, None where they are upstream's own; the names that changed; the notes."""


def key(
    items: Sequence[tuple[Source, FileSpec]],
    rules: Sequence[Rule] | None,
    context: Context,
    revision: str,
    tools: Mapping[str, str],
) -> str:
    """The digest of all inputs. The revision stands for the listing, and git ids for the contents: neither
    `context.listing` nor `Source.data` is looked at.
    """
    facts = (
        _code(),
        sorted(tools.items()),
        repr(rules),
        [(s.blob, s.path, s.to, spec.only, spec.drop, repr(spec.rules)) for s, spec in items],
        (context.upstream, revision, sorted(context.files.items())),
        [(s.module, s.to, s.import_, sorted(s.names.items())) for _, s in sorted(context.shims.items())],
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@functools.cache
def _code() -> str:
    """A digest of the rules themselves, so that a changed program never reads what another one wrote."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted((*here.glob("*.py"), *here.parent.glob("templates/*"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read(folder: Path, name: str) -> tuple[Entry, ...] | None:
    """What was written under the name; None where there is nothing, or nothing whole."""
    try:
        data = (folder / name[:2] / name).read_bytes()
    except OSError:
        return None
    seal, _, body = data.partition(b"\n")
    if seal.decode("ascii", "replace") != hashlib.sha256(body).hexdigest():
        return None
    head, _, rest = body.partition(b"\n")
    entries: list[Entry] = []
    start = 0
    for size, names, notes in json.loads(head):
        plain = None if size is None else rest[start : start + size]
        entries.append((plain, tuple(names), tuple(Finding(**note) for note in notes)))
        start += size or 0
    return tuple(entries)


def _plain(note: Finding) -> dict[str, object]:
    from dataclasses import asdict  # slow to load, and notes are rare

    return asdict(note)


def write(folder: Path, name: str, entries: Sequence[Entry]) -> None:
    """Keeps the entries under the name, all or nothing."""
    sizes = (None if data is None else len(data) for data, _, _ in entries)
    rows = zip(sizes, entries, strict=True)
    head = json.dumps([(size, names, [_plain(note) for note in notes]) for size, (_, names, notes) in rows])
    body = head.encode() + b"\n" + b"".join(data for data, _, _ in entries if data)
    place = folder / name[:2]
    import tempfile  # only a miss pays for it

    # the run has its result: a full or read-only cache must not fail it
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        Path(temporary).replace(place / name)
