"""A change stays in the function that it was made in, also where upstream puts look-alikes in another order."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.trees import made, series, texts, tree
from vendor_tool import patch as patches
from vendor_tool.merge import Labels, MergedTree, merge_trees, refresh, resume, upgrade
from vendor_tool.model import Tree

LABELS = Labels("the patch", "before the patch", "upstream")


def twin(name: str, *added: str, size: int = 3, result: str = "0") -> str:
    """A function whose lines its look-alikes have too."""
    rows = "".join(f"    row{n} = x[{n}]\n" for n in range(size))
    return f"def {name}(x):\n{rows}{''.join(f'    {line}{chr(10)}' for line in added)}    return row0 + {result}\n"


def module(*functions: str) -> str:
    return "\n\n".join(functions)


def merged(base: str, ours: str, theirs: str, path: str = "v/k.py") -> MergedTree:
    return merge_trees(tree({path: base}), tree({path: ours}), tree({path: theirs}), LABELS)


BASE = module(twin("first"), twin("second"), twin("third"))
OURS = module(twin("first"), twin("second"), twin("third", "x = pad(x)"))
REORDERED = module(twin("first"), twin("third"), twin("second"))


def test_an_edit_whose_twin_takes_its_place_is_a_conflict_that_says_where_it_would_land() -> None:
    result = merged(BASE, OURS, REORDERED)
    assert result.tree == {}
    [conflict] = result.conflicts
    [clash] = conflict.clashes
    assert clash.reason == "the patch changes `third`; merged by lines, that would land in `second`"
    assert b"".join(clash.ours).decode() == twin("third", "x = pad(x)")
    assert clash.base == clash.theirs
    assert b"".join(clash.theirs).decode() == twin("third")


def test_taking_our_side_of_that_conflict_puts_the_edit_where_it_belongs() -> None:
    old, new = tree({"v/k.py": BASE}), tree({"v/k.py": REORDERED})
    stopped = upgrade(old, new, series(old, tree({"v/k.py": OURS})))
    [conflict] = stopped.conflicts
    assert conflict.marked is not None
    head, _, rest = conflict.marked.decode().partition("<<<<<<< patches/demo/0001-step.patch\n")
    ours, _, rest = rest.partition("||||||| before the patch\n")
    tail = rest.partition(">>>>>>> upstream\n")[2]
    done = resume(stopped, {"v/k.py": tree({"v/k.py": head + ours + tail})["v/k.py"]})
    assert done.tree is not None
    assert texts(done.tree) == {"v/k.py": module(twin("first"), twin("third", "x = pad(x)"), twin("second"))}
    [text] = done.texts.values()
    assert patches.apply(patches.parse("p", text), new) == done.tree


def test_upstreams_edit_is_held_to_its_function_too_where_a_patch_reorders() -> None:
    result = merged(BASE, REORDERED, OURS)
    assert "third" in result.conflicts[0].clashes[0].reason


def test_a_deleted_function_takes_no_twin_with_it() -> None:
    without = module(twin("first"), twin("second"))
    result = merged(BASE, without, module(twin("third"), twin("second"), twin("first")))
    assert not result.tree or texts(result.tree) == {"v/k.py": module(twin("second"), twin("first"))}


def test_methods_of_twin_classes_are_held_to_their_class() -> None:
    def classes(*parts: tuple[str, str]) -> str:
        return "\n\n".join(
            f"class {name}:\n    def run(self, x):\n        y = x[0]\n        z = x[1]\n{more}        return y + z\n"
            for name, more in parts
        )

    edit = "        z = pad(z)\n"
    result = merged(
        classes(("Fwd", ""), ("Bwd", "")), classes(("Fwd", ""), ("Bwd", edit)), classes(("Bwd", ""), ("Fwd", ""))
    )
    assert (
        not result.tree
        or f"class Bwd:\n    def run(self, x):\n        y = x[0]\n        z = x[1]\n{edit}"
        in (texts(result.tree)["v/k.py"])
    )


def test_a_refresh_holds_later_patches_to_their_functions() -> None:
    plain, first, last = (tree({"v/k.py": text}) for text in (BASE, BASE + "\n\nX = 1\n", OURS + "\n\nX = 1\n"))
    result = refresh(plain, series(plain, first, last), 1, tree({"v/k.py": REORDERED + "\n\nX = 1\n"}))
    assert result.stopped == 1
    assert "`third`" in result.steps[1].notes[0]


# ---- what must stay clean ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "theirs", "expected"),
    [
        (
            "renamed",
            module(twin("first"), twin("second"), twin("last")),
            module(twin("first"), twin("second"), twin("last", "x = pad(x)")),
        ),
        (
            "grown elsewhere",
            module(twin("first", "log()"), twin("second"), twin("new"), twin("third")),
            module(twin("first", "log()"), twin("second"), twin("new"), twin("third", "x = pad(x)")),
        ),
        (
            "changed at another line",
            module(twin("first"), twin("second"), twin("third").replace("x[0]", "x[:1]")),
            module(twin("first"), twin("second"), twin("third", "x = pad(x)").replace("x[0]", "x[:1]")),
        ),
        (
            "commented and decorated",
            module(twin("first"), "# two\n@jit\n" + twin("second"), "# three\n@jit\n" + twin("third")),
            module(twin("first"), "# two\n@jit\n" + twin("second"), "# three\n@jit\n" + twin("third", "x = pad(x)")),
        ),
        (
            "with imports and a class above",
            "import os\n\n\nclass A:\n    n = 1\n\n    def first(self):\n        pass\n\n\n" + BASE,
            "import os\n\n\nclass A:\n    n = 1\n\n    def first(self):\n        pass\n\n\n" + OURS,
        ),
    ],
)
def test_an_edit_that_stays_in_its_function_merges(what: str, theirs: str, expected: str) -> None:
    result = merged(BASE, OURS, theirs)
    assert not result.conflicts, what
    assert texts(result.tree) == {"v/k.py": expected}


def test_definitions_of_one_name_are_compared_together() -> None:
    overloads = "@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\n"
    base = overloads + "def f(x):\n    y = x\n    z = y\n    return z\n\n\nA = 1\n"
    result = merged(base, base.replace("z = y", "z = y + 1"), base.replace("A = 1", "A = 2"))
    assert texts(result.tree) == {"v/k.py": base.replace("z = y", "z = y + 1").replace("A = 1", "A = 2")}


@pytest.mark.parametrize(
    ("path", "end"), [("v/k.cu", ""), ("v/k.py", "def (\n"), ("v/k.py", 'x = "a\rb"\n')], ids=["cuda", "broken", "lone"]
)
def test_what_is_not_python_is_merged_by_lines(path: str, end: str) -> None:
    result = merged(BASE + end, OURS + end, BASE.replace("[0]", "[:1]", 1) + end, path)
    assert texts(result.tree) == {path: OURS.replace("[0]", "[:1]", 1) + end}


def test_two_halves_that_are_no_python_together_are_a_conflict() -> None:
    base = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"
    ours = base.replace("a = 1\n", 'a = """\n').replace("e = 5\n", '"""\n')
    result = merged(base, ours, base.replace("c = 3\n", 'c = \'"""\'\n'))
    [conflict] = result.conflicts
    assert {clash.reason for clash in conflict.clashes} == {"put together, the two are no longer Python"}


def test_line_ends_and_a_missing_newline_stay_as_they_are() -> None:
    crlf = [text.replace("\n", "\r\n").removesuffix("\r\n") for text in (BASE, OURS, REORDERED)]
    [conflict] = merged(*crlf).conflicts
    [clash] = conflict.clashes
    assert all(line.endswith(b"\r\n") for line in clash.theirs)
    assert conflict.marked is not None
    assert not conflict.marked.endswith(b"\n")


# ---- whatever is done to twins ----------------------------------------------------------------------------

NAMES = ("f0", "f1", "f2", "f3")


def home(text: str, mark: str) -> str:
    """The function that a line stands in."""
    name = ""
    for line in text.splitlines():
        if line.startswith("def "):
            name = line[4:].partition("(")[0]
        if mark in line:
            return name
    return ""


@given(
    st.integers(1, 4),
    st.booleans(),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
    st.permutations(NAMES),
    st.sets(st.sampled_from(NAMES), max_size=1),
    st.sets(st.sampled_from(NAMES), max_size=2),
    st.booleans(),
)
@settings(max_examples=400, deadline=None)
def test_no_clean_merge_puts_an_edit_into_another_function(
    size: int, alike: bool, ours: Sequence[str], order: Sequence[str], gone: set[str], edited: set[str], new: bool
) -> None:
    def one(name: str, *added: str) -> str:
        return twin(name, *added, size=size, result="0" if alike else name)

    old = tree({"v/k.py": module(*map(one, NAMES))})
    mine = module(*(one(name, f"ours_{name}()") if name in ours else one(name) for name in NAMES))
    fresh = [one("new")] if new else []
    theirs = [one(name, f"theirs_{name}()") if name in edited else one(name) for name in order if name not in gone]
    after: Tree = tree({"v/k.py": module(*theirs, *fresh)})
    result = upgrade(old, after, [made(old, tree({"v/k.py": mine}))])
    if result.tree is None:
        return
    text = texts(result.tree)["v/k.py"]
    for name in ours:
        assert home(text, f"ours_{name}()") in ((name, "new") if name in gone else (name,))
    for name in edited - gone:
        assert home(text, f"theirs_{name}()") == name
