"""Whatever upstream and the series do: a conflict, or every added line is there and no removed one came back."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.trees import made, tree
from vendor_tool import patch as patches
from vendor_tool.merge import Resolution, resume, upgrade
from vendor_tool.model import Tree
from vendor_tool.patch import Patch

Edit = tuple[str, int, int]
edits = st.lists(
    st.tuples(st.sampled_from(["add", "delete", "move", "repeat"]), st.integers(0, 30), st.integers(0, 30)), max_size=4
)
shared = st.sampled_from([f"row {n}" for n in range(12)] + ["", "    return", ")"])


def edited(lines: Sequence[str], changes: Sequence[Edit], author: str) -> list[str]:
    """`lines` after some edits; what is added names its author or stands in the file already."""
    out = list(lines)
    for number, (kind, a, b) in enumerate(changes):
        at = a % (len(out) + 1)
        if kind == "add":
            out.insert(at, f"{author} {number} {b}")
        elif kind == "repeat" and out:
            out.insert(at, out[b % len(out)])
        elif out:
            line = out.pop(a % len(out))
            if kind == "move":
                out.insert(b % (len(out) + 1), line)
    return out


def as_tree(lines: Sequence[str]) -> Tree:
    return tree({"v/k.py": "".join(line + "\n" for line in lines)})


def as_lines(files: Tree) -> set[str]:
    """Lines that tell something: empty ones and closing brackets stand anywhere."""
    text = files["v/k.py"].data.decode() if "v/k.py" in files else ""
    return {line for line in text.splitlines() if line.strip() not in ("", ")", "return")}


def as_series(base: Sequence[str], rounds: Sequence[Sequence[Edit]]) -> tuple[list[Patch], list[str]]:
    current = list(base)
    found = []
    for number, changes in enumerate(rounds):
        after = edited(current, changes, f"ours {number}")
        if after != current:
            found.append(made(as_tree(current), as_tree(after), f"patches/demo/{number:04d}-x.patch"))
        current = after
    return found, current


@given(st.lists(shared, max_size=20), edits, st.lists(edits, min_size=1, max_size=3))
@settings(max_examples=300, deadline=None)
def test_no_added_line_is_lost_and_no_removed_line_comes_back(
    base: list[str], upstream: list[Edit], rounds: list[list[Edit]]
) -> None:
    series, ours = as_series(base, rounds)
    theirs = edited(base, upstream, "theirs")
    result = upgrade(as_tree(base), as_tree(theirs), series)
    if result.tree is None:
        assert result.conflicts
        return
    was, our, their, got = (as_lines(files) for files in (as_tree(base), as_tree(ours), as_tree(theirs), result.tree))
    assert (our | their) - was <= got
    assert not (was - our) & got
    assert not (was - their) & got
    written = [patches.parse(path, text) for path, text in result.texts.items()]
    assert (patches.replay(written, as_tree(theirs)) or (as_tree(theirs),))[-1] == result.tree


@given(st.lists(shared, max_size=20), edits, st.lists(edits, min_size=1, max_size=3), st.booleans())
@settings(max_examples=200, deadline=None)
def test_resolving_ends_in_a_series_that_replays_and_aborting_leaves_no_trace(
    base: list[str], upstream: list[Edit], rounds: list[list[Edit]], take_ours: bool
) -> None:
    series, _ = as_series(base, rounds)
    new = as_tree(edited(base, upstream, "theirs"))
    start = result = upgrade(as_tree(base), new, series)
    for _ in range(len(series)):
        if result.tree is not None:
            break
        resolution: Resolution = {c.path: c.ours if take_ours else c.theirs for c in result.conflicts}
        result = resume(result, resolution)
    assert result.tree is not None
    written = [patches.parse(path, text) for path, text in result.texts.items()]
    assert (patches.replay(written, new) or (new,))[-1] == result.tree
    assert upgrade(as_tree(base), new, series) == start
