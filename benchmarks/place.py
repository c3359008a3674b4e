"""Where the benchmarks run: the tool installed as users have it, upstreams behind loopback HTTP, folders in memory."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clock import Command, run
from made import Upstream, make

from tests.support.server import Server, serve

ROOT = Path(__file__).resolve().parent.parent
# what the real ones hold at the revisions that this repository's own lock names
REAL = (
    ("slime", "THUDM/slime", "8f5e2151943e9ed0bbffaed93741d3473abb58d9", "slime_plugins/models/glm5/ops"),
    ("miles", "radixark/miles", "e561465d0b9bbf06188b7a5e2020dc7fd691f732", "miles_plugins/models/deepseek_v4/ops"),
    ("tilekernels", "deepseek-ai/TileKernels", "36d9e45d38e204ebb87e6f6e833821eee0482fe5", "tile_kernels/mhc"),
)
SETTINGS = """\
[init]
	defaultBranch = main
[safe]
	directory = *
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
"""


@dataclass(slots=True)
class Place:
    """Everything that a benchmark needs."""

    folder: Path
    tool: Path  # `bin` of the environment that the tool is installed in
    server: Server
    environment: Mapping[str, str]
    upstreams: tuple[Upstream, ...]  # made here
    real: tuple[Upstream, ...]  # from `--mirrors`; empty without
    peers: Path | None  # `bin` of an environment with other tools
    rounds: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def fresh(self, name: str = "work") -> Path:
        """A new empty folder."""
        made = self.folder / f"{name}-{next(self._numbers)}"
        made.mkdir()
        return made

    def vendor_tool(self, project: Path, *arguments: str, cache: Path, codes: tuple[int, ...] = (0,)) -> Command:
        """A command of the tool, as its users start it."""
        environment = {**self.environment, "VENDOR_TOOL_CACHE": str(cache)}
        return Command([self.tool / "vendor-tool", *arguments], project, environment, codes)

    def python(self, *arguments: str | Path, folder: Path | None = None) -> Command:
        """The tool's own interpreter."""
        return Command([self.tool / "python", *arguments], folder or self.folder, self.environment)

    def shell(self, script: str, folder: Path, **variables: str) -> Command:
        """A shell script, stopped by its first failure."""
        return Command(["sh", "-euc", script], folder, {**self.environment, **variables})

    def peer(self, name: str) -> Path | None:
        """Another tool's command, where it is installed."""
        beside = self.peers / name if self.peers else None
        if beside and beside.exists():
            return beside
        found = shutil.which(name)
        return Path(found) if found else None

    def project(self, upstreams: Sequence[Upstream], rules: str) -> Path:
        """A project whose lock takes the upstreams' files under these `transforms:`."""
        project = self.fresh("project")
        (project / "vendor.lock.yaml").write_text(lock(upstreams, rules), encoding="utf-8")
        return project


def lock(upstreams: Sequence[Upstream], rules: str) -> str:
    """The text of a lockfile; `rules` is the value of every `transforms:`, empty for the default."""
    lines = ["version: 1", "project: {name: measured, license: Apache-2.0}"]
    lines += ["shims:", "  tilelang: {to: vendored/_tilelang.py}", "upstreams:"]
    for upstream in upstreams:
        lines += [f"  {upstream.name}:", f"    url: {upstream.url}", f"    revision: {upstream.revision}"]
        lines += [
            f"    license: {upstream.license}",
            f"    from: {upstream.folder}",
            f"    to: vendored/{upstream.name}",
        ]
        lines += [f"    transforms: {rules}"] if rules else []
        lines += ["    files:", *(f'      - "{path}"' for path in upstream.files)]
    return "\n".join(lines) + "\n"


@contextmanager
def place(mirrors: Path | None, peers: Path | None, folder: Path, rounds: int) -> Iterator[Place]:
    """Install the tool, make the upstreams, serve them; `folder` is emptied by whoever made it."""
    home, served = folder / "home", folder / "served"
    home.mkdir()
    served.mkdir()
    (home / "gitconfig").write_text(SETTINGS, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    # the server's own git sees what ours sees
    os.environ.update({name: environment[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")})
    tool = install(folder / "venv")
    with serve(served) as server:
        made = tuple(make(served, server.url, number) for number in range(3))
        real = _real(mirrors, served, server.url) if mirrors else ()
        # claims of origin lead to other repositories, which are asked for where these stand, too
        with (home / "gitconfig").open("a", encoding="utf-8") as file:
            file.write(f'[url "{server.url}/"]\n\tinsteadOf = https://github.com/\n')
        yield Place(folder, tool, server, environment, made, real, peers, rounds)


def install(folder: Path) -> Path:
    """The tool in an environment of its own, from a wheel and with bytecode; its `bin`."""
    print("installing the tool", file=sys.stderr)
    venv.create(folder, with_pip=True, symlinks=True)
    command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--compile", ROOT, "ruff==0.9.10"], check=True, stderr=subprocess.DEVNULL)
    return folder / "bin"


def _real(mirrors: Path, served: Path, url: str) -> tuple[Upstream, ...]:
    for repository in mirrors.glob("*+*/repo"):
        owner, _, name = repository.parent.name.partition("+")
        (served / owner).mkdir(exist_ok=True)
        (served / owner / name).symlink_to(repository)
    found = []
    for name, path, revision, folder in REAL:
        if not (served / path).exists():
            raise SystemExit(f"--mirrors: no `{path.replace('/', '+')}/repo` in {mirrors}")
        command = ["git", "-C", str(served / path), "ls-tree", "-r", "--name-only", f"{revision}:{folder}"]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        wanted = _kernels(listed)
        found.append(
            Upstream(name, f"{url}/{path}", revision, folder, wanted, "MIT" if name == "tilekernels" else "Apache-2.0")
        )
    return tuple(found)


def _kernels(listed: Sequence[str]) -> tuple[str, ...]:
    names = [path for path in listed if path.endswith(".py") and not path.endswith("__init__.py")]
    own = [path for path in names if "tilelang" in path or path in ("indexer.py", "sparse_mla.py", "attention_core.py")]
    return tuple(sorted(own or names)[:6])


def warm(command: Command) -> str:
    """Run something that prepares a benchmark, and give back what it said."""
    return run(command).out
