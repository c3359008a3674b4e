from pathlib import Path

import pytest

from tests.support.trees import check_out, git, made, read_back, tree
from vendor_tool import patch as patches
from vendor_tool.errors import ConflictError
from vendor_tool.merge import export
from vendor_tool.model import Blob, Tree
from vendor_tool.patch import Patch

PRISTINE = """\
import tilelang

TILE = 64


@tilelang.jit
def forward(x):
    rows = x.shape[0]
    return x * TILE
"""
PLAIN = "# Copyright (c) Example\n\n" + PRISTINE.replace("import tilelang", "from ._tilelang import tilelang")
MAPPING = {"vendored/demo/k.py": "plugins/ops/kernel.py"}
UPSTREAM = tree({"plugins/ops/kernel.py": PRISTINE, "README.md": "read me\n"})


def plain(*replacements: tuple[str, str], **more: str) -> Tree:
    text = PLAIN
    for old, new in replacements:
        text = text.replace(old, new)
    return tree({"vendored/demo/k.py": text, **{f"vendored/demo/{name}.py": body for name, body in more.items()}})


def patch(before: Tree, after: Tree, head: dict[str, str] | None = None) -> Patch:
    head = head or {"Description": "Use the smaller tile", "Author": "Ada <ada@example.invalid>", "Forwarded": "no"}
    return patches.parse("patches/demo/0001-tile.patch", patches.render(before, after, head))


def test_git_am_takes_the_mail_in_a_clone_of_upstream(tmp_path: Path) -> None:
    head = {
        "Description": "Use the smaller tile für alle\nThe card has less memory.\n\n--- measured on one card",
        "Author": "Zoë Example <zoe@example.invalid>",
        "Last-Update": "2026-01-31",
        "Forwarded": "no",
    }
    change = patch(plain(), plain(("TILE = 64", "TILE = 32"), extra="x = 1\n"), head)
    mail = export(change, plain(), UPSTREAM, MAPPING)
    check_out(UPSTREAM, tmp_path)
    git(tmp_path, "am", "-q", stdin=mail)
    assert read_back(tmp_path) == {
        "README.md": Blob(b"read me\n"),
        "plugins/ops/extra.py": Blob(b"x = 1\n"),
        "plugins/ops/kernel.py": Blob(PRISTINE.replace("64", "32").encode()),
    }
    assert git(tmp_path, "log", "-1", "--format=%an <%ae> %as%n%B").decode() == (
        "Zoë Example <zoe@example.invalid> 2026-01-31\n"
        "Use the smaller tile für alle\n\nThe card has less memory.\n\n --- measured on one card\n\n"
    )


def test_a_later_patch_goes_without_the_earlier_ones_where_it_does_not_need_them(tmp_path: Path) -> None:
    before = plain(("    rows = x.shape[0]\n", ""))
    mail = export(
        patch(before, plain(("    rows = x.shape[0]\n", ""), ("TILE = 64", "TILE = 32"))), before, UPSTREAM, MAPPING
    )
    check_out(UPSTREAM, tmp_path)
    git(tmp_path, "am", "-q", stdin=mail)
    assert read_back(tmp_path)["plugins/ops/kernel.py"].data.decode() == PRISTINE.replace("64", "32")


def refusal(change: Patch, before: Tree) -> str:
    with pytest.raises(ConflictError) as caught:
        export(change, before, UPSTREAM, MAPPING)
    return caught.value.message


def test_a_change_to_what_the_rules_made_cannot_go_upstream() -> None:
    change = patch(plain(), plain(("from ._tilelang import tilelang", "from ._tilelang import tilelang  # lazy")))
    assert refusal(change, plain()) == (
        "`patches/demo/0001-tile.patch` cannot be carried to pristine `plugins/ops/kernel.py`, line 1: "
        "it touches what the rules or an earlier patch changed"
    )


def test_a_change_to_the_header_of_ours_alone_cannot_go_upstream() -> None:
    assert "cannot be carried" in refusal(patch(plain(), plain(("(c) Example", "(c) Other"))), plain())


def test_names_of_local_modules_do_not_go_upstream() -> None:
    change = patch(plain(), plain(("TILE = 64", "import vendored.demo.other\nTILE = 64")))
    assert "names `vendored.demo` in `import vendored.demo.other`" in refusal(change, plain())


def test_a_result_that_is_not_python_does_not_go_upstream() -> None:
    change = patch(plain(), plain(("TILE = 64", "TILE = (64")))
    assert refusal(change, plain()).endswith("gives a file that is not Python")


def test_a_new_file_without_neighbours_has_no_place_upstream() -> None:
    change = made(plain(), {**plain(), "vendored/else/new.py": Blob(b"n = 1\n")})
    assert "adds `vendored/else/new.py`, whose place upstream is not known" in refusal(change, plain())


def test_what_upstream_has_already_is_not_sent() -> None:
    before = plain(("x * TILE", "x + TILE"))
    assert "changes nothing in the pristine files" in refusal(patch(before, plain()), before)
