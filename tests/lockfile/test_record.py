"""The `resolved:` block: what was written reads back to the same bytes, and what cannot have been written is refused."""

from pathlib import Path

import pytest

from vendor_tool import lockfile
from vendor_tool.errors import UsageError
from vendor_tool.lockfile import edit, record
from vendor_tool.model import At, Resolved
from vendor_tool.values import replace

SHA = "1" * 40
LOCK = (
    f"version: 1\nupstreams:\n  demo:\n    url: https://example.org/demo\n    revision: {SHA}\n    imports: [demo.f]\n"
)
RESOLVED = Resolved(At(0, 0), SHA, "2026-01-01T00:00:00+00:00", intent="i", seal="")


def read(text: str) -> Resolved:
    found = lockfile.parse_bytes(Path("vendor.lock.yaml"), text.encode()).upstreams["demo"].resolved
    assert found is not None
    return found


@pytest.mark.parametrize("tag", ["v1.2", "1.2", "2026-01-01", "yes", "release/über-1", "@scope/name@1.0"])
def test_a_tag_reads_back_as_it_was_whatever_yaml_would_take_it_for(tag: str) -> None:
    text = edit.record_resolved(LOCK, "demo", replace(RESOLVED, tag=tag))
    found = read(text)
    assert (found.tag, found.sealed) == (tag, True)
    assert edit.record_resolved(text, "demo", found) == text


def test_a_record_without_a_tag_has_no_key_for_it() -> None:
    text = edit.record_resolved(LOCK, "demo", RESOLVED)
    assert "tag:" not in text
    assert (read(text).tag, read(text).sealed) == (None, True)


def test_a_tag_that_was_edited_by_hand_breaks_the_seal() -> None:
    text = edit.record_resolved(LOCK, "demo", replace(RESOLVED, tag="v1"))
    assert read(text.replace("tag: v1\n", "tag: v2\n")).sealed is False


@pytest.mark.parametrize("tag", ["-v1", "v 1", "v1..v2", "v1~2", "refs/../v1", "a:b"])
def test_what_git_would_not_take_for_a_name_is_refused(tag: str) -> None:
    text = edit.record_resolved(LOCK, "demo", replace(RESOLVED, tag="v1")).replace("tag: v1\n", f'tag: "{tag}"\n')
    with pytest.raises(UsageError, match=r"vendor.lock.yaml:9:\d+: `upstreams.demo.resolved.tag`.* cannot be a tag"):
        read(text)


def test_the_order_of_keys_is_fixed() -> None:
    assert [*record.layout(replace(RESOLVED, tag="v1"))][:3] == ["revision", "tag", "date"]
