"""`audit` on projects that `sync` really made: gathered from disk, cache and installed metadata, offline."""

import subprocess
import sys
from pathlib import Path

import pytest

import vendor_tool
from tests.support import rights
from tests.support.project import Project, entry, lock, project
from tests.support.upstream import File, Repository, repository
from vendor_tool import lockfile
from vendor_tool.findings import Finding
from vendor_tool.model import Access
from vendor_tool.pipeline.audit import AUDITS, audit

BODY = (
    "import tilelang\n\n\ndef fwd(n):\n"
    + "".join(f"    n = n * {number + 3}\n" for number in range(9))
    + "    return n\n"
)
NOTICE = "Demo Plugins\nCopyright 2024 The Demo Authors\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": rights.APACHE, "NOTICE": NOTICE, "pkg/ops/fwd.py": BODY}, "first")
    return made


def consumer(root: Path, upstream: Repository, *, more: str = "") -> Project:
    lines = f"license: Apache-2.0\n{more}"
    return project(root, lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]", more=lines)))


def findings(made: Project, cache: Path) -> list[Finding]:
    return audit(lockfile.load(made.root / "vendor.lock.yaml"), Access(cache, offline=True))


def told(found: list[Finding]) -> list[tuple[str, str | None]]:
    return [(one.rule, one.path) for one in found]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vendor-tool"


FWD = "vendored/demo/fwd.py"


def test_what_sync_wrote_is_sound_but_for_the_header_that_nobody_asked_for(
    tmp_path: Path, upstream: Repository, cache: Path
) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    before = made.tree()
    assert told(findings(made, cache)) == [("LIC-A2", FWD), ("PROV-8", FWD)]
    assert made.tree() == before


def test_texts_that_somebody_takes_away_are_missed(tmp_path: Path, upstream: Repository, cache: Path) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    (made.root / "NOTICE").write_text("Ours.\n")
    (made.root / "vendored/LICENSES/demo/LICENSE").unlink()
    rules = [one.rule for one in findings(made, cache)]
    assert {"LIC-A1", "LIC-A3", "LIC-A4"} <= set(rules)


def test_an_edit_in_place_and_a_file_of_nobody_are_found(tmp_path: Path, upstream: Repository, cache: Path) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    made.write({FWD: made.read(FWD).replace(b"n * 5", b"n * 6"), "vendored/demo/own.py": "x = 1\n"})
    rules = told(findings(made, cache))
    assert ("PROV-6", FWD) in rules
    assert ("PROV-7", "vendored/demo/own.py") in rules


def test_an_empty_cache_leaves_out_the_rules_that_compare(tmp_path: Path, upstream: Repository, cache: Path) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    assert told(findings(made, tmp_path / "no-cache")) == [("PROV-8", FWD)]


def test_a_level_of_the_lock_is_taken_and_a_wrong_one_is_refused(
    tmp_path: Path, upstream: Repository, cache: Path
) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    policy = (
        '  audit:\n    PROV-8: {level: "off", reason: no headers}\n    LIC-A2: {level: note, reason: under review}\n'
    )
    made.write({"vendor.lock.yaml": made.lock.replace("shims:", f"{policy}shims:", 1)})
    assert [(one.rule, one.level) for one in findings(made, cache)] == [("LIC-A2", "note")]


def test_versions_are_read_from_metadata_and_the_runtime_is_never_imported(
    tmp_path: Path, upstream: Repository
) -> None:
    site = tmp_path / "site"
    for name, version in (("tilelang", "0.1.11"), ("apache_tvm_ffi", "0.1.12")):
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
    (site / "tilelang").mkdir()
    (site / "tilelang" / "__init__.py").write_text("import os\nos.abort()\n")
    made = consumer(tmp_path / "proj", upstream, more='requires: {tilelang: ">=0.1.11", apache-tvm-ffi: "==0.1.11"}\n')
    made.done("sync")
    code = (
        "import sys; from pathlib import Path; from vendor_tool import lockfile; from vendor_tool.model import Access\n"
        "from vendor_tool.pipeline.audit import audit\n"
        "for one in audit(lockfile.load(Path('vendor.lock.yaml')), Access(Path('cache'), offline=True)):\n"
        "    print(one.rule, one.message)\n"
    )
    path = f"{site}:{Path(__file__).parents[2]}"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=made.root,
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    told_ = [line for line in ran.stdout.splitlines() if line.startswith("REQ")]
    assert told_[0] == "REQ-1 apache-tvm-ffi 0.1.12 is installed, demo requires apache-tvm-ffi ==0.1.11"
    assert told_[1].startswith("REQ-2 apache-tvm-ffi 0.1.12 with tilelang 0.1.11 is installed:")


def test_every_module_with_rules_is_part_of_the_audit() -> None:
    folder = Path(vendor_tool.__file__).parent / "checks"
    modules = {
        path.stem for path in folder.glob("*.py") if "RULES: Mapping" in path.read_text() and path.stem != "drift"
    }
    assert {one.__name__.rpartition(".")[2] for one in AUDITS} == modules


def online(made: Project, cache: Path) -> list[tuple[str, str]]:
    found = audit(lockfile.load(made.root / "vendor.lock.yaml"), Access(cache), online=True)
    return [(one.rule, one.message) for one in found if one.rule in ("PROV-4", "PROV-9", "PROV-10", "LIC-X3")]


def test_online_an_upstream_that_stands_where_it_stood_is_sound(
    tmp_path: Path, upstream: Repository, cache: Path
) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    assert online(made, cache) == []


def test_online_a_file_a_licence_and_a_notice_that_changed_are_told(
    tmp_path: Path, upstream: Repository, cache: Path
) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    pin = upstream.git("rev-parse", "main")[:12]
    upstream.commit({"LICENSE": rights.MIT, "NOTICE": None, "pkg/ops/fwd.py": None, "other.py": "x = 1\n"}, "second")
    assert sorted(online(made, cache)) == [
        ("LIC-X3", f"the NOTICE file of demo changed since {pin}"),
        ("LIC-X3", f"the licence file of demo changed since {pin}"),
        ("PROV-9", "`pkg/ops/fwd.py` is gone from the head of demo"),
    ]


def test_online_a_pin_that_only_a_pull_request_holds_is_told(tmp_path: Path, upstream: Repository, cache: Path) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    pin = upstream.git("rev-parse", "main")
    files: dict[str, File] = {"LICENSE": rights.APACHE, "NOTICE": NOTICE, "pkg/ops/fwd.py": BODY, "new.py": "x = 1\n"}
    upstream.commit(files, "another history", ref="refs/heads/fresh")
    upstream.git("update-ref", "refs/pull/7/head", pin)
    upstream.git("update-ref", "refs/heads/main", upstream.git("rev-parse", "refs/heads/fresh"))
    upstream.git("update-ref", "-d", "refs/heads/fresh")
    assert online(made, cache) == [("PROV-4", f"{pin[:12]} of demo is on no branch and no tag of {upstream.url}")]


def test_online_an_upstream_that_gives_no_answer_is_left_to_outdated(
    tmp_path: Path, upstream: Repository, cache: Path
) -> None:
    made = consumer(tmp_path / "proj", upstream)
    made.done("sync")
    upstream.path.rename(tmp_path / "elsewhere.git")
    assert online(made, cache) == []
