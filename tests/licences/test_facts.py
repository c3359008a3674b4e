"""The legal facts of an upstream and the chain behind its files, read from repositories that are plain values."""

from collections.abc import Mapping
from pathlib import Path

from tests.support.rights import Repositories, Trees, kept
from vendor_tool import legal
from vendor_tool.legal import Ancestor, Origin
from vendor_tool.licences.facts import Vendored, facts
from vendor_tool.model import At, Resolved, Upstream

TEXTS = Path(__file__).parent / "texts"
MIT = (TEXTS / "MIT.txt").read_bytes()
TERMS = MIT.replace(b"The Demo Authors\n", b"The Demo Authors\nFurther terms with Example Corp apply.\n")
APACHE = (TEXTS / "Apache-2.0.txt").read_bytes().replace(b"[yyyy] [name of copyright owner]", b"2025 Mid Labs")
MID, ROOT = "https://github.com/mid/plugins", "https://github.com/roots/kern"
A, B, C = "a" * 40, "b" * 40, "c" * 40

MIT_KEPT = kept(
    "LICENSE", "vendored/LICENSES/mid/roots__kern/LICENSE", MIT, "MIT", "Copyright (c) 2024 The Demo Authors"
)
UPSTREAM = Upstream("mid", MID, B, At(1, 1), At(1, 1), from_="ops", to="vendored/mid")


def gather(trees: Trees, *paths: str, tags: Mapping[str, str] | None = None) -> tuple[legal.Facts, set[str]]:
    files = [Vendored(path, f"vendored/mid/{path.rpartition('/')[2]}", trees[MID, B][path]) for path in paths]
    found = facts(UPSTREAM, B, files, Repositories(trees, tags or {}))
    record = Resolved(At(1, 1), B, "", "", "", extra=found.extra)
    return legal.read(record), set(found.legal)


def test_the_chain_runs_to_the_root_through_a_path_in_the_same_repository() -> None:
    trees = {
        (MID, B): {
            "LICENSE": APACHE,
            "ops/new.py": b"# Adapted from ops/old.py for Demo.\nx = 1\n",
            "ops/old.py": f"# Adapted from {ROOT}/blob/{A}/examples/first.py\n".encode(),
        },
        (ROOT, A): {"LICENSE": MIT, "NOTICE": b"Root\n", "examples/first.py": b"x = 0\n"},
    }
    notice = kept("NOTICE", "vendored/LICENSES/mid/roots__kern/NOTICE", b"Root\n")
    found, written = gather(trees, "ops/new.py")
    assert found == legal.Facts(
        ancestors=(Ancestor(ROOT, A, ("examples/first.py",), license=MIT_KEPT, notice=notice),),
        origins={
            "vendored/mid/new.py": (
                Origin(MID, B, "ops/old.py", 1, 1, "ops/new.py"),
                Origin(ROOT, A, "examples/first.py", 2, 1, "ops/old.py"),
            )
        },
    )
    assert written == {"vendored/LICENSES/mid/LICENSE", MIT_KEPT.to, notice.to}


def test_a_commit_that_cannot_be_had_leaves_its_text_owed() -> None:
    trees = {(MID, B): {"LICENSE": APACHE, "ops/a.py": f"# Adapted from {ROOT}/blob/{A}/a.py\n".encode()}}
    found, written = gather(trees, "ops/a.py")
    assert found.ancestors == (Ancestor(ROOT, A, ("a.py",), owed="the commit cannot be fetched"),)
    assert written == {"vendored/LICENSES/mid/LICENSE"}


def test_a_branch_is_no_commit_and_a_tag_is_one() -> None:
    text = f"# Adapted from {ROOT}/blob/main/a.py\n#\n# Copied from {ROOT}/blob/v1.2.0/b.py\n".encode()
    trees = {(MID, B): {"LICENSE": APACHE, "ops/a.py": text}, (ROOT, C): {"LICENSE": MIT, "b.py": b""}}
    found, _written = gather(trees, "ops/a.py", tags={"v1.2.0": C})
    assert found.ancestors == (
        Ancestor(ROOT, C, ("b.py",), license=MIT_KEPT),
        Ancestor(ROOT, "main", ("a.py",), owed="the link names no commit"),
    )


def test_files_that_name_each_other_end_the_chain() -> None:
    trees = {
        (MID, B): {
            "LICENSE": APACHE,
            "ops/a.py": b"# Adapted from ops/b.py\n",
            "ops/b.py": b"# Adapted from ops/a.py\n",
        }
    }
    found, _written = gather(trees, "ops/a.py")
    assert [one.path for one in found.origins["vendored/mid/a.py"]] == ["ops/b.py"]


def test_a_dotted_name_and_a_bare_file_name_lead_into_the_same_repository() -> None:
    trees = {
        (MID, B): {
            "LICENSE": APACHE,
            "ops/a.py": b"# Copied from ops.deep.mod.Thing.call\n",
            "ops/b.py": b"# Copy from a.py, adapted for Demo\n",
            "ops/deep/mod.py": b"",
        }
    }
    found, _written = gather(trees, "ops/a.py", "ops/b.py")
    assert {to: [one.path for one in chain] for to, chain in found.origins.items()} == {
        "vendored/mid/a.py": ["ops/deep/mod.py"],
        "vendored/mid/b.py": ["ops/a.py", "ops/deep/mod.py"],
    }


def test_further_terms_of_a_licence_are_recorded() -> None:
    trees = {
        (MID, B): {"LICENSE": TERMS, "ops/a.py": f"# Adapted from {ROOT}/blob/{A}/a.py\n".encode()},
        (ROOT, A): {"LICENSE": TERMS, "a.py": b""},
    }
    found, _written = gather(trees, "ops/a.py")
    assert (found.extra_terms, [one.extra_terms for one in found.ancestors]) == (True, [True])


def test_two_revisions_with_one_text_share_its_copy_and_another_text_gets_its_own() -> None:
    text = "".join(f"# Adapted from {ROOT}/blob/{rev}/a{rev[0]}.py\n" for rev in (A, B, C)).encode()
    trees = {
        (MID, B): {"LICENSE": APACHE, "ops/a.py": text},
        (ROOT, A): {"LICENSE": MIT},
        (ROOT, B): {"LICENSE": MIT},
        (ROOT, C): {"LICENSE": TERMS},
    }
    found, _written = gather(trees, "ops/a.py")
    folder = "vendored/LICENSES/mid/roots__kern"
    copies = [one.license.to for one in found.ancestors if one.license]
    assert copies == [f"{folder}/LICENSE", f"{folder}/LICENSE", f"{folder}@ccccccc/LICENSE"]


def test_nothing_vendored_is_a_licence_on_record_and_no_copy() -> None:
    found = facts(UPSTREAM, B, [], Repositories({(MID, B): {"LICENSE": APACHE}}))
    assert found.license == kept(
        "LICENSE", "vendored/LICENSES/mid/LICENSE", APACHE, "Apache-2.0", "Copyright 2025 Mid Labs"
    )
    assert (found.legal, found.extra, found.notice) == ({}, {}, None)


def test_header_licences_and_links_are_told_by_local_path() -> None:
    text = f"# SPDX-License-Identifier: MIT\n# Adapted from {ROOT}/blob/{A}/a.py\n".encode()
    trees = {(MID, B): {"LICENSE": APACHE, "ops/a.py": text}, (ROOT, A): {"LICENSE": MIT, "a.py": b""}}
    found = facts(UPSTREAM, B, [Vendored("ops/a.py", "vendored/mid/a.py", text)], Repositories(trees))
    assert found.headers == {"vendored/mid/a.py": "MIT"}
    assert found.links == {"vendored/mid/a.py": (f"{ROOT}/blob/{A}/a.py",)}
