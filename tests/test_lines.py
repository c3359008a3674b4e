import itertools

from hypothesis import given
from hypothesis import strategies as st

from vendor_tool.lines import Span, changes, similarity, split

few = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"    d\n"]), max_size=14)


def patched(old: list[bytes], new: list[bytes], spans: list[Span]) -> list[bytes]:
    out: list[bytes] = []
    at = 0
    for span in spans:
        out += old[at : span.old_start] + new[span.new_start : span.new_end]
        at = span.old_end
    return out + old[at:]


def longest(old: list[bytes], new: list[bytes]) -> int:
    """Length of a longest common subsequence by the textbook table."""
    row = [0] * (len(new) + 1)
    for line in old:
        before = row
        row = [0]
        for j, other in enumerate(new):
            row.append(before[j] + 1 if line == other else max(before[j + 1], row[j]))
    return row[-1]


@given(few, few)
def test_spans_turn_old_into_new_with_the_fewest_changed_lines(old: list[bytes], new: list[bytes]) -> None:
    spans = changes(old, new)
    assert patched(old, new, spans) == new
    assert sum(span.old_end - span.old_start for span in spans) == len(old) - longest(old, new)
    assert all(a.old_end < b.old_start and a.new_end < b.new_start for a, b in itertools.pairwise(spans))


def test_an_added_function_is_one_span_from_its_first_line_to_the_empty_lines_below() -> None:
    old = split(b"def a():\n    return 1\n\n\ndef c():\n    return 3\n")
    new = split(b"def a():\n    return 1\n\n\ndef b():\n    return 2\n\n\ndef c():\n    return 3\n")
    assert changes(old, new) == [Span(4, 4, 4, 8)]


def test_pieces_that_can_meet_become_one_span() -> None:
    old = split(b"import a\n\n\ndef f():\n")
    new = split(b"import a\n\nSIZE = 4\n\n\ndef f():\n")
    assert len(changes(old, new)) == 1


def test_a_carriage_return_belongs_to_its_line() -> None:
    assert split(b"a\r\nb\rc\n\nd") == [b"a\r\n", b"b\rc\n", b"\n", b"d"]


def test_only_line_feeds_part_lines() -> None:
    assert split("a\x0cb\u2028c\x85d\n".encode()) == ["a\x0cb\u2028c\x85d\n".encode()]


def test_a_text_without_a_common_line_is_replaced_whole_even_if_long() -> None:
    old = [b"old %d\n" % i for i in range(20_000)]
    new = [b"new %d\n" % i for i in range(20_000)]
    assert changes(old, new) == [Span(0, 20_000, 0, 20_000)]


def test_a_long_text_of_few_different_lines_still_comes_out_right() -> None:
    old = [b"%d\n" % (i * i % 7) for i in range(3_000)]
    new = [b"%d\n" % (i * i * i % 5) for i in range(3_000)]
    assert patched(old, new, changes(old, new)) == new


def test_similarity_counts_bytes_of_common_lines_against_the_larger_text() -> None:
    assert similarity([b"1234\n", b"12345\n"], [b"1234\n"]) == 5 / 11
    assert similarity([], []) == 1.0
