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
