"""Evidence in the life of a project: what `parity` recorded, every command tells, until something changes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool import evidence, lockfile
from vendor_tool.errors import ExitCode
from vendor_tool.parity import kernel
from vendor_tool.parity.report import Report, Test

FWD = "import tilelang\nimport os\n\n\n@tilelang.jit\ndef fwd(n):\n    return n + 64\n"
KERNEL = "vendored/demo/fwd.py"
MARKED = 'import pytest\n\npytestmark = pytest.mark.kernel("demo", "fwd.py")\n'
GPU = {"gpu": "NVIDIA H200", "driver": "580.1", "versions": {"torch": "2.11.0+cu130", "tilelang": "0.1.11"}}
SEEN = "verified on 2026-11-30 on NVIDIA H200, driver 580.1, torch 2.11.0+cu130, tilelang 0.1.11"
RULES = "transforms: [shim: {modules: [tilelang]}]"


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    made.commit({"LICENSE": MIT, "pkg/ops/fwd.py": FWD}, "first")
    return made


@pytest.fixture
def verified(tmp_path: Path, upstream: Repository) -> Project:
    """Synced, run elsewhere on a GPU, recorded, and synced again."""
    more = f"license: MIT\nrequires: {{tilelang: '>=0.1.11'}}\n{RULES}\n"
    text = lock(entry(upstream.url, upstream.git("rev-parse", "main"), "[fwd.py]", more=more))
    made = project(tmp_path / "proj", text)
    made.write({"tests/parity/test_fwd.py": MARKED, "fix.patch": PATCH})
    made.done("sync")
    record(made)
    made.done("sync")
    return made


PATCH = """\
Description: faster
--- a/vendored/demo/fwd.py
+++ b/vendored/demo/fwd.py
@@ -7,4 +7,4 @@

 @tilelang.jit
 def fwd(n):
-    return n + 64
+    return n + 65
"""


def record(made: Project) -> str:
    """What `parity --json` of another machine holds, taken into the lock; what was said."""
    read = lockfile.load(made.root / "vendor.lock.yaml")
    resolved = read.upstreams["demo"].resolved
    assert resolved is not None
    named = {"upstream": "demo", "name": "pkg/ops/fwd.py"}
    note = {"check": "error", "name": "y", "value": 1e-3, "limit": 5e-3}
    test = Test("tests/parity/test_fwd.py::test", "passed", "", 0.1, named, GPU, [note])
    path = made.root.parent / "measured.json"
    hashes = kernel.local_hashes(read, resolved)
    Report(7, "2026-11-30", [test], {"demo": hashes}, {"demo": evidence.inputs(read.upstreams["demo"])}).write(path)
    return made.done("parity", "--from", str(path), "--update-evidence").err


def parity_line(made: Project) -> str:
    page = made.read("vendored/PROVENANCE.md").decode()
    return next(line for line in page.splitlines() if line.startswith("- Parity: ")).removeprefix("- Parity: ")


def told(made: Project) -> list[tuple[str, str]]:
    """The rules of parity that `audit` reports, with their messages."""
    found = json.loads(made.run("audit", "--format", "json").out)["findings"]
    return [(one["rule"], one["message"]) for one in found if one["rule"].startswith("PAR")]


def test_every_command_says_which_kernel_was_verified_when_and_on_what(verified: Project) -> None:
    checked = verified.done("check")
    assert (checked.out, checked.err) == ("no findings\n", f"parity: demo: {SEEN}: `{KERNEL}`\n")
    assert verified.done("check") == checked  # from memory
    assert verified.done("--quiet", "check").err == ""
    assert told(verified) == [("PAR-3", f"`fwd.py` was {SEEN}")]
    assert parity_line(verified) == f"{SEEN}: `{KERNEL}`"
    assert f"because {SEEN}, still true" in verified.done("parity", "--plan").out


def edit(old: str, new: str) -> Callable[[Project, Repository], None]:
    """Another text in the lock."""

    def change(made: Project, _upstream: Repository) -> None:
        assert old in made.lock
        made.write({"vendor.lock.yaml": made.lock.replace(old, new, 1)})
        made.done("sync")

    return change


def upgrade(made: Project, upstream: Repository) -> None:
    made.done("sync", f"demo@{upstream.commit({'README': 'x'}, 'second')}")


def known_bad(made: Project, _upstream: Repository) -> None:
    """The stand-in names what it must not be loaded with; nothing of the entry changes."""
    edit("shims:", "known-bad:\n  - {versions: {tilelang: <0.1.9}, reason: wrong}\nshims:")(made, _upstream)


CHANGES: dict[str, tuple[Callable[[Project, Repository], None], str]] = {
    "a rule": (edit("[shim", "[header: {text: ours}, shim"), f"`{KERNEL}` changed"),
    "a tool that shapes bytes": (edit("tilelang]}]", "tilelang]}, format: {version: 0.9.10}]"), "ruff went from none to 0.9.10"),
    "what changes no byte": (edit("[fwd.py]", "[{path: fwd.py, to: fwd.py}]"), "the entry in the lock changed"),
    "a patch": (edit(RULES, f"{RULES}\n    patches: [fix.patch]"), f"`{KERNEL}` changed"),
    "a required version": (edit(">=0.1.11", ">=0.1.10"), "`requires:` of tilelang went from >=0.1.11 to >=0.1.10"),
    "a stand-in": (edit("{to: vendored/_tilelang.py}", "{to: vendored/_tilelang.py, names: {U: tilelang.utils}}"),
                   "the entry in the lock changed, `vendored/_tilelang.py` changed"),
    "the text of a stand-in": (known_bad, "`vendored/_tilelang.py` changed"),
    "the pin": (upgrade, "the pin moved from"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), CHANGES.values(), ids=CHANGES.keys())
def test_all_of_them_say_so_after_a_change_of(
    verified: Project, upstream: Repository, change: Callable[[Project, Repository], None], reason: str
) -> None:
    change(verified, upstream)

    checked = verified.run("check")
    assert (checked.code, checked.out) == (ExitCode.CLEAN, "no findings\n"), checked.err  # stale evidence is no drift
    assert checked.err.startswith("parity: demo: not verified on a GPU (what was seen on 2026-11-30 on NVIDIA H200")
    assert reason in checked.err
    audited = verified.run("audit")
    assert audited.code == ExitCode.FINDINGS
    ((rule, message),) = told(verified)
    assert rule == "PAR-1"
    assert message.startswith(f"`fwd.py` was {SEEN}, stale: ")
    assert all(part in message for part in reason.split(", "))
    assert parity_line(verified).startswith("not verified on a GPU (what was seen on 2026-11-30")
    assert reason in parity_line(verified)
    plan = verified.done("parity", "--plan").out
    assert f"because {SEEN}, stale: " in plan
    assert all(part in plan for part in reason.split(", "))

    record(verified)
    verified.done("sync")
    assert [rule for rule, _message in told(verified)] == ["PAR-3"]


ON_DISK: dict[str, tuple[Callable[[Project], None], str]] = {
    "a vendored file that was edited": (
        lambda made: made.write({KERNEL: made.read(KERNEL).decode() + "#\n"}), f"`{KERNEL}` changed"),
    "a vendored file that is gone": (lambda made: (made.root / KERNEL).unlink(), f"`{KERNEL}` is gone"),
    "a patch that was edited": (lambda made: made.write({"fix.patch": PATCH + "\n"}), "the patches changed"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "reason"), ON_DISK.values(), ids=ON_DISK.keys())
def test_what_stands_on_the_disk_is_what_must_have_been_verified(
    verified: Project, change: Callable[[Project], None], reason: str
) -> None:
    verified.write({"vendor.lock.yaml": verified.lock.replace(RULES, f"{RULES}\n    patches: [fix.patch]", 1)})
    verified.done("sync")
    record(verified)
    verified.done("sync")
    assert [rule for rule, _message in told(verified)] == ["PAR-3"]

    change(verified)

    stale = f"on NVIDIA H200 is stale: {reason}"
    assert stale in verified.run("check").err
    assert told(verified) == [("PAR-1", f"`fwd.py` was {SEEN}, stale: {reason}")]
    assert f"because {SEEN}, stale: {reason}" in verified.done("parity", "--plan").out


def test_versions_that_became_known_to_be_bad_are_no_evidence_any_more(verified: Project) -> None:
    bad = "known-bad:\n  - {versions: {tilelang: ==0.1.11}, reason: NaN in dq}\n"
    verified.write({"vendor.lock.yaml": verified.lock.replace("shims:", f"{bad}shims:", 1)})
    verified.done("sync")

    reason = "tilelang 0.1.11 is known to be bad: NaN in dq"
    assert reason in verified.run("check").err
    assert [rule for rule, message in told(verified) if message.endswith(reason)] == ["PAR-1"]
    assert reason in next(line for line in verified.done("parity", "--plan").out.splitlines() if "stale: " in line)
    assert parity_line(verified).startswith("not verified on a GPU (what was seen on 2026-11-30")
    assert reason in parity_line(verified)


def test_a_note_that_changes_no_byte_makes_the_page_stale(verified: Project) -> None:
    """What the stand-in does not speak of, such as a library beside the runtime, changes no vendored file."""
    bad = "known-bad:\n  - {versions: {Torch: '>=2.11,<2.12'}, reason: NaN in dq}\n"
    verified.write({"vendor.lock.yaml": verified.lock.replace("shims:", f"{bad}shims:", 1)})
    assert "[drift-document]" in verified.run("check").out
    verified.done("sync")

    reason = "torch 2.11.0+cu130 is known to be bad: NaN in dq"
    assert parity_line(verified).endswith(f"on NVIDIA H200 is stale: {reason})")
    assert told(verified) == [("PAR-1", f"`fwd.py` was {SEEN}, stale: {reason}")]
    assert f"because {SEEN}, stale: {reason}\n" in verified.done("parity", "--plan").out


def test_versions_that_are_known_to_be_bad_give_no_evidence(verified: Project) -> None:
    bad = "known-bad:\n  - {versions: {torch: ==2.11.*}, reason: NaN in dq}\n"
    verified.write({"vendor.lock.yaml": verified.lock.replace("shims:", f"{bad}shims:", 1)})
    before = verified.lock
    said = record(verified)
    assert "no evidence recorded: demo on NVIDIA H200: torch 2.11.0+cu130 is known to be bad: NaN in dq\n" in said
    assert verified.lock == before


def test_an_entry_that_was_edited_and_not_synced_is_stale_at_once(verified: Project) -> None:
    verified.write({"vendor.lock.yaml": verified.lock.replace(">=0.1.11", ">=0.1.12", 1)})
    assert told(verified)[0][1].endswith("`requires:` of tilelang went from >=0.1.11 to >=0.1.12")
    assert "stale: `requires:` of tilelang" in verified.done("parity", "--plan").out


def test_a_kernel_that_nobody_verified_is_told_as_a_note_where_there_are_tests(verified: Project) -> None:
    text = verified.lock
    start = text.index("      evidence:\n")
    end = text.index("      tools:\n", text.index("kernels:", start))
    verified.write({"vendor.lock.yaml": text[:start] + text[end:]})
    verified.done("sync")
    assert verified.done("check").err == ""
    assert told(verified) == [("PAR-2", "`fwd.py` is not verified on a GPU")]
    (verified.root / "tests/parity/test_fwd.py").unlink()
    assert told(verified) == []
