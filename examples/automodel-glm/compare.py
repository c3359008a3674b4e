"""Sync the lock beside this file and compare the six files with the ones that were made by hand.

    python examples/automodel-glm/compare.py

Needs the network (or git's `insteadOf` and a copy of the upstream), vendor-tool and ruff 0.9.10. Exit code 0 where all
six digests are the same, 1 where one differs, vendor-tool's own code where it could not sync.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def wanted() -> dict[str, str]:
    """File name to sha256, as the table in the README gives them."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+\.py)` \| `([0-9a-f]{64})` \|$", text, re.MULTILINE))


def main() -> int:
    """Compare; the exit code."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(HERE / "vendor.lock.yaml", folder)
        done = subprocess.run([sys.executable, "-m", "vendor_tool", "--quiet", "sync"], cwd=folder, check=False)
        if done.returncode:
            return done.returncode
        found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*.py")}
    digests = wanted()
    different = [file for file, digest in sorted(digests.items()) if found.get(file) != digest]
    for file in different:
        print(f"{file}: {found.get(file)}, by hand {digests[file]}")
    print(f"{len(digests) - len(different)} of {len(digests)} files are the same as those made by hand")
    return 1 if different or not digests else 0


if __name__ == "__main__":
    sys.exit(main())
