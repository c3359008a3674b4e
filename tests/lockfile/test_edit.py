"""Recording changes `revision:` and `resolved:` and not one other byte."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vendor_tool import lockfile
from vendor_tool.errors import UsageError
from vendor_tool.lockfile import edit, emit
from vendor_tool.lockfile.nodes import compose
from vendor_tool.lockfile.place import plain
from vendor_tool.model import At, LegalFile, Recorded, RecordedImport, Resolved

OLD = "8f5e2151943e9ed0bbffaed93741d3473abb58d9"
NEW = "624b824a898ab0ec1fcb4d373004c7f3852bf515"
LOCK = f"""\
# Our kernels: übernommen 😀
version: 1
upstreams:
  first:
    url: https://example.org/first   # canonical
    revision: {OLD}  # pinned for the release
    resolved: {{}}                          # written by vendor-tool
    files:
      - a.py  # the kernel

  # the second
  second: {{url: "https://example.org/second", revision: '{OLD}', files: [b.py]}}
  third:
    files: [c.py]
    revision: "{OLD}"
    url: https://example.org/third

# the end
"""


def resolved(revision: str = NEW) -> Resolved:
    return Resolved(
        at=At(0, 0),
        revision=revision,
        date="2026-08-21T17:14:19+08:00",
        intent="0123456789abcdef",
        seal="",
        license=LegalFile("LICENSE", "1" * 40, "vendored/LICENSES/first/LICENSE", "2" * 64, "MIT", ("(c) 2025: Zoë",)),
        tools={"libcst": "1.9.0", "ruff": "0.10"},
        shims=("vendored/_tilelang.py",),
        patches={"patches/first/0001-a.patch": "3" * 64},
        files=(
            Recorded("a.py", "4" * 40, "vendored/a.py", "5" * 64, At(0, 0), True, ("tilelang",), ("https://x.org/a",), "MIT"),
            Recorded("", "", "vendored/b.py", "6" * 64, At(0, 0)),
        ),
        imports=(RecordedImport("pkg.name", "pkg/__init__.py", "7" * 40, 12),),
        extra={"evidence": [{"gpu": "x", "errors": {"dq": 0.002, "nan": False, "note": None}}], "empty": [], "no": {}},
    )  # fmt: skip


def outside(text: str) -> str:
    """A lock's text without what the tool owns."""
    text = re.sub(r"\n    resolved:[^\n#]*(#[^\n]*)?(\n      [^\n]*)*", lambda m: f"\n    resolved: {m[1] or ''}", text)
    text = re.sub(r", resolved: \{.*\}\}$", "}", text, flags=re.MULTILINE)
    return re.sub("['\"]?(?:[0-9a-f]{40})['\"]?", "REV", text)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_everything_else_keeps_its_bytes(name: str, newline: str) -> None:
    before = LOCK.replace("\n", newline)
    after = edit.record_resolved(before, name, resolved())
    assert after.count("\n") == after.count(newline)
    expected = LOCK if name != "third" else LOCK.replace("example.org/third\n", "example.org/third\n    resolved: \n")
    assert outside(after.replace(newline, "\n")) == outside(expected)


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_what_is_recorded_reads_back(name: str) -> None:
    text = edit.record_resolved(LOCK, name, resolved())
    upstream = lockfile.parse_text(Path("vendor.lock.yaml"), text)[0].upstreams[name]
    found = upstream.resolved
    assert found is not None
    assert (upstream.revision, found.revision, found.sealed) == (NEW, NEW, True)
    want = resolved()
    assert (found.license, found.notice, found.tools, found.shims) == (want.license, None, want.tools, want.shims)
    assert (found.patches, found.imports, found.extra) == (want.patches, want.imports, want.extra)
    assert [(r.path, r.to, r.sha256, r.executable, r.names, r.origins, r.license) for r in found.files] == [
        (r.path, r.to, r.sha256, r.executable, r.names, r.origins, r.license) for r in want.files
    ]


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_recording_the_same_again_changes_nothing(name: str) -> None:
    once = edit.record_resolved(LOCK, name, resolved())
    assert edit.record_resolved(once, name, resolved()) == once


def test_a_record_that_shrinks_and_grows_leaves_no_trace() -> None:
    long = edit.record_resolved(LOCK, "first", resolved())
    bare = Resolved(At(0, 0), OLD, "2026-01-01T00:00:00+00:00", "0" * 16, "")
    short = edit.record_resolved(long, "first", bare)
    assert edit.record_resolved(short, "first", resolved()) == long
    assert short == edit.record_resolved(LOCK, "first", bare)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("sha256: " + '"' + "5" * 64 + '"', "sha256: " + '"' + "9" * 64 + '"', id="digest"),
        pytest.param("spdx: MIT", "spdx: ISC", id="licence"),
        pytest.param("gpu: x", "gpu: y", id="evidence"),
    ],
)
def test_an_edit_of_the_record_breaks_its_seal(old: str, new: str) -> None:
    text = edit.record_resolved(LOCK, "first", resolved())
    assert text.count(old) == 1
    lock = lockfile.parse_text(Path("vendor.lock.yaml"), text.replace(old, new))[0]
    found = lock.upstreams["first"].resolved
    assert found is not None
    assert not found.sealed


def test_another_layout_of_the_record_keeps_its_seal() -> None:
    text = edit.record_resolved(LOCK, "first", resolved())
    lock = lockfile.parse_text(Path("vendor.lock.yaml"), text.replace("notice: none", "notice:    'none'"))[0]
    found = lock.upstreams["first"].resolved
    assert found is not None
    assert found.sealed


def test_a_revision_that_reads_as_a_number_is_quoted() -> None:
    number = "1234567890123456789012345678901234567e90"
    text = edit.record_resolved(LOCK, "first", resolved(number))
    assert f'revision: "{number}"  # pinned for the release' in text


def test_quotes_of_people_are_kept() -> None:
    text = edit.record_resolved(edit.record_resolved(LOCK, "second", resolved()), "third", resolved())
    assert f"revision: '{NEW}', files" in text
    assert f'    revision: "{NEW}"\n' in text


def test_a_lock_without_a_last_line_end_gets_one() -> None:
    text = LOCK.rstrip("\n").removesuffix("\n\n# the end")
    after = edit.record_resolved(text, "third", resolved())
    assert after.startswith(text[: text.rindex(OLD)])
    assert after.endswith("\n")


@pytest.mark.parametrize("empty", ["upstreams:\n", "upstreams: {}\n", ""])
def test_the_first_upstream_can_be_added(empty: str) -> None:
    text = edit.add_upstream(f"version: 1\n{empty}", "demo", {"url": "file:///x", "revision": OLD, "files": ["a.py"]})
    assert lockfile.parse_text(Path("vendor.lock.yaml"), text)[0].upstreams["demo"].files[0].path == "a.py"
    assert text.startswith("version: 1\nupstreams:")


def test_another_upstream_goes_behind_the_last_one() -> None:
    text = edit.add_upstream(LOCK, "demo", {"url": "file:///x", "revision": OLD, "files": ["a.py"]})
    assert text.index("  demo:") > text.index("  third:")
    assert text.replace(text[text.index("  demo:") : text.index("\n# the end")], "") == LOCK


# ---- items of a list --------------------------------------------------------------------------------------

LISTS = {
    "flow": "u:\n  patches: [a, b]  # ours\n  to: x\n",
    "flow over lines": "u:\n  patches: [\n    a,  # one\n    b,  # two\n  ]\n  to: x\n",
    "block": "u:\n  patches:\n    # the first\n    - a  # why a\n\n    - b  # why b\n  # to\n  to: x\n",
    "block at the key": "u:\n  patches:\n  - a\n  - b\n  to: x\n",
    "block at the end": "u:\n  to: x\n  patches:\n    - a\n    - 'b'",
}


def items(text: str) -> object:
    return plain(compose("x.yaml", text))["u"].get("patches")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("name", LISTS)
def test_an_item_goes_behind_the_last_one_and_comments_stay(name: str, newline: str) -> None:
    before = LISTS[name].replace("\n", newline)
    after = edit.append_item(before, ("u", "patches"), "patches/u/0003-c.patch")
    assert items(after) == ["a", "b", "patches/u/0003-c.patch"]
    assert after.count("\n") == after.count(newline)
    at = after.index("patches/u/0003-c.patch")
    rest = after[:at].rstrip(" -") + after[at + len("patches/u/0003-c.patch") :]
    assert [line.rstrip(" ,") for line in rest.split() if line.strip(",")] == before.split() or name.startswith("flow")
    assert re.findall("#[^\r\n]*", after) == re.findall("#[^\r\n]*", before)


@pytest.mark.parametrize("name", LISTS)
def test_an_item_that_was_added_can_be_removed_without_a_trace(name: str) -> None:
    added = edit.append_item(LISTS[name], ("u", "patches"), "c")
    assert edit.remove_item(added, ("u", "patches"), "c").rstrip() == LISTS[name].rstrip()


@pytest.mark.parametrize("gone", ["a", "b"])
@pytest.mark.parametrize("name", LISTS)
def test_an_item_goes_and_the_others_keep_their_comments(name: str, gone: str) -> None:
    after = edit.remove_item(LISTS[name], ("u", "patches"), gone)
    assert items(after) == ["b" if gone == "a" else "a"]
    kept = {"# ours", "# to", "# the first", "# why b" if gone == "a" else "# why a"}
    assert kept & set(re.findall("#[^\n]*", LISTS[name])) <= set(re.findall("#[^\n]*", after))


@pytest.mark.parametrize("name", LISTS)
def test_the_last_item_leaves_an_empty_list(name: str) -> None:
    after = edit.remove_item(edit.remove_item(LISTS[name], ("u", "patches"), "a"), ("u", "patches"), "b")
    assert items(after) == []
    assert ("# the first" in after) == ("# the first" in LISTS[name])


@pytest.mark.parametrize("empty", ["u: {to: x}\n", "u:\n  to: x\n", "u:\n  patches: []  # none\n", "u:\n  patches:\n"])
def test_a_list_that_is_missing_or_empty_is_made(empty: str) -> None:
    after = edit.append_item(empty, ("u", "patches"), "a")
    assert items(after) == ["a"]
    assert ("# none" in after) == ("# none" in empty)


def test_an_item_that_is_not_there_is_not_removed() -> None:
    with pytest.raises(UsageError, match="`z` is not in `u.patches`"):
        edit.remove_item(LISTS["flow"], ("u", "patches"), "z")


def test_a_text_of_several_lines_stands_line_by_line_where_yaml_gives_it_back() -> None:
    assert emit.block({"text": "one\n\n  two: 2\n# three"}, 2) == [
        "  text: |-",
        "    one",
        "",
        "      two: 2",
        "    # three",
    ]
    for odd in (" a\nb", "a\nb\n", "a \nb", "\na", "a\tb\nc"):
        assert emit.block({"text": odd}, 0) == [f"text: {emit.scalar(odd)}"]
        assert plain(compose("x.yaml", emit.block({"text": odd}, 0)[0] + "\n")) == {"text": odd}
    assert emit.block([{"header": {"text": "a\nb"}}], 0) == ["- header:", "    text: |-", "      a", "      b"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(min_size=1, max_size=12), inner, max_size=4),
    max_leaves=12,
)


# the first draw loads Unicode tables, which on a busy machine takes longer than hypothesis grants
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=12), VALUES, min_size=1, max_size=5))
def test_whatever_is_emitted_reads_back(value: dict[str, object]) -> None:
    text = "\n".join(emit.block(value, 0)) + "\n"
    assert plain(compose("x.yaml", text)) == value
