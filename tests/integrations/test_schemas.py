"""What ships for other programs to read, held against their own validators; none of them reaches the network."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent.parent
WORKFLOWS = sorted(str(path.relative_to(TOP)) for path in (TOP / ".github/workflows").glob("*.yml"))


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=TOP, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-actions", ["action.yml"]),
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.gitlab-ci", ["ci/gitlab.yml"]),
        ("vendor.renovate", ["renovate/default.json"]),
    ],
)
def test_file_fits_its_schema(schema: str, files: list[str]) -> None:
    result = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files)
    assert result.returncode == 0, result.stdout + result.stderr


def test_validator_rejects_what_is_wrong(tmp_path: Path) -> None:
    broken = tmp_path / "action.yml"
    broken.write_text((TOP / "action.yml").read_text("utf-8").replace("using: composite", "using: magic"))
    result = run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", str(broken))
    assert result.returncode == 1


def test_workflows_pass_actionlint() -> None:
    program = shutil.which("actionlint", path=str(Path(sys.executable).parent))
    assert program is not None, "the extra `test` brings actionlint"
    assert WORKFLOWS
    result = run(program, "-shellcheck=", *WORKFLOWS)
    assert (result.returncode, result.stdout) == (0, "")


def test_hooks_fit_pre_commits_manifest() -> None:
    result = run(sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml")
    assert (result.returncode, result.stdout) == (0, "")
