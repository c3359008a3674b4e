"""Programs for the path of a step: GitHub's own, which no test may reach, and ours with the outcome that a test asks for.

Each is a real executable that keeps what it was told in a file beside it.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GH = """
import json, pathlib, sys
home = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
requests = json.loads((home / "requests.json").read_text())
value = lambda name: arguments[arguments.index(name) + 1]
if arguments[:2] == ["pr", "list"]:
    numbers = [n for n, request in requests.items() if request["head"] == value("--head")]
    print(numbers[0] if numbers else "")
elif arguments[:2] == ["pr", "create"]:
    number = str(len(requests) + 1)
    labels = [arguments[n + 1] for n, word in enumerate(arguments) if word == "--label"]
    requests[number] = {
        "head": value("--head"), "base": value("--base"), "title": value("--title"), "body": sys.stdin.read(),
        "draft": "--draft" in arguments, "labels": labels,
    }
    print(f"https://example.invalid/pull/{number}")
elif arguments[:2] == ["pr", "edit"]:
    requests[arguments[2]] |= {"title": value("--title"), "body": sys.stdin.read()}
else:
    sys.exit(f"gh was asked for {arguments}")
(home / "requests.json").write_text(json.dumps(requests))
"""

TOOL = """
import json, pathlib, sys
home = pathlib.Path(__file__).parent
plan = json.loads((home / "plan.json").read_text())
assert sys.argv[1:2] == ["--lock"], sys.argv
lock, command, *rest = pathlib.Path(sys.argv[2]), *sys.argv[3:]
if command == "outdated":
    print(json.dumps({"findings": plan["findings"]}))
    sys.exit(plan["outdated"])
if rest == ["--abort"]:
    (lock.parent / "marked").unlink()
    sys.exit(0)
name, _, revision = rest[0].partition("@")
if rest[1:] == ["--dry-run", "--format", "markdown"]:
    print(f"the plan for {name} at {revision}")
    sys.exit(0)
code = plan["sync"].get(name, 0)
if code == 5:
    (lock.parent / "marked").write_text("<<<<<<<")
if code == 0:
    lock.write_text(lock.read_text().replace(f"{name}: old", f"{name}: {revision}"))
    (lock.parent / f"{name}_new.py").write_text(revision)
sys.exit(code)
"""


def install(folder: Path, name: str, text: str) -> None:
    """Put a program into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!{sys.executable}\n{text}")
    (folder / name).chmod(0o755)


def install_gh(folder: Path) -> None:
    """A `gh` that knows of no pull requests yet."""
    install(folder, "gh", GH)
    (folder / "requests.json").write_text("{}")


def pull_requests(folder: Path) -> dict[str, dict[str, Any]]:
    """By number, the pull requests that `gh` opened."""
    return dict(json.loads((folder / "requests.json").read_text()))


def install_tool(
    folder: Path, upgrades: Mapping[str, str], *, sync: Mapping[str, int] | None = None, outdated: int = 0
) -> None:
    """A `vendor-tool` whose `outdated` proposes upgrades (name to revision), and whose `sync` ends with given codes."""
    findings = [
        {"rule": "upstream-changed", "fix": f"vendor-tool sync {name}@{revision}"}
        for name, revision in upgrades.items()
    ]
    install(folder, "vendor-tool", TOOL)
    other = {"rule": "upstream-moved", "fix": None}
    plan = {"findings": [other, *findings], "sync": dict(sync or {}), "outdated": outdated}
    (folder / "plan.json").write_text(json.dumps(plan))
