"""A run of the program that is killed at one of its steps on the disk."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.project import Project

KILLED = """
import os, signal, sys
left = [{number}]
def hook(event, args):
    if event in ("os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir") and {root!r} in str(args[0]):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
from vendor_tool.cli import main
sys.exit(main({arguments!r}))
"""


def killed(consumer: Project, number: int, *arguments: str) -> int:
    """Run a command that is killed at its step `number`; how it ended."""
    script = KILLED.format(number=number, root=str(consumer.root), arguments=list(arguments))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=consumer.root, env=env, check=False, capture_output=True
    ).returncode
