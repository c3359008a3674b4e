import pytest

from tests.support.trees import made, series, texts, tree
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError, UsageError
from vendor_tool.merge import EDITS, Rebase, resume, upgrade
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Patch

KERNEL = """\
import torch

TILE = 64
mask = "bool"


def forward(x):
    rows = x.shape[0]
    return x * TILE


def backward(x):
    return x
"""


def kernel(*replacements: tuple[str, str]) -> Tree:
    text = KERNEL
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return tree({"v/k.py": text})


OLD = kernel()
TILE = ("TILE = 64", "TILE = 32")
ROWS = ("    rows = x.shape[0]\n", "    rows = x.shape[0]\n    if rows == 0:\n        return x\n")


def statuses(result: Rebase) -> list[str]:
    return [step.status for step in result.steps]


def replayed(result: Rebase, plain: Tree) -> Tree:
    """What the series, as it would be written, makes of the new plain tree."""
    written = [patches.parse(path, text) for path, text in result.texts.items()]
    return patches.replay(written, plain)[-1] if written else plain


# ---- patches that go through ------------------------------------------------------------------------------


def test_a_patch_keeps_its_bytes_where_upstream_changed_something_else() -> None:
    (patch,) = series(OLD, kernel(TILE))
    new = kernel(("    return x\n", "    return -x\n"))
    result = upgrade(OLD, new, [patch])
    assert statuses(result) == ["clean"]
    assert result.texts == {patch.path: patch.text}
    assert result.tree == kernel(TILE, ("    return x\n", "    return -x\n"))


def test_a_patch_that_only_moves_keeps_its_bytes_and_says_where_it_stands_now() -> None:
    (patch,) = series(OLD, kernel(TILE))
    new = tree({"v/k.py": "# new head\n" + KERNEL})
    (step,) = upgrade(OLD, new, [patch]).steps
    assert (step.status, step.text) == ("clean", patch.text)
    assert step.notes == ("hunk 1 of `v/k.py` fits at line 2, recorded at 1",)


def test_a_patch_whose_surroundings_changed_is_written_anew_with_its_head() -> None:
    (patch,) = series(OLD, kernel(TILE))
    new = kernel(("import torch\n", "import torch.nn as nn\n"))
    result = upgrade(OLD, new, [patch])
    assert statuses(result) == ["changed"]
    assert result.texts[patch.path].startswith(patch.preamble)
    assert b" import torch.nn as nn\n" in result.texts[patch.path]
    assert replayed(result, new) == result.tree == kernel(TILE, ("import torch\n", "import torch.nn as nn\n"))


def test_patches_stay_apart() -> None:
    one, two = kernel(TILE), kernel(TILE, ROWS)
    first, second = series(OLD, one, two)
    new = kernel(("import torch\n", "import torch.nn as nn\n"))
    result = upgrade(OLD, new, [first, second])
    assert statuses(result) == ["changed", "clean"]
    changed = patches.parse(first.path, result.texts[first.path])
    assert patches.apply(changed, new) == kernel(TILE, ("import torch\n", "import torch.nn as nn\n"))
    assert replayed(result, new) == result.tree


def test_a_new_file_of_a_patch_stays_its_own() -> None:
    patch = made(OLD, {**OLD, "v/extra.py": Blob(b"e\n")})
    new = kernel(TILE)
    result = upgrade(OLD, new, [patch])
    assert (statuses(result), result.tree) == (["clean"], {"v/extra.py": Blob(b"e\n"), **new})


def test_a_file_that_a_patch_renames_takes_the_changes_of_upstream_along() -> None:
    patch = made(OLD, {"v/kernel.py": kernel(TILE)["v/k.py"]})
    result = upgrade(OLD, kernel(ROWS), [patch])
    assert result.tree == {"v/kernel.py": kernel(TILE, ROWS)["v/k.py"]}
    assert replayed(result, kernel(ROWS)) == result.tree


def test_new_files_of_upstream_and_files_without_patches_come_as_they_are() -> None:
    (patch,) = series(OLD, kernel(TILE))
    new = {**OLD, "v/more.py": Blob(b"m\n", True)}
    assert upgrade(OLD, new, [patch]).tree == {**kernel(TILE), "v/more.py": Blob(b"m\n", True)}


# ---- upstream has it now ----------------------------------------------------------------------------------


def test_a_patch_is_dropped_with_proof_where_upstream_has_the_same_fix() -> None:
    (patch,) = series(OLD, kernel(('mask = "bool"', 'mask = "int32"')))
    new = kernel(('mask = "bool"', 'mask = "int32"'), ("    return x\n", "    return -x\n"))
    result = upgrade(OLD, new, [patch])
    (step,) = result.steps
    assert (step.status, step.text) == ("obsolete", b"")
    assert step.notes == ("upstream has this now: without the patch the files are the same",)
    assert (result.tree, result.texts) == (new, {})


def test_a_patch_of_which_upstream_has_half_keeps_the_other_half() -> None:
    base = {**OLD, "v/l.py": Blob(b"a\n")}
    (patch,) = series(base, {**kernel(TILE), "v/l.py": Blob(b"b\n")})
    new = {**OLD, "v/l.py": Blob(b"b\n")}
    result = upgrade(base, new, [patch])
    (step,) = result.steps
    assert step.status == "changed"
    assert step.notes == ("upstream has the change to `v/l.py` now",)
    assert patches.parse(patch.path, step.text).paths == {"v/k.py"}


def test_the_same_fix_spelled_differently_is_said_and_left_to_a_person() -> None:
    flags = 'FLAGS = {\n    "merge": True,\n    "warp": True,\n}\n'
    base = tree({"v/k.py": flags})
    (patch,) = series(base, tree({"v/k.py": flags.replace('    "merge": True,\n', "")}))
    result = upgrade(base, tree({"v/k.py": flags.replace('"merge": True', '"merge": False')}), [patch])
    assert statuses(result) == ["conflict"]
    assert result.steps[0].notes == (
        f'`v/k.py`, line 2: the same fix twice, spelled differently: {patch.path} takes `"merge"` out, '
        "upstream sets it to `False`",
    )


# ---- conflicts --------------------------------------------------------------------------------------------


def conflicting() -> tuple[list[Patch], Tree, Rebase]:
    """Three patches; upstream changed the line of the second."""
    steps = [OLD, kernel(ROWS), kernel(ROWS, TILE), kernel(ROWS, TILE, ("return x * TILE", "return x / TILE"))]
    patch_series = series(*steps)
    new = kernel(("TILE = 64", "TILE = 128"))
    return patch_series, new, upgrade(OLD, new, patch_series, label="demo 1234567")


def test_a_removed_line_that_upstream_changed_is_a_conflict_with_both_lines_visible() -> None:
    patch_series, _, result = conflicting()
    assert (statuses(result), result.stopped, result.tree) == (["clean", "conflict", "waiting"], 1, None)
    (conflict,) = result.conflicts
    assert (conflict.path, conflict.kind) == ("v/k.py", "content")
    assert conflict.marked is not None
    assert conflict.marked.decode() == texts(kernel(ROWS))["v/k.py"].replace(
        "TILE = 64\n",
        f"<<<<<<< {patch_series[1].path}\nTILE = 32\n||||||| before the patch\nTILE = 64\n=======\n"
        "TILE = 128\n>>>>>>> demo 1234567\n",
    )
    assert (conflict.base, conflict.ours) == (kernel(ROWS)["v/k.py"], kernel(ROWS, TILE)["v/k.py"])
    assert conflict.theirs == kernel(ROWS, ("TILE = 64", "TILE = 128"))["v/k.py"]
    assert [clash.marked_lines for clash in conflict.clashes] == [(3, 9)]


def test_a_resolution_goes_into_the_patch_that_it_belongs_to() -> None:
    patch_series, new, stopped = conflicting()
    solved = kernel(ROWS, ("TILE = 64", "TILE = 96"))
    result = resume(stopped, solved)
    assert statuses(result) == ["clean", "changed", "clean"]
    assert result.tree == kernel(ROWS, ("TILE = 64", "TILE = 96"), ("return x * TILE", "return x / TILE"))
    assert replayed(result, new) == result.tree
    second = patches.parse("", result.texts[patch_series[1].path])
    assert (b"-TILE = 128\n" in second.text, b"+TILE = 96\n" in second.text) == (True, True)
    assert result.texts[patch_series[2].path] == patch_series[2].text


def test_a_resolution_that_takes_upstream_leaves_nothing_of_the_patch() -> None:
    patch_series, new, stopped = conflicting()
    result = resume(stopped, kernel(ROWS, ("TILE = 64", "TILE = 128")))
    assert statuses(result)[1] == "obsolete"
    assert result.steps[1].notes == ("the resolution leaves nothing of this patch",)
    assert list(result.texts) == [patch_series[0].path, patch_series[2].path]
    assert replayed(result, new) == result.tree


def test_resuming_changes_nothing_of_the_state_so_that_an_abort_forgets_all() -> None:
    patch_series, new, stopped = conflicting()
    resume(stopped, kernel(ROWS, ("TILE = 64", "TILE = 96")))
    assert stopped == upgrade(OLD, new, patch_series, label="demo 1234567")


def test_a_killed_upgrade_goes_on_from_the_resolutions_alone() -> None:
    patch_series, new, stopped = conflicting()
    solved = kernel(ROWS, ("TILE = 64", "TILE = 96"))
    again = upgrade(OLD, new, patch_series, label="demo 1234567", resolutions={1: solved})
    assert again == resume(stopped, solved)


def test_markers_that_are_left_are_told_by_line() -> None:
    _, _, stopped = conflicting()
    marked = stopped.conflicts[0].marked
    assert marked is not None
    with pytest.raises(ConflictError) as caught:
        resume(stopped, {"v/k.py": Blob(marked)})
    assert caught.value.message == "`v/k.py` still holds conflict markers at lines 3, 5, 7, 9"


def test_a_file_that_was_forgotten_is_told() -> None:
    _, _, stopped = conflicting()
    with pytest.raises(ConflictError, match="`v/k.py` is not resolved"):
        resume(stopped, {})


def test_there_is_nothing_to_resume_where_nothing_stopped() -> None:
    with pytest.raises(UsageError, match="no upgrade is stopped"):
        resume(upgrade(OLD, OLD, []), {})


def test_later_patches_of_other_files_are_judged_before_the_conflict_is_resolved() -> None:
    base = {**OLD, "v/a.py": Blob(b"a\n"), "v/b.py": Blob(b"b\n")}
    steps = [
        base,
        {**base, **kernel(TILE)},
        {**base, **kernel(TILE), "v/a.py": Blob(b"A\n")},
        {**base, **kernel(TILE), "v/a.py": Blob(b"A\n"), "v/b.py": Blob(b"B\n")},
    ]
    new = {**kernel(("TILE = 64", "TILE = 128")), "v/a.py": Blob(b"A\n"), "v/b.py": Blob(b"x\n")}
    result = upgrade(base, new, series(*steps))
    assert (statuses(result), result.stopped) == (["conflict", "obsolete", "conflict"], 0)
    assert [conflict.path for conflict in result.conflicts] == ["v/k.py"]


def test_a_file_that_upstream_deleted_and_a_patch_changes_is_a_conflict() -> None:
    base = {**OLD, "v/l.py": Blob(b"l\n")}
    (patch,) = series(base, {**kernel(TILE), "v/l.py": Blob(b"l\n")})
    result = upgrade(base, {"v/l.py": Blob(b"l\n")}, [patch])
    (conflict,) = result.conflicts
    assert (conflict.kind, conflict.theirs) == ("deleted-upstream", None)
    assert result.steps[0].notes == (f"`v/k.py`: upstream no longer has the file that {patch.path} changes",)
    gone = resume(result, {"v/k.py": None})
    assert (statuses(gone), gone.tree) == (["obsolete"], {"v/l.py": Blob(b"l\n")})
    kept = resume(result, kernel(TILE))
    assert (statuses(kept), kept.tree) == (["changed"], {**kernel(TILE), "v/l.py": Blob(b"l\n")})


def test_a_file_that_a_patch_deletes_and_upstream_changed_is_a_conflict() -> None:
    base = {**OLD, "v/l.py": Blob(b"l\n")}
    (patch,) = series(base, OLD)
    result = upgrade(base, {**OLD, "v/l.py": Blob(b"m\n")}, [patch])
    assert [conflict.kind for conflict in result.conflicts] == ["deleted-by-patch"]
    assert upgrade(base, {**kernel(TILE), "v/l.py": Blob(b"l\n")}, [patch]).tree == kernel(TILE)


def test_a_file_that_both_add_is_a_conflict_unless_it_is_the_same() -> None:
    (patch,) = series(OLD, {**OLD, "v/new.py": Blob(b"ours\n")})
    result = upgrade(OLD, {**OLD, "v/new.py": Blob(b"theirs\n")}, [patch])
    (conflict,) = result.conflicts
    assert (conflict.kind, conflict.base) == ("both-added", None)
    assert statuses(upgrade(OLD, {**OLD, "v/new.py": Blob(b"ours\n")}, [patch])) == ["obsolete"]


def test_the_executable_bit_merges_like_a_line() -> None:
    base = {"v/run": Blob(b"go\n")}
    (patch,) = series(base, {"v/run": Blob(b"stop\n")})
    assert upgrade(base, {"v/run": Blob(b"go\n", True)}, [patch]).tree == {"v/run": Blob(b"stop\n", True)}


def test_a_series_that_does_not_apply_to_its_own_base_is_told_as_such() -> None:
    (patch,) = series(OLD, kernel(TILE))
    with pytest.raises(ConflictError, match="does not apply"):
        upgrade(kernel(("TILE = 64", "TILE = 65")), OLD, [patch])


# ---- edits that no patch holds ----------------------------------------------------------------------------


def test_edits_that_no_patch_holds_survive_beside_the_series() -> None:
    (patch,) = series(OLD, kernel(TILE))
    edited = kernel(TILE, ("def backward(x):\n", "def backward(x, y):\n"))
    result = upgrade(OLD, kernel(ROWS), [patch], edited)
    assert result.tree == kernel(TILE, ROWS, ("def backward(x):\n", "def backward(x, y):\n"))
    assert list(result.texts) == [patch.path]
    assert [step.patch.path for step in result.steps] == [patch.path, EDITS]


def test_edits_that_no_patch_holds_conflict_like_a_patch() -> None:
    edited = kernel(TILE)
    result = upgrade(OLD, kernel(("TILE = 64", "TILE = 128")), [], edited)
    assert (result.stopped, result.conflicts[0].ours) == (0, edited["v/k.py"])
    assert resume(result, kernel(TILE)).tree == kernel(TILE)
