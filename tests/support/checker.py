"""mypy, run over a folder `vendored` with a runtime in `site`, as in a project that has both."""

import subprocess
import sys
from pathlib import Path


def revealed(folder: Path) -> tuple[list[str], int, str]:
    """The types that `reveal_type` shows, in the order of the file; mypy's exit status, and all that it said."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", "vendored"],
        cwd=folder,
        env={"MYPYPATH": "site", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    shown = [line.partition("Revealed type is ")[2].replace("builtins.", "") for line in done.stdout.splitlines()]
    return shown[:-1], done.returncode, done.stdout + done.stderr
