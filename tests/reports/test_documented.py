import json
from importlib.resources import files
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from vendor_tool.fence import KINDS
from vendor_tool.reports import REPORTS

DOCS = Path(__file__).parent.parent.parent / "docs"
REFERENCE = (DOCS / "reference/findings-json.md").read_text("utf-8")
CI = (DOCS / "reference/ci.md").read_text("utf-8")


def rows(text: str) -> set[str]:
    """What stands in back-ticks in the first cells of a page's tables."""
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| `")]
    return {word.strip("`") for cell in cells for word in cell.split(", ")}


def test_example_of_the_reference_fits_the_schema() -> None:
    schema = json.loads(files("vendor_tool.reports").joinpath("findings.schema.json").read_text("utf-8"))
    example = REFERENCE.split("```json\n")[1].split("```")[0]
    Draft202012Validator(schema).validate(json.loads(example))


def test_every_format_is_in_the_reference() -> None:
    assert set(REPORTS) - {"json"} <= rows(REFERENCE)


def test_every_input_of_the_action_is_in_the_reference() -> None:
    action = yaml.safe_load((DOCS.parent / "action.yml").read_text("utf-8"))
    assert set(action["inputs"]) <= rows(CI)


def test_every_hook_and_variable_is_in_the_reference() -> None:
    hooks = yaml.safe_load((DOCS.parent / ".pre-commit-hooks.yaml").read_text("utf-8"))
    gitlab = yaml.safe_load((DOCS.parent / "ci/gitlab.yml").read_text("utf-8"))
    assert {hook["id"] for hook in hooks} <= rows(CI)
    assert set(gitlab["variables"]) <= rows(CI)


def test_every_file_that_the_fence_writes_is_in_the_reference() -> None:
    assert [name for kind in KINDS.values() for name in kind.CONFIGS if f"`{name}`" not in CI] == []


def test_example_of_the_plan_reference_fits_the_schema() -> None:
    schema = json.loads(files("vendor_tool.reports").joinpath("plan.schema.json").read_text("utf-8"))
    example = (DOCS / "reference/plan-json.md").read_text("utf-8").split("```json\n")[1].split("```")[0]
    Draft202012Validator(schema).validate(json.loads(example))


def test_example_of_the_series_reference_fits_the_schema() -> None:
    schema = json.loads(files("vendor_tool.reports").joinpath("series.schema.json").read_text("utf-8"))
    example = (DOCS / "reference/series-json.md").read_text("utf-8").split("```json\n")[1].split("```")[0]
    Draft202012Validator(schema).validate(json.loads(example))
