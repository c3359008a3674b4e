import pytest

from tests.support.trees import made, series, tree
from vendor_tool import patch as patches
from vendor_tool.errors import ContentError, UsageError
from vendor_tool.merge import capture, drop, next_path, refresh, resume
from vendor_tool.model import Blob, Tree

TEXT = "".join(f"line {n}\n" for n in range(40))
HEAD = {"Description": "Edited by hand", "Author": "Ada <ada@example.invalid>", "Forwarded": "no"}


def kernel(*numbers: int) -> Tree:
    """The file with some lines changed."""
    text = TEXT
    for number in numbers:
        text = text.replace(f"line {number}\n", f"line {number} changed\n")
    return tree({"v/k.py": text})


PLAIN = kernel()
SERIES = series(PLAIN, kernel(5), kernel(5, 15), kernel(5, 15, 25))


# ---- capture ----------------------------------------------------------------------------------------------


def test_hand_edits_become_a_patch_that_makes_them() -> None:
    final, disk = kernel(5), {**kernel(5, 30), "v/new.py": Blob(b"n\n")}
    text = capture(final, disk, HEAD)
    patch = patches.parse("p.patch", text)
    assert dict(patch.head) == HEAD
    assert patches.apply(patch, final) == dict(sorted(disk.items()))


def test_an_unedited_tree_gives_no_patch() -> None:
    assert capture(PLAIN, PLAIN, HEAD) == b""


def test_an_edited_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(ContentError, match="`v/k.bin` was edited and is not text"):
        capture({"v/k.bin": Blob(b"\0a")}, {"v/k.bin": Blob(b"\0b")}, HEAD)
    assert capture({"v/k.bin": Blob(b"\0a")}, {"v/k.bin": Blob(b"\0a")}, HEAD) == b""


def test_a_new_patch_takes_the_number_after_the_highest() -> None:
    assert next_path("patches/demo", SERIES, "Pad short rows (#12)!") == "patches/demo/0004-pad-short-rows-12.patch"
    assert next_path("patches/demo", [], "x" * 90) == f"patches/demo/0001-{'x' * 60}.patch"
    assert next_path("patches/demo", [], "Überlänge für Straßen") == "patches/demo/0001-uberlange-fur-strassen.patch"
    assert next_path("patches/demo", [], "Добавить маску: 修正!") == "patches/demo/0001-добавить-маску-修正.patch"
    assert next_path("patches/demo", [], "が हिन्दी") == "patches/demo/0001-が-हिन्दी.patch"
    assert next_path("patches/demo", [made(PLAIN, kernel(1), "p/own-name.patch")], "a") == "patches/demo/0001-a.patch"


def test_a_title_without_letters_names_no_file() -> None:
    with pytest.raises(UsageError, match="holds no letter or digit"):
        next_path("patches/demo", [], "!!!")


# ---- refresh ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_patch_of_a_series_can_be_refreshed_and_the_others_keep_their_bytes(number: int) -> None:
    changed = [5, 15, 25][:number]
    result = refresh(PLAIN, SERIES, number, kernel(*changed, 35))
    assert [step.status for step in result.steps] == ["changed" if n == number else "clean" for n in (1, 2, 3)]
    assert result.tree == kernel(5, 15, 25, 35)
    written = [patches.parse(path, text) for path, text in result.texts.items()]
    assert patches.replay(written, PLAIN)[-1] == result.tree
    assert [written[n].text == SERIES[n].text for n in range(3)] == [n != number - 1 for n in range(3)]


def test_a_later_patch_that_conflicts_with_the_refreshed_one_stops_and_resumes() -> None:
    overlapping = series(PLAIN, kernel(5), kernel(5, 6))
    result = refresh(PLAIN, overlapping, 1, kernel(6))
    assert (result.stopped, [step.status for step in result.steps]) == (1, ["changed", "conflict"])
    assert b">>>>>>> the refreshed `patches/demo/0001-step.patch`\n" in (result.conflicts[0].marked or b"")
    done = resume(result, kernel(6, 7))
    assert [step.status for step in done.steps] == ["changed", "changed"]
    assert done.tree == kernel(6, 7)


def test_a_patch_refreshed_to_nothing_is_obsolete() -> None:
    result = refresh(PLAIN, SERIES, 2, kernel(5))
    assert (result.steps[1].status, list(result.texts)) == ("obsolete", [SERIES[0].path, SERIES[2].path])


# ---- drop -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_patch_of_a_series_can_be_dropped(number: int) -> None:
    rest = [SERIES[n] for n in range(3) if n != number - 1]
    result = drop(PLAIN, SERIES, number)
    assert result.texts == {patch.path: patch.text for patch in rest}
    assert result.tree == patches.replay(rest, PLAIN)[-1]
    assert result.steps[number - 1].status == "dropped"


def test_a_later_patch_that_needs_the_dropped_one_conflicts() -> None:
    again = tree({"v/k.py": TEXT.replace("line 5\n", "line 5 changed twice\n")})
    needy = series(PLAIN, kernel(5), again)
    result = drop(PLAIN, needy, 1)
    assert (result.stopped, result.tree) == (1, None)
    assert resume(result, again).tree == again


@pytest.mark.parametrize("number", [0, 4, -1])
def test_a_number_that_the_series_does_not_have_is_refused(number: int) -> None:
    message = f"there is no patch {number}, the series has 3 patches"
    with pytest.raises(UsageError, match=message):
        drop(PLAIN, SERIES, number)
    with pytest.raises(UsageError, match=message):
        refresh(PLAIN, SERIES, number, PLAIN)
