"""REUSE.toml, held against the `reuse` program itself."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support import rights
from vendor_tool.documents import reuse
from vendor_tool.legal import Facts

FILES = (
    rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 1\n"),
    rights.recorded("ops/bwd.py", "vendored/mid/bwd.py", b"x = 2\n", b"x = 2\n"),
)
FACTS = Facts(ancestors=(rights.ANCESTOR,), origins={"vendored/mid/fwd.py": (rights.origin(),)})
LOCK = rights.lock(rights.upstream(*FILES, facts=FACTS))
OWN = b'version = 1\n\n[[annotations]]\npath = "*.toml"\nSPDX-FileCopyrightText = "2026 Us"\nSPDX-License-Identifier = "MIT"\n'


def test_files_that_share_licence_and_holders_share_an_annotation() -> None:
    found = reuse.render(LOCK, {"REUSE.toml": OWN})["REUSE.toml"].decode()
    assert found == OWN.decode() + (
        f"\n{reuse.BEGIN}\n"
        "[[annotations]]\n"
        'path = ["vendored/mid/bwd.py"]\n'
        'precedence = "aggregate"\n'
        'SPDX-FileCopyrightText = ["Copyright 2025 Mid Labs"]\n'
        'SPDX-License-Identifier = "Apache-2.0"\n'
        "\n"
        "[[annotations]]\n"
        'path = ["vendored/mid/fwd.py"]\n'
        'precedence = "aggregate"\n'
        'SPDX-FileCopyrightText = ["Copyright 2025 Mid Labs", "Copyright (c) 2024 The Demo Authors"]\n'
        'SPDX-License-Identifier = "Apache-2.0 AND MIT"\n'
        f"{reuse.END}\n"
    )
    assert reuse.render(LOCK, {"REUSE.toml": found.encode()})["REUSE.toml"].decode() == found


def test_a_project_without_the_file_gets_none() -> None:
    assert reuse.render(LOCK, {}) == {}


def test_reuse_itself_accepts_the_tree(tmp_path: Path) -> None:
    tree = {
        "REUSE.toml": reuse.render(LOCK, {"REUSE.toml": OWN})["REUSE.toml"],
        "LICENSES/MIT.txt": rights.MIT,
        "LICENSES/Apache-2.0.txt": rights.APACHE,
        "vendored/mid/fwd.py": b"x = 1\n",
        "vendored/mid/bwd.py": b"x = 2\n",
        "vendored/LICENSES/mid/LICENSE": rights.APACHE,
        "vendored/LICENSES/mid/roots__kern/LICENSE": rights.MIT,
    }
    for path, data in tree.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    command = [sys.executable, "-m", "reuse", "--root", str(tmp_path), "lint", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(ran.stdout)
    assert report["summary"]["compliant"], report["non_compliant"]
    assert ran.returncode == 0
