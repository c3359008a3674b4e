"""The page for people: whole, sound HTML, safe whatever the lock says, legible by day and night."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.samples import FINDINGS, HOSTILE, RULES
from tests.support import page as pages
from tests.support import rights
from vendor_tool.legal import Facts
from vendor_tool.model import (
    At,
    FileSpec,
    Format,
    Header,
    Imports,
    KnownBad,
    Lock,
    PatchSpec,
    Project,
    RecordedImport,
    Shim,
    ShimSpec,
    Upstream,
)
from vendor_tool.reports import html
from vendor_tool.reports.html import Dossier, elements

AT = At(1, 1)
STYLE = Path(html.__file__).with_name("style.css").read_text(encoding="utf-8")
PATCH = b"""\
Description: pad short sequences
 A row shorter than top-k was read past its end.
Author: A. Writer <writer@example.org>
Forwarded: https://github.com/mid/plugins/pull/7
Bug: https://github.com/mid/plugins/issues/5
Last-Update: 2026-01-31

--- a/vendored/mid/fwd.py
+++ b/vendored/mid/fwd.py
@@ -1,3 +1,4 @@
 def fwd(n):
-    return n
+    n = max(n, 1)
+    return n + 1
 # end
--- /dev/null
+++ b/vendored/mid/pad.py
@@ -0,0 +1 @@
+PAD = 1
"""
FWD = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 2\n")
PAD = replace(rights.recorded("", "vendored/mid/pad.py", b"", b"PAD = 1\n"), blob="")
KERNEL = {
    "passed": 19,
    "errors": {"dq": 0.00171, "scores": 1.73e-07},
    "ratios": {"forward": 1.01},
    "identical": ["dq", "scores"],
    "repeats": ["dq"],
    "limits": ["a sequence shorter than top-k is refused"],
}


def evidence(gpu: str = "NVIDIA H200", **other: object) -> dict[str, object]:
    """A record that fits ENTRY, or differs from what would."""
    fits = {
        "gpu": gpu, "driver": "580.1", "date": "2026-11-30", "torch": "2.11.0", "tilelang": "0.1.11",
        "revision": rights.REVISION, "intent": "", "requires": {"tilelang": ">=0.1.11"}, "tools": {},
        "patches": {PATCHED: "d" * 64}, "files": {FWD.to: FWD.sha256, PAD.to: PAD.sha256},
        "kernels": {"ops/fwd.py": KERNEL},
    }  # fmt: skip
    return fits | other


PATCHED = "patches/mid/0001-pad.patch"
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={FWD.to: (rights.origin(),)})
PLAIN = rights.upstream(FWD, PAD, facts=FACTS)
assert PLAIN.resolved is not None
ENTRY = replace(
    PLAIN,
    mirrors=("https://mirror.example/plugins",),
    rules=(Header("Ours"), Imports({"mid.utils": "ours.utils"}), Shim(("tilelang",)), Format(version="0.9.10")),
    files=(FileSpec("fwd.py", None, AT, drop=("Old",)),),
    patches=(
        PatchSpec(PATCHED, AT),
        PatchSpec("patches/mid/0002-gone.patch", AT),
        PatchSpec("patches/mid/3.patch", AT),
    ),
    requires={"tilelang": ">=0.1.11"},
    resolved=replace(
        PLAIN.resolved,
        tag="v1",
        patches={PATCHED: "d" * 64},
        extra={
            **PLAIN.resolved.extra,
            "evidence": [evidence(), evidence("NVIDIA L4", driver="570", revision="c" * 40)],
        },
    ),
)
USED = rights.upstream(name="used", url="https://git.example/used.git", license_=None, declared="MIT")
assert USED.resolved is not None
USED = replace(
    USED, from_="", resolved=replace(USED.resolved, imports=(RecordedImport("used.go", "used.py", "c" * 40, 7),))
)
FRESH = replace(rights.upstream(name="fresh", url="git@host.example:fresh.git", declared=None), resolved=None)
LOCK = replace(
    rights.lock(ENTRY, USED, FRESH, shims={"tilelang": ShimSpec("tilelang", "vendored/_tilelang.py", AT)}),
    known_bad=(KnownBad(AT, "aborts", "https://example.org/1", {"tilelang": "==0.1.10"}),),
)
DOSSIER = Dossier(
    lock=LOCK,
    digest="e" * 64,
    texts={
        PATCHED: PATCH,
        "patches/mid/3.patch": b"no diff\n",
        rights.MID_LICENSE.to: b"\xef\xbb\xbfTerms\r\n\tand <more>\n",
    },
    hashes={"mid": {PATCHED: "d" * 64, FWD.to: FWD.sha256, PAD.to: PAD.sha256}},
    findings={"check": [], "audit": FINDINGS},
    rules=RULES,
    unread=1,
)


def test_page_is_the_golden_file() -> None:
    golden = Path(__file__).parent / "golden" / "page.html"
    assert html.render(DOSSIER) == golden.read_text(encoding="utf-8")


def test_page_is_sound_html() -> None:
    assert list(pages.problems(pages.read(html.render(DOSSIER)))) == []


def test_same_values_make_the_same_bytes_in_whatever_order_they_come() -> None:
    turned = dict(reversed([*LOCK.upstreams.items()]))
    other = replace(DOSSIER, lock=replace(LOCK, upstreams=turned), findings={"check": [], "audit": FINDINGS[::-1]})
    assert html.render(other) == html.render(DOSSIER)


def test_patches_are_told_with_their_size_and_where_they_were_sent() -> None:
    page = pages.read(html.render(DOSSIER))
    assert pages.table(page, "Patches of mid, in the order that they are applied in") == [
        [
            PATCHED,
            "pad short sequences" + "A row shorter than top-k was read past its end.",
            "vendored/mid/fwd.py" + "vendored/mid/pad.py (new)",
            "+3 −1",
            "A. Writer <writer@example.org>",
            "https://github.com/mid/plugins/pull/7",
            "https://github.com/mid/plugins/issues/5",
        ],
        ["patches/mid/0002-gone.patch", "the patch file is missing", "", "", "", "", ""],
        ["patches/mid/3.patch", "cannot be read: patches/mid/3.patch holds no diff", "", "", "", "", ""],
    ]
    assert "3 patches, +3 −1 lines" in pages.words(page)


def test_evidence_says_of_each_gpu_whether_it_holds() -> None:
    page = pages.read(html.render(DOSSIER))
    seen = "2026-11-30 on NVIDIA {}, torch 2.11.0, tilelang 0.1.11"
    holds = pages.table(page, "Holds: verified on " + seen.format("H200, driver 580.1"))
    limit = "a sequence shorter than top-k is refused"
    assert holds == [[FWD.to, "19", "dq 0.00171scores 1.73e-07", "dq, scores", "dq", "forward 1.01", limit]]
    assert pages.table(page, "Stale: verified on " + seen.format("L4, driver 570")) == holds
    said = pages.section(page, "upstream-mid-parity")
    assert "1 kernel verified on NVIDIA H200; evidence from NVIDIA L4 is stale." in said
    assert "the pin moved from cccccccccccc to bbbbbbbbbbbb" in said


def test_nothing_is_verified_that_nobody_verified() -> None:
    page = pages.read(html.render(DOSSIER))
    parity = {row[0]: row[-1] for row in pages.table(page, "Every upstream of the lock")}
    assert (parity["used"], parity["fresh"]) == ("not verified on a GPU", "")
    assert "never synced" in pages.section(page, "upstream-fresh")


def test_licences_of_upstreams_and_ancestors_stand_in_one_table() -> None:
    page = pages.read(html.render(DOSSIER))
    told = {
        row[0]: row[2:] for row in pages.table(page, "Every repository that something here comes from, with its terms")
    }
    assert told[rights.MID] == ["vendored", "Apache-2.0", rights.APACHE_HOLDER, rights.MID_LICENSE.to, ""]
    assert told[rights.ROOT] == ["ancestor of mid", "MIT", rights.MIT_HOLDER, rights.ROOT_LICENSE.to, ""]
    assert told["https://git.example/used.git"][:3] == ["imported at run time", "MIT", "no licence file"]
    (text,) = [one.text for one in page.iter("pre")]
    assert text == "Terms\n\tand <more>\n"


def test_a_lock_without_upstreams_has_a_page() -> None:
    empty = Dossier(Lock(Path("vendor.lock.yaml"), Project("nothing"), {}, {}), "e" * 64, {}, {}, {"check": []})
    page = pages.read(html.render(empty))
    assert list(pages.problems(page)) == []
    assert "The lock names no upstream." in pages.words(page)


# ---- hostile words ----------------------------------------------------------------------------------------

EVIL = '</code></title><script>alert("1")</script><img src=x onerror=alert(1)>&lt;\'`|\x1b[2J\u202e'
SECRET = "https://user:s3cret@host.example/x?token=s3cret#f"


def poisoned() -> Dossier:
    """Everything that a person, an upstream or a patch may write holds what would break out, or a secret."""
    assert ENTRY.resolved is not None
    words = f"{EVIL} {SECRET}"
    head = f"Description: {words}\nAuthor: {words}\nForwarded: javascript:alert(1)\nBug: {SECRET}\n\n".encode()
    license_ = replace(rights.MID_LICENSE, path=f"LIC{EVIL}", spdx=words, holders=(words,))
    record = evidence(
        words, driver=words, kernels={words: {"passed": words, "errors": {words: words}, "limits": [words]}}
    )
    bad: Upstream = replace(
        ENTRY,
        url="javascript:alert(1)",
        branch=words,
        mirrors=("javascript:alert(2)", SECRET),
        license=None,
        files=(FileSpec(words, None, AT, drop=(words,)),),
        patches=(PatchSpec(PATCHED, AT), PatchSpec(words, AT)),
        requires={"tilelang": words},
        acknowledge={"x": words},
        resolved=replace(
            ENTRY.resolved,
            tag=words,
            date=words,
            license=license_,
            files=(replace(FWD, path=f"ops/{EVIL}.py", names=(words,)), replace(PAD, to=f"vendored/{EVIL}")),
            imports=(RecordedImport(words, words, "c" * 40, 7),),
            extra={
                **ENTRY.resolved.extra,
                "legal": {"ancestors": [{"url": "javascript:alert(3)", "revision": words, "owed": words}]},
                "evidence": [record],
            },
        ),
    )
    return replace(
        DOSSIER,
        lock=replace(
            LOCK,
            project=Project(words, words, (words,)),
            upstreams={"mid": bad},
            known_bad=(KnownBad(AT, words, "javascript:alert(4)", {"tilelang": "==0.1.10"}),),
        ),
        texts={PATCHED: head + PATCH.split(b"\n\n", 1)[1], license_.to: words.encode()},
        findings={"audit": [replace(HOSTILE, message=words, fix=words, path=words, upstream=words)]},
    )


def test_what_others_wrote_is_text_and_never_markup() -> None:
    page = pages.read(html.render(poisoned()))
    assert list(pages.problems(page)) == []
    title = page.find("head/title")
    assert title is not None
    assert pages.words(title).startswith('Vendored code of </code></title><script>alert("1")</script><img src=x')
    assert pages.words(page).count('<script>alert("1")</script>') > 20


def test_links_lead_to_the_web_only() -> None:
    targets = {one.get("href", "") for one in pages.read(html.render(poisoned())).iter("a")}
    assert {one.split(":")[0] for one in targets if not one.startswith("#")} == {"https"}
    assert "javascript:alert(1)" in html.render(poisoned())  # it is shown all the same


def test_credentials_are_not_shown_and_taking_them_out_again_changes_nothing() -> None:
    from vendor_tool.urls import redacted

    for dossier in (DOSSIER, poisoned()):
        page = html.render(dossier)
        assert "s3cret" not in page
        assert redacted(page) == page


def test_an_address_before_a_question_or_a_mail_keeps_the_tags_between_them() -> None:
    from vendor_tool.urls import redacted

    for after in ("why?", "a@b.example"):
        page = elements.joined([elements.element("td", elements.text(one)) for one in ("https://x.example/y", after)])
        assert redacted(page) == page


@pytest.mark.parametrize(
    "address", ["https://", "https://[", "http:// a", "ftp://x", "//x", "JAVASCRIPT:x", "data:text/html,x"]
)
def test_what_is_no_address_of_the_web_is_no_link(address: str) -> None:
    assert elements.address(address) == elements.text(address)


def test_page_holds_no_character_that_a_terminal_obeys() -> None:
    shown = html.render(poisoned()).replace("\t", "")
    assert [line for line in shown.split("\n") if not line.isprintable()] == []


# ---- looks ------------------------------------------------------------------------------------------------


def _schemes() -> list[dict[str, str]]:
    """The colours by day, by night, and on paper."""
    return [
        dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    ]


def _light(color: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_words_stand_out_from_what_is_behind_them_by_day_and_by_night() -> None:
    schemes = _schemes()
    assert len(schemes) == 3
    for colors in schemes:
        assert colors.keys() == schemes[0].keys()
        for name in ("front", "quiet", "link", "error", "warning", "note"):
            for behind in ("back", "band"):
                light, dark = sorted((_light(colors[name]), _light(colors[behind])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, behind, colors)


def test_sheet_loads_nothing() -> None:
    assert re.findall(r"url\(|@import|expression|</", STYLE) == []
