"""A list of patches as text, JSON and Markdown: the same facts, and nothing of a patch's words is obeyed."""

import json
from importlib.resources import files

from jsonschema import Draft202012Validator

from vendor_tool.preview import Listing, Row
from vendor_tool.reports.series import FORMS

PIN, NEW = "1" * 40, "2" * 40
LISTING = Listing(
    "slime",
    PIN,
    (
        Row(1, "patches/slime/0001-pad.patch", "Pad @all | #1", "applies", "obsolete", ("upstream has `pad` now",)),
        Row(2, "patches/slime/0002-x.patch", "", "missing", "unknown", ("the file is not there",)),
    ),
    NEW,
)
LOST = Listing(
    "miles", PIN, (Row(1, "patches/miles/0001-y.patch", "Say y", "applies"),), NEW, "1 mapped\n  `k.py` is gone"
)


def test_text_is_a_line_for_each_patch_and_its_notes_below() -> None:
    assert FORMS["text"]([LISTING, LOST]) == (
        "slime: 2 patches on 111111111111, against 222222222222\n"
        "  1  patches/slime/0001-pad.patch  applies, then obsolete  Pad @all | #1\n"
        "     upstream has `pad` now\n"
        "  2  patches/slime/0002-x.patch    missing, then unknown\n"
        "     the file is not there\n"
        "miles: 1 patch on 111111111111, against 222222222222\n"
        "  how they fare there cannot be told: 1 mapped\n"
        "    `k.py` is gone\n"
        "  1  patches/miles/0001-y.patch  applies  Say y\n"
    )


def test_json_fits_its_schema_and_holds_every_fact() -> None:
    document = json.loads(FORMS["json"]([LISTING, LOST]))
    schema = json.loads(files("vendor_tool.reports").joinpath("series.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    assert document["series"][0]["patches"][0] == {
        "number": 1,
        "path": "patches/slime/0001-pad.patch",
        "title": "Pad @all | #1",
        "status": "applies",
        "against": "obsolete",
        "notes": ["upstream has `pad` now"],
    }
    assert [one["problem"] for one in document["series"]] == [None, "1 mapped\n  `k.py` is gone"]


def test_markdown_neither_notifies_nor_breaks_out_of_its_table() -> None:
    shown = FORMS["markdown"]([LISTING])
    assert shown == (
        "### slime: 2 patches on `111111111111`, against `222222222222`\n\n"
        "|  | patch |  | what |\n"
        "|---|---|---|---|\n"
        "| 1 | `patches/slime/0001-pad.patch` | applies, then obsolete | Pad @&#8203;all \\| #&#8203;1<br>upstream has `pad` now |\n"
        "| 2 | `patches/slime/0002-x.patch` | missing, then unknown | the file is not there |\n"
    )


def test_no_patches_are_said_or_an_empty_list() -> None:
    assert FORMS["text"]([]) == "no patches\n"
    assert FORMS["markdown"]([]) == "No patches.\n"
    assert json.loads(FORMS["json"]([]))["series"] == []


def test_what_a_terminal_would_obey_is_escaped() -> None:
    listing = Listing("slime", PIN, (Row(1, "patches/slime/0001-a.patch", "red \x1b[31m", "applies"),))
    assert "red \\x1b[31m\n" in FORMS["text"]([listing])
