"""The example lock: what it says is what the rules were shown to need."""

from pathlib import Path

from vendor_tool import lockfile
from vendor_tool.model import Format, Header, Imports, Shim

LOCK = Path(__file__).parent.parent.parent / "examples" / "automodel-glm" / "vendor.lock.yaml"


def test_the_lock_reads_and_its_rules_come_in_the_order_that_was_used_by_hand(tmp_path: Path) -> None:
    upstream = lockfile.load(LOCK, tmp_path).upstreams["slime"]
    assert upstream.rules is not None
    assert [type(rule) for rule in upstream.rules] == [Header, Imports, Shim, Format]
    assert upstream.rules[3] == Format("ruff", "0.9.10", 120, True, ("nemo_automodel",), True, True)
    assert upstream.patches == ()


def test_two_files_have_one_more_line_in_their_header(tmp_path: Path) -> None:
    upstream = lockfile.load(LOCK, tmp_path).upstreams["slime"]
    assert upstream.rules is not None
    common = upstream.rules[0]
    assert isinstance(common, Header)
    own = {spec.path: spec.rules for spec in upstream.files}
    assert own == {
        "indexer.py": (Header(common.text.rstrip("\n") + "\n\nruff: noqa: D101,D103\n"),),
        "sparse_mla.py": (Header(common.text.rstrip("\n") + "\n\nruff: noqa: D101\n"),),
        "tilelang_*.py": (),
    }
