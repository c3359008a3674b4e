"""A job of the action that opens pull requests: a checkout with a remote, upstreams, and programs on the path."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integrations.runner import Runner
from tests.integrations.stand_ins import PYTHON, TOOL, install, install_gh, pull_requests
from tests.support.project import MIT, Project, entry, lock, project
from tests.support.upstream import Repository, repository

KERNEL = "def fwd(n):\n    return n + 1\n\n\nBLOCK = 64\n"
PATCH = """\
Description: start higher
Author: Ada Example <ada@example.invalid>
Forwarded: not-needed
---
diff --git a/vendored/one/fwd.py b/vendored/one/fwd.py
--- a/vendored/one/fwd.py
+++ b/vendored/one/fwd.py
@@ -1,5 +1,5 @@
 def fwd(n):
-    return n + 1
+    return n + 7
\x20
\x20
 BLOCK = 64
"""


@dataclass(frozen=True)
class Scene:
    """A checkout of a project with a remote, a `gh` on the path, and its two upstreams."""

    runner: Runner
    one: Repository
    two: Repository

    def upgrade(self, **env: str) -> "subprocess.CompletedProcess[str]":
        """The step that opens pull requests."""
        return self.runner.step("Upgrade", LOCK="vendor.lock.yaml", BASE="main", **env)

    @property
    def requests(self) -> dict[str, dict[str, Any]]:
        return pull_requests(self.runner.programs)

    def plan(self, name: str, revision: str) -> str:
        """What the program prints as the plan of an upgrade."""
        command = ["sync", f"{name}@{revision}", "--dry-run", "--format", "markdown"]
        return Project(self.runner.checkout).run(*command).out

    def branches(self) -> dict[str, str]:
        lines = self.runner.git("ls-remote", "--heads", "origin").splitlines()
        return {ref.removeprefix("refs/heads/"): commit for commit, ref in (line.split("\t") for line in lines)}


def begin(tmp_path: Path) -> Scene:
    """Two upstreams without news, one of them with a patch; the checkout is clean and pushed."""
    upstreams = []
    for name in ("one", "two"):
        made = repository(tmp_path / f"{name}.git")
        made.commit(
            {"LICENSE": MIT, "pkg/ops/fwd.py": KERNEL.replace("fwd", f"fwd_{name}" if name == "two" else "fwd")}
        )
        upstreams.append(made)
    one, two = upstreams
    patches = "patches: [patches/one/0001-higher.patch]"
    consumer = project(
        tmp_path / "checkout",
        lock(
            entry(one.url, one.git("rev-parse", "main"), "[fwd.py]", name="one", to="vendored/one", more=patches),
            entry(two.url, two.git("rev-parse", "main"), "[fwd.py]", name="two", to="vendored/two"),
            shims="",
        ),
    )
    consumer.write({"patches/one/0001-higher.patch": PATCH})
    consumer.done("sync")
    runner = Runner(consumer.root, tmp_path / "runner")
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "remote.git")], check=True)
    runner.git("init", "-q", "-b", "main")
    runner.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    (consumer.root / ".gitignore").write_text(".vendor-tool/\n")
    runner.git("add", ".")
    runner.git("commit", "-q", "-m", "start")
    runner.git("push", "-q", "origin", "main")
    install_gh(runner.programs)
    install(runner.programs, "vendor-tool", TOOL)
    install(runner.programs, "python3", PYTHON)
    return Scene(runner, one, two)


def news(upstream: Repository, number: int = 2) -> str:
    """A change of what is vendored that no patch is in the way of; its commit."""
    return upstream.commit({"pkg/ops/fwd.py": upstream.git("show", "main:pkg/ops/fwd.py") + f"\nx = {number}\n"})
