"""Programs for the path of a job: GitHub's own, which no test may reach, the real `vendor-tool`, and its Python."""

import json
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).parent.parent.parent
TOOL = f"""
import sys
sys.path.insert(0, {str(TOP)!r})
from vendor_tool.cli import main
sys.exit(main(sys.argv[1:]))
"""


def tool(before: str) -> str:
    """The real `vendor-tool`, after a line of Python of its own."""
    return f"import pathlib, subprocess, sys\n{before}\n{TOOL}"


PYTHON = f"""
import runpy, sys
sys.path.insert(0, {str(TOP)!r})
assert sys.argv[1:3] == ["-I", "-m"], "a job's checkout must not shadow modules"
sys.argv = sys.argv[3:]
runpy.run_module(sys.argv[0], run_name="__main__")
"""

GH = """
import json, pathlib, sys
home = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
requests = json.loads((home / "requests.json").read_text())
value = lambda name: arguments[arguments.index(name) + 1]
if arguments[:2] == ["pr", "list"]:
    assert value("--state") == "open"
    found = [
        {
            "number": int(number), "title": request["title"], "isDraft": request["draft"],
            "isCrossRepository": request.get("fork", False),
        }
        for number, request in sorted(requests.items(), key=lambda one: -int(one[0]))
        if request["head"] == value("--head")
    ]
    fields = value("--json").split(",")
    limit = int(value("--limit")) if "--limit" in arguments else 30
    print(json.dumps([{field: one[field] for field in fields} for one in found[:limit]]))
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
elif arguments[:2] == ["pr", "ready"]:
    undo = arguments[3:] == ["--undo"]
    assert undo or not arguments[3:], arguments
    assert requests[arguments[2]]["draft"] != undo, "gh was asked for what is so"
    requests[arguments[2]]["draft"] = undo
else:
    sys.exit(f"gh was asked for {arguments}")
(home / "requests.json").write_text(json.dumps(requests))
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


def open_another(folder: Path, **request: Any) -> str:
    """A pull request that somebody else opened, from a fork where `fork` is true; its number."""
    known = pull_requests(folder)
    number = str(len(known) + 1)
    known[number] = {"title": "mine", "body": "mine", "base": "main", "draft": False, "labels": [], **request}
    (folder / "requests.json").write_text(json.dumps(known))
    return number


def pull_requests(folder: Path) -> dict[str, dict[str, Any]]:
    """By number, the pull requests that `gh` opened."""
    return dict(json.loads((folder / "requests.json").read_text()))
