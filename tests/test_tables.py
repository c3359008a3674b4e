"""A new rule, check, document or report is one file and one line in a table: this fails while the line is missing."""

from pathlib import Path
from typing import get_args

from vendor_tool import documents, model, reports
from vendor_tool.cli.arguments import COMMANDS, FORMATS, MODULES
from vendor_tool.lockfile import read
from vendor_tool.pipeline import audit

PACKAGE = Path(__file__).parent.parent / "vendor_tool"


def modules_with(folder: str, text: str) -> set[str]:
    """Names of the modules of a folder whose source has a line that begins with a text."""
    found = set()
    for path in (PACKAGE / folder).glob("*.py"):
        if any(line.startswith(text) for line in path.read_text(encoding="utf-8").splitlines()):
            found.add(path.stem)
    return found - {"__init__"}


def test_every_report_is_in_the_table_and_offered() -> None:
    assert modules_with("reports", "def render(") - {"plan", "series"} == set(reports.REPORTS) == set(FORMATS)


def test_every_document_is_in_the_table() -> None:
    # a bill of materials is printed when asked for, and never lies in the tree
    assert modules_with("documents", "def render(") - {"cyclonedx", "spdx"} == set(documents.DOCUMENTS)


def test_every_audit_is_run() -> None:
    tables = {one.__name__.rpartition(".")[2] for one in audit.AUDITS}
    assert modules_with("checks", "def check(") - {"drift"} == tables


def test_every_rule_of_a_lock_can_be_read_and_applied() -> None:
    rules = {rule.__name__.lower() for rule in get_args(model.Rule)}
    assert set(read.RULES) == rules == modules_with("transform", "def apply(") - {"select"}


def test_rule_ids_are_unique() -> None:
    from vendor_tool.checks import drift

    ids = [name for one in audit.AUDITS for name in one.RULES] + list(drift.RULES)
    assert len(ids) == len(set(ids))


def test_every_command_has_its_function() -> None:
    import importlib

    for name in COMMANDS:
        module = importlib.import_module(f"vendor_tool.cli.{MODULES.get(name, name)}")
        assert callable(getattr(module, name))
