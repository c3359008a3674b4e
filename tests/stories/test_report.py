"""`report --html`: what a lead, a lawyer and a reviewer get from a project, offline, and the same every time."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tests.support import page as pages
from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository
from vendor_tool.errors import ExitCode

FWD = "import tilelang\n\n\n@tilelang.jit\ndef fwd(n):\n    return n + 64\n"
ODD = "<b>&'odd'.py"
PATCH = """\
Description: pad <script>alert(1)</script> rows
Author: A. Writer <writer@example.org>
Forwarded: javascript:alert(1)
Bug: https://user:s3cret@example.org/7?token=s3cret

--- a/vendored/demo/fwd.py
+++ b/vendored/demo/fwd.py
@@ -5,2 +5,3 @@
 def fwd(n):
-    return n + 64
+    n = max(n, 1)
+    return n + 65
"""


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    made = repository(tmp_path / "up.git")
    holder = "Copyright (c) 2025 <img src=x onerror=alert(1)> Authors"
    made.commit(
        {
            "LICENSE": MIT.replace("Copyright (c) 2025 The Demo Authors", holder),
            "pkg/ops/fwd.py": FWD,
            f"pkg/ops/{ODD}": "x = 1\n",
        }
    )
    return made


@pytest.fixture
def consumer(tmp_path: Path, upstream: Repository) -> Project:
    return synced(tmp_path / "here" / "consumer", upstream)


def synced(root: Path, upstream: Repository) -> Project:
    """A project with two files of the upstream, a rule and a patch; its lock names odd things."""
    more = "license: MIT\nrequires: {tilelang: '>=0.1.11'}\npatches: [patches/demo/0001-pad.patch]\n"
    files = f'[fwd.py, "{ODD}"]'
    text = lock(entry(upstream.url, upstream.git("rev-parse", "main"), files, more=more))
    text = text.replace("name: consumer", "name: <script>alert(1)</script> & sons", 1)
    made = project(root, text)
    made.write({"patches/demo/0001-pad.patch": PATCH})
    made.done("sync")
    return made


def report(made: Project) -> pages.Page:
    """The page that the command writes, which must be sound."""
    made.done("report", "--html", "page.html")
    page = pages.read(made.read("page.html").decode())
    assert list(pages.problems(page)) == []
    return page


def test_page_tells_what_is_vendored_from_where_on_which_terms_and_changed_how(
    consumer: Project, upstream: Repository
) -> None:
    pin = upstream.git("rev-parse", "main")
    page = report(consumer)
    title = page.find("head/title")
    assert title is not None
    assert title.text == "Vendored code of <script>alert(1)</script> & sons"
    holds, parity = "2 files, 1 patch", "not verified on a GPU"
    assert pages.table(page, "Every upstream of the lock") == [
        ["demo", upstream.url, pin[:12], "2023-11-14", "MIT", holds, parity]
    ]
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in consumer.tree("vendored/demo").items()}
    assert pages.table(page, "Files of demo") == [
        [f"vendored/demo/{ODD}", f"pkg/ops/{ODD}", "MIT", "", "", digests[f"vendored/demo/{ODD}"]],
        [
            "vendored/demo/fwd.py",
            "pkg/ops/fwd.py",
            "MIT",
            "tilelang",
            "0001-pad.patch",
            digests["vendored/demo/fwd.py"],
        ],
    ]
    assert pages.table(page, "Every repository that something here comes from, with its terms") == [
        [upstream.url, pin[:12], "vendored", "MIT", "Copyright (c) 2025 <img src=x onerror=alert(1)> Authors",
         "vendored/LICENSES/demo/LICENSE", ""]
    ]  # fmt: skip
    assert pages.table(page, "Patches of demo, in the order that they are applied in") == [
        ["patches/demo/0001-pad.patch", "pad <script>alert(1)</script> rows", "vendored/demo/fwd.py", "+2 −1",
         "A. Writer <writer@example.org>", "javascript:alert(1)", "https://example.org/7"]
    ]  # fmt: skip
    assert b"s3cret" not in consumer.read("page.html")


def test_page_holds_the_findings_of_check_and_audit_and_is_no_failure(consumer: Project) -> None:
    consumer.write({"vendored/demo/fwd.py": "x = 2\n"})
    said = consumer.done("report", "--html", "page.html")
    assert (said.out, said.err) == ("", "wrote page.html\n")
    found = {
        command: json.loads(consumer.run(command, "--format", "json").out)["findings"] for command in ("check", "audit")
    }
    page = report(consumer)
    for command, about in (
        ("check", "files, record and documents, compared"),
        ("audit", "licences and provenance, held to the rules"),
    ):
        (table,) = [
            one for one in page.iter("table") if pages.words(one[0]).startswith(f"vendor-tool {command}: {about}: ")
        ]
        told = [cell[3] for cell in pages.rows(table)]
        here = [one for one in found[command] if one["rule"] not in ("REQ-1", "REQ-2", "REQ-6")]
        assert len(told) == len(here) > 0
        assert all(any(one["rule"] in cell for cell in told) for one in here)
    assert "drift-edited" in pages.section(page, "findings")


def test_page_needs_neither_network_nor_date_and_is_the_same_in_another_folder(
    tmp_path: Path, consumer: Project, upstream: Repository
) -> None:
    report(consumer)
    other = Project(tmp_path / "elsewhere")
    shutil.copytree(consumer.root, other.root)
    shutil.rmtree(upstream.path)
    other.done("report", "--html", "again.html")
    shown = other.done("report", "--html", "-")
    assert other.read("again.html") == shown.out.encode() == consumer.read("page.html")
    assert shown.err == ""
    assert str(consumer.root) not in shown.out


def test_what_could_not_be_compared_is_said(consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "could not be read here" not in pages.words(report(consumer))
    monkeypatch.setenv("VENDOR_TOOL_CACHE", str(tmp_path / "cold"))
    said = consumer.done("report", "--html", "page.html").err
    assert said == (
        "wrote page.html\n2 files of upstream's not in the cache, so not compared: `vendor-tool check --rebuild` fetches\n"
    )
    page = pages.read(consumer.read("page.html").decode())
    assert "Of upstream’s own bytes 2 files could not be read here" in pages.section(page, "findings")


def test_page_of_an_entry_that_was_never_synced_claims_nothing(tmp_path: Path, upstream: Repository) -> None:
    made = project(tmp_path / "new", lock(entry(upstream.url, "a" * 40, "[fwd.py]")))
    page = report(made)
    assert [row[-2:] for row in pages.table(page, "Every upstream of the lock")] == [["never synced", ""]]
    assert "drift-not-synced" in pages.section(page, "findings")


def test_a_place_that_cannot_be_written_is_a_usage_error_and_leaves_nothing(consumer: Project) -> None:
    before = consumer.tree()
    assert "error: cannot write `no/page.html`: No such file or directory" in consumer.refused(
        ExitCode.USAGE, "report", "--html", "no/page.html"
    )
    assert "error: cannot write `patches`: Is a directory" in consumer.refused(
        ExitCode.USAGE, "report", "--html", "patches"
    )
    assert "the following arguments are required: --html" in consumer.refused(ExitCode.USAGE, "report")
    assert consumer.tree() == before


def test_an_older_page_keeps_its_mode_and_a_link_its_place(consumer: Project, tmp_path: Path) -> None:
    consumer.write({"page.html": "old", "linked.html": "old"})
    (consumer.root / "page.html").chmod(0o640)
    (consumer.root / "link.html").symlink_to("linked.html")
    for name in ("page.html", "link.html"):
        consumer.done("report", "--html", name)
    assert (consumer.root / "page.html").stat().st_mode & 0o777 == 0o640
    assert (consumer.root / "link.html").is_symlink()
    assert consumer.read("linked.html") == consumer.read("page.html") != b"old"
    assert [path.name for path in consumer.root.glob(".*.html*")] == []
