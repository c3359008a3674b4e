from collections.abc import Collection, Mapping
from hashlib import sha1

import pytest

from vendor_tool.model import Entry
from vendor_tool.moves import Fate, describe, propose

CORE = '''\
"""Toy kernels."""

import tilelang

SCALE = 2


class Attention:
    def forward(self, q, kv):
        scores = q @ kv
        return scores.softmax(-1) @ kv

    def backward(self, grad):
        return grad * SCALE


def reference(q, kv):
    scores = q @ kv
    scores = scores - scores.max()
    weights = scores.exp()
    return (weights / weights.sum()) @ kv


def wrapper(q):
    return Attention().forward(q, q)
'''


def part(text: str, start: str, end: str | None = None) -> str:
    body = text[text.index(start) :]
    return body[: body.index(end)] if end else body


ATTENTION = part(CORE, "class Attention", "def reference")
REFERENCE = part(CORE, "def reference", "def wrapper")


class Listing:
    """Two revisions of an upstream, and what was read of the newer one."""

    def __init__(self, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        self.old_texts = old
        self.old, self.new = self.entries(old), self.entries(new)
        self.texts = new
        self.read: list[str] = []

    @staticmethod
    def oid(text: str) -> str:
        return sha1(text.encode(), usedforsecurity=False).hexdigest()

    def entries(self, files: Mapping[str, str]) -> dict[str, Entry]:
        return {path: Entry("100644", "blob", self.oid(text)) for path, text in files.items()}

    def blobs(self, paths: Collection[str]) -> dict[str, bytes]:
        self.read += paths
        return {path: self.texts[path].encode() for path in paths}

    def describe(self, *missing: str) -> list[str]:
        gone = {path: self.old_texts[path].encode() for path in missing}
        return [describe(proposal) for proposal in propose(gone, self.old, self.new, self.blobs)]


def test_a_file_that_moved_unchanged_is_known_by_its_id_and_nothing_is_read() -> None:
    upstream = Listing({"ops/core.py": CORE}, {"ops/kernel/sparse.py": CORE, "far/copy.py": CORE})
    assert upstream.describe("ops/core.py") == ["`ops/core.py` is gone: `ops/kernel/sparse.py` holds 100 % of it"]
    assert upstream.read == []


def test_a_file_that_was_renamed_and_changed_is_known_by_its_lines() -> None:
    upstream = Listing({"ops/core.py": CORE}, {"ops/kernel/sparse.py": CORE.replace("SCALE = 2", "SCALE = 3")})
    assert upstream.describe("ops/core.py") == ["`ops/core.py` is gone: `ops/kernel/sparse.py` holds 97 % of it"]


def test_a_file_that_was_split_is_followed_by_its_functions_and_classes() -> None:
    changed = REFERENCE.replace("scores.max()", "scores.amax()")
    filler = "".join(f"def other_{n}():\n    return {n}\n\n\n" for n in range(40))
    upstream = Listing(
        {"ops/core.py": CORE, "ops/same.py": REFERENCE},
        {
            "ops/kernel/sparse.py": "import tilelang\n\n\n" + ATTENTION + filler,
            "ops/torch.py": filler + changed,
            "ops/same.py": REFERENCE,
        },
    )
    gone = {"ops/core.py": CORE.encode()}
    (proposal,) = propose(gone, upstream.old, upstream.new, upstream.blobs)
    assert describe(proposal) == (
        "`ops/core.py` is gone: Attention -> kernel/sparse.py (moved), reference -> torch.py (moved, changed), "
        "wrapper -> gone"
    )
    assert (proposal.renamed, proposal.paths) == (None, ("ops/kernel/sparse.py", "ops/torch.py"))
    assert upstream.read == ["ops/torch.py", "ops/kernel/sparse.py"]


def test_a_function_with_another_name_is_known_by_its_lines() -> None:
    upstream = Listing(
        {"core.py": CORE}, {"ref.py": REFERENCE.replace("def reference", "def attention_reference") + "x = 1\n" * 400}
    )
    (proposal,) = propose({"core.py": CORE.encode()}, upstream.old, upstream.new, upstream.blobs)
    assert [fate.status for fate in proposal.fates] == ["gone", "renamed", "gone"]
    assert "reference -> ref.py (moved, now attention_reference)" in describe(proposal)


def test_a_function_that_was_there_before_is_none_that_moved_there() -> None:
    near = REFERENCE.replace("def reference", "def near_reference")
    upstream = Listing({"core.py": CORE, "ref.py": near}, {"ref.py": near + "x = 1\n" * 400})

    def read_old(paths: Collection[str]) -> dict[str, bytes]:
        return {path: upstream.old_texts[path].encode() for path in paths}

    gone = {"core.py": CORE.encode()}
    (proposal,) = propose(gone, upstream.old, upstream.new, upstream.blobs, read_old)
    assert describe(proposal) == "`core.py` is gone, and nothing like it was found"
    upstream.texts = {"ref.py": near + REFERENCE + "x = 1\n" * 400}
    upstream.new = upstream.entries(upstream.texts)
    (proposal,) = propose(gone, upstream.old, upstream.new, upstream.blobs, read_old)
    assert proposal.paths == ("ref.py",)


def test_the_same_name_over_other_code_is_not_taken_for_the_same_function() -> None:
    other = "def wrapper(path, mode):\n    with open(path, mode) as file:\n        yield from file\n"
    upstream = Listing({"core.py": part(CORE, "def wrapper")}, {"io.py": other})
    assert upstream.describe("core.py") == ["`core.py` is gone, and nothing like it was found"]


@pytest.mark.parametrize(
    "entry", [Entry("120000", "blob", "a" * 40), Entry("160000", "commit", "b" * 40)], ids=["link", "submodule"]
)
def test_links_and_submodules_are_not_read(entry: Entry) -> None:
    upstream = Listing({"core.py": CORE}, {})
    upstream.new["moved.py"] = entry
    assert upstream.describe("core.py") == ["`core.py` is gone, and nothing like it was found"]


def test_text_that_is_not_python_is_followed_as_a_whole() -> None:
    text = "".join(f"row {n}\n" for n in range(20))
    upstream = Listing({"table.txt": text}, {"docs/rows.txt": text + "row 20\n", "broken.py": "def (:\n"})
    assert upstream.describe("table.txt") == ["`table.txt` is gone: `docs/rows.txt` holds 94 % of it"]


def test_the_nearest_of_equal_fits_wins() -> None:
    moved = CORE.replace("SCALE = 2", "SCALE = 3")
    upstream = Listing({"a/ops/core.py": CORE}, {"z/core.py": moved, "a/ops/kernel/core.py": moved})
    (proposal,) = propose({"a/ops/core.py": CORE.encode()}, upstream.old, upstream.new, upstream.blobs)
    assert proposal.renamed == "a/ops/kernel/core.py"
    assert proposal.fates[0] == Fate("Attention", "moved", "a/ops/kernel/core.py", "Attention", 1.0)
