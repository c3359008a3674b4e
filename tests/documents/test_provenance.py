"""PROVENANCE.md states all that hand-made docstrings state, derived from the lock."""

from dataclasses import replace
from hashlib import sha256

from tests.support import rights
from vendor_tool.documents import provenance
from vendor_tool.legal import Facts
from vendor_tool.model import (
    At,
    FileSpec,
    Format,
    Header,
    Imports,
    KnownBad,
    PatchSpec,
    RecordedImport,
    Shim,
    ShimSpec,
    Upstream,
)

AT = At(1, 1)
FILE = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 2\n")
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={"vendored/mid/fwd.py": (rights.origin(),)})
SHIMS = {"tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", AT)}
PATCH = b"Description: pad short sequences\nAuthor: A. Writer\n\n--- a/vendored/mid/fwd.py\n+++ b/vendored/mid/fwd.py\n"
B, A = rights.REVISION, rights.ROOT_REVISION

ENTRY = replace(
    rights.upstream(FILE, facts=FACTS),
    rules=(
        Header("Copyright 2026 Us\n\nSee NOTICE."),
        Imports({"mid.utils": "ours.utils"}),
        Shim(("tilelang",)),
        Format(version="0.9.10", line_length=120, isort=True),
    ),
    files=(FileSpec("fwd.py", None, AT, drop=("Old", "Older")),),
    patches=(PatchSpec("patches/mid/0001-pad.patch", AT),),
    requires={"tilelang": ">=0.1.11", "demo-lib": "==2"},
)
USED = rights.upstream(name="used", url="https://github.com/acme/used", license_=None, declared="MIT")
assert USED.resolved is not None
USED = replace(
    USED,
    from_="",
    resolved=replace(USED.resolved, imports=(RecordedImport("used.ops.go", "used/ops.py", "c" * 40, 7),)),
)
LOCK = replace(
    rights.lock(ENTRY, USED, shims=SHIMS),
    known_bad=(KnownBad(AT, "aborts", "https://example.org/1", {"tilelang": "==0.1.11", "demo-lib": ">=3"}),),
)
PAGE = f"""\
# Provenance

Written by vendor-tool from `vendor.lock.yaml`; edits are lost.

## mid

- Project: <https://github.com/mid/plugins>
- Branch: `main`
- Revision: `{B}`
- Date of the revision: 2026-03-04T05:06:07+01:00
- Source tree: <https://github.com/mid/plugins/tree/{B}/ops>
- Licence: Apache-2.0
- Licence text: `vendored/LICENSES/mid/LICENSE`
- Licence file: [`LICENSE`](https://github.com/mid/plugins/blob/{B}/LICENSE)
- Copyright notice: Copyright 2025 Mid Labs
- NOTICE file: none at this revision
- Parity: not verified on a GPU

### Files

| Local file | Upstream file | Licence |
| --- | --- | --- |
| [`mid/fwd.py`](mid/fwd.py) | [`ops/fwd.py`](https://github.com/mid/plugins/blob/{B}/ops/fwd.py) | Apache-2.0 |

### Origins

- `mid/fwd.py` was made from [`https://github.com/roots/kern` examples/fwd.py](https://github.com/roots/kern/blob/{A}/examples/fwd.py)
- https://github.com/roots/kern at `{A}`: MIT; Copyright (c) 2024 The Demo Authors; [text](LICENSES/mid/roots__kern/LICENSE)

### Local modifications

- header: a comment of 3 lines stands above the file
- imports: modules of the project itself are imported from their vendored copies; further mid.utils as ours.utils
- shim: imports of tilelang through vendored/\\_tilelang.py, loaded at the first call
- format: ruff 0.9.10, line length 120, imports sorted
- fwd.py: without Old, Older
- patches/mid/0001-pad.patch: pad short sequences

### Tool versions

- demo-lib ==2: required
- tilelang >=0.1.11: required
- demo-lib >=3 with tilelang ==0.1.11: known to be bad, aborts (https://example.org/1)

## used

- Project: <https://github.com/acme/used>
- Branch: `main`
- Revision validated against: `{B}`
- Date of the revision: 2026-03-04T05:06:07+01:00
- Licence: MIT
- Licence text: none at this revision
- NOTICE file: none at this revision

### Imported at run time, not copied

- `used.ops.go`, validated against [`used/ops.py`](https://github.com/acme/used/blob/{B}/used/ops.py#L7)
"""


def test_the_page_holds_every_fact_of_the_lock() -> None:
    found = provenance.render(LOCK, {"patches/mid/0001-pad.patch": PATCH})
    assert {path: data.decode() for path, data in found.items()} == {"vendored/PROVENANCE.md": PAGE}


def test_each_top_folder_has_its_page() -> None:
    other = rights.recorded("ops/a.py", "third_party/far/a.py", b"", b"")
    lock = rights.lock(ENTRY, rights.upstream(other, name="far", to="third_party/far"))
    assert sorted(provenance.render(lock, {})) == ["third_party/PROVENANCE.md", "vendored/PROVENANCE.md"]


def test_a_lock_that_was_never_synced_has_no_page() -> None:
    assert provenance.render(rights.lock(replace(ENTRY, resolved=None)), {}) == {}


def test_signs_of_the_lock_s_words_cannot_break_the_page() -> None:
    holder = "Copyright 2024 <b>A|B</b> [x](y)"
    license_ = replace(rights.MID_LICENSE, holders=(holder,))
    page = provenance.render(rights.lock(rights.upstream(FILE, license_=license_)), {})[
        "vendored/PROVENANCE.md"
    ].decode()
    assert "- Copyright notice: Copyright 2024 \\<b>A\\|B\\</b> \\[x\\](y)\n" in page


def test_parity_is_claimed_for_the_very_files_only() -> None:
    record = rights.upstream(FILE).resolved
    assert record is not None

    def told(*evidence: object) -> str:
        entry = replace(ENTRY, resolved=replace(record, extra={"evidence": list(evidence)}))
        page = provenance.render(rights.lock(entry), {})["vendored/PROVENANCE.md"].decode()
        return next(line for line in page.splitlines() if line.startswith("- Parity"))

    files = {item.to: item.sha256 for item in record.files}
    fresh = {
        "gpu": "H200", "driver": "580", "date": "2026-11-30", "torch": "2.11", "tilelang": "0.1.11",
        "revision": record.revision, "intent": record.intent, "requires": dict(ENTRY.requires), "tools": dict(record.tools),
        "patches": dict(record.patches), "files": files, "kernels": {FILE.path: {"passed": 3}},
    }  # fmt: skip
    seen = f"verified on 2026-11-30 on H200, driver 580, torch 2.11, tilelang 0.1.11: `{FILE.to}`"
    assert told(fresh) == f"- Parity: {seen}"
    stale = told({**fresh, "files": {**files, FILE.to: "0" * 64}})
    assert (
        stale == f"- Parity: not verified on a GPU (what was seen on 2026-11-30 on H200 is stale: `{FILE.to}` changed)"
    )
    assert told({**fresh, "gpu": "A", "revision": "0" * 40}, fresh) == f"- Parity: {seen}"
    assert told() == "- Parity: not verified on a GPU"
    assert told({"gpu": "H200"}, "hand-made") == "- Parity: not verified on a GPU"


def test_a_stand_in_that_changed_makes_evidence_stale_here_as_well() -> None:
    record = rights.upstream(FILE).resolved
    assert record is not None
    files = {FILE.to: FILE.sha256, "vendored/_tilelang.py": sha256(b"one").hexdigest()}
    seen = {
        "gpu": "H200", "driver": "580", "date": "2026-11-30", "revision": record.revision, "intent": record.intent,
        "requires": dict(ENTRY.requires), "tools": {}, "patches": {}, "files": files, "kernels": {FILE.path: {"passed": 3}},
    }  # fmt: skip
    shimmed = replace(record, extra={"evidence": [seen]}, shims=("vendored/_tilelang.py",))
    lock = rights.lock(replace(ENTRY, resolved=shimmed))

    def told(stand_in: bytes) -> str:
        page = provenance.render(lock, {"vendored/_tilelang.py": stand_in})["vendored/PROVENANCE.md"].decode()
        return next(line for line in page.splitlines() if line.startswith("- Parity"))

    assert "vendored/_tilelang.py" in provenance.inputs(lock)
    assert told(b"one").startswith("- Parity: verified on 2026-11-30")
    assert told(b"two").endswith("is stale: `vendored/_tilelang.py` changed)")


def test_a_run_time_import_is_told_of_once_it_was_verified() -> None:
    record = rights.upstream().resolved
    assert record is not None
    seen = {
        "gpu": "H200", "driver": "580", "date": "2026-11-30", "torch": "2.11", "revision": record.revision,
        "intent": "", "tools": {}, "patches": {}, "files": {}, "kernels": {"lib.fast": {"passed": 3}},
    }  # fmt: skip
    imports = (RecordedImport("lib.fast", "lib/fast.py", "1" * 40, 3),)
    entry = replace(rights.upstream(), imports=("lib.fast",), resolved=replace(record, imports=imports))
    assert entry.resolved is not None
    verified = replace(entry, resolved=replace(entry.resolved, extra={"evidence": [seen]}))

    def page(one: Upstream) -> str:
        return provenance.render(rights.lock(one), {})["vendored/PROVENANCE.md"].decode()

    assert "- Parity" not in page(entry)
    assert "- Parity: verified on 2026-11-30 on H200, driver 580, torch 2.11: `lib.fast`\n" in page(verified)


def test_pairs_of_the_required_tools_that_are_known_to_be_bad_are_named() -> None:
    entry = replace(ENTRY, requires={"tilelang": ">=0.1.11", "apache-tvm-ffi": "==0.1.11"})
    page = provenance.render(rights.lock(entry), {})["vendored/PROVENANCE.md"].decode()
    (line,) = [one for one in page.splitlines() if "aborts" in one]
    assert line.startswith(
        "- apache-tvm-ffi >=0.1.12 with tilelang >=0.1.10,\\<=0.1.12: known to be bad, importing tilelang aborts"
    )
    assert "tile-kernels" not in page
