"""Records that are set aside before YAML reads the lock: always what YAML would make of them, or nothing at all."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vendor_tool.errors import UsageError
from vendor_tool.lockfile import edit, nodes, record, rows
from vendor_tool.lockfile.nodes import Node
from vendor_tool.lockfile.read import parse
from vendor_tool.model import At, Lock, Recorded, Resolved

REVISION = "8f5e2151943e9ed0bbffaed93741d3473abb58d9"
LOCK = f"""\
version: 1
upstreams:
  first:
    url: https://example.org/first
    revision: {REVISION}
    files: ["**/*.py"]
  second: {{url: https://example.org/second, revision: {REVISION}, files: [b.py]}}
"""
PATHS = st.lists(
    st.sampled_from(["a.py", "b", "1.5", "no", "0x1f", "2020-01-01", "ü", "a b", "-", "~", "1e5"]), min_size=1
)
HEX = "0123456789abcdef"
BLOBS = st.text(HEX, min_size=40, max_size=40) | st.sampled_from(["1" * 40, "0b" + "1" * 38, "1" * 20 + "e" + "2" * 19])
SUMS = st.text(HEX, min_size=64, max_size=64) | st.sampled_from(["2" * 64, "3" * 60 + "e123"])
RECORDS = st.builds(
    Recorded,
    path=PATHS.map("/".join),
    blob=BLOBS,
    to=PATHS.map("/".join),
    sha256=SUMS,
    at=st.just(At(0, 0)),
    executable=st.booleans(),
    license=st.sampled_from([None, "MIT", "MIT OR Apache-2.0", "no"]),
    names=st.sampled_from([(), (), (), ("tilelang",)]),
)


def written(records: list[Recorded], *, last: bool = False) -> str:
    """A lock with the records; `last` puts their list behind all else that the record holds."""
    found = Resolved(At(0, 0), REVISION, "2026-08-21T17:14:19+08:00", "0123456789abcdef", "", files=tuple(records))
    text = edit.record_resolved(LOCK, "first", found)
    if not last:
        return text
    head, _, rest = text.partition("      files:\n")
    body, _, tail = rest.partition("      intent:")
    return f"{head}      intent:{tail.replace('  second', f'      files:{chr(10)}{body}  second')}"


def told(text: str, root: Node) -> Lock | tuple[str, str | None]:
    """The lock, or what is said of it where it does not read."""
    try:
        return parse(Path("vendor.lock.yaml"), root, lambda _name, place: record.read(place))
    except UsageError as error:
        return error.message, error.hint


def both(text: str) -> tuple[object, object]:
    """What is made of a text with records set aside, and by YAML alone."""
    found: list[object] = []
    for compose in (rows.compose, nodes.compose):
        try:
            found.append(told(text, compose("vendor.lock.yaml", text)))
        except UsageError as error:
            found.append((error.message, error.hint))
    return found[0], found[1]


def spans(node: Node) -> list[tuple[int, ...]]:
    """Places of the nodes down to the list of records, which is where edits look."""
    inner = node.pairs() if node.kind == "map" else ()
    below = [place for key, value in inner for place in (key[3:], *spans(value))]
    return [tuple(node[3:]), *below]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RECORDS, min_size=1, max_size=5), st.booleans())
def test_records_read_as_yaml_reads_them(records: list[Recorded], last: bool) -> None:
    text = written(records, last=last)
    assert both(text)[0] == both(text)[1]
    assert spans(rows.compose("x", text)) == spans(nodes.compose("x", text))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)
@given(
    st.lists(RECORDS.filter(lambda one: not one.names), min_size=1, max_size=3),
    st.data(),
)
def test_a_text_that_somebody_edited_reads_as_yaml_reads_it(records: list[Recorded], data: st.DataObject) -> None:
    lines = written(records, last=data.draw(st.booleans())).split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        line = data.draw(
            st.sampled_from([*lines, "", "  # words", "          more", "            more", '      x: "', "|", "..."])
        )
        how = data.draw(st.sampled_from(["put", "replace", "drop", "indent", "cut", "comment"]))
        if how == "put":
            lines.insert(at, line)
        else:
            old = lines[at]
            new = {"replace": line, "drop": None, "indent": f"  {old}", "cut": old[1:], "comment": f"{old} # x"}[how]
            lines[at : at + 1] = [] if new is None else [new]
    text = "\n".join(lines)
    assert both(text)[0] == both(text)[1]


PLAIN = [Recorded(f"a/{n}.py", f"{n}" * 39 + "a", f"v/{n}.py", f"{n}" * 63 + "b", At(0, 0)) for n in range(3)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("    files: [", "    note: |\n    files: [", id="unknown key above"),
        pytest.param("      files:\n", "      words: |\n      files:\n", id="below a block of text that is empty"),
        pytest.param("      files:\n", '      words: "\n      files:\n', id="within quotes"),
        pytest.param(
            "    resolved:\n", "    transforms:\n      - header:\n          text: |\n", id="in a header's text"
        ),
        pytest.param("    resolved:\n", "    resolved: {\n", id="within braces"),
        pytest.param("    resolved:\n", "    codegen:\n", id="under another key"),
        pytest.param("b\n      intent", "b\n            more\n      intent", id="a line that goes on"),
        pytest.param("b\n      intent", "b\n# words\n            more\n      intent", id="a comment in between"),
    ],
)
def test_a_list_that_is_no_record_is_left_to_yaml(before: str, after: str) -> None:
    text = written(PLAIN)
    assert before in text
    edited = text.replace(before, after, 1)
    assert both(edited)[0] == both(edited)[1]


def test_records_of_the_plain_form_are_set_aside() -> None:
    found = rows.compose("x", written(PLAIN)).get("upstreams")
    assert found is not None
    kinds = [value.get("resolved").get("files").kind for key, value in found.pairs() if key.text == "first"]  # type: ignore[union-attr]
    assert kinds == ["rows"]
