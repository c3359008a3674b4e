"""Upstreams that the benchmarks make themselves: as many files and folders as a training framework, six kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.upstream import File, repository

NAMES = ("first", "second", "third")
FOLDERS, FILES = 40, 25  # a listing of 1,000 files in 40 folders
KERNELS = "plugin/models/attention/ops"


@dataclass(frozen=True, slots=True)
class Upstream:
    """A repository behind the server, and what is vendored from it."""

    name: str
    url: str
    revision: str
    folder: str
    files: tuple[str, ...]
    license: str = "Apache-2.0"

    @property
    def paths(self) -> tuple[str, ...]:
        """Upstream paths of the files."""
        return tuple(f"{self.folder}/{path}" for path in self.files)


def make(served: Path, url: str, number: int) -> Upstream:
    """A repository of 1,000 files, of which six kernels are wanted."""
    name = NAMES[number]
    made = repository(served / f"{name}.git")
    license_ = (Path(__file__).resolve().parent.parent / "LICENSE").read_bytes()
    kernels = {f"kernel_{n}.py": kernel(n + 10 * number, lines=260) for n in range(6)}
    files: dict[str, File] = {"LICENSE": license_}
    files |= {f"{KERNELS}/{path}": text for path, text in kernels.items()}
    for folder in range(FOLDERS):
        files |= {f"{name}/part_{folder}/module_{n}.py": plain(folder * FILES + n, 60) for n in range(FILES)}
    revision = made.commit(files)
    return Upstream(name, f"{url}/{name}.git", revision, KERNELS, tuple(sorted(kernels)))


def make_large(served: Path, url: str, count: int) -> Upstream:
    """A repository of `count` files of 2 kB in folders of a hundred, all of them wanted."""
    made = repository(served / "large.git")
    paths = {f"part_{n // 100}/module_{n}.py": plain(n, 45) for n in range(count)}
    files: dict[str, File] = {"LICENSE": (Path(__file__).resolve().parent.parent / "LICENSE").read_bytes()}
    files |= {f"large/{path}": text for path, text in paths.items()}
    revision = made.commit(files)
    return Upstream("large", f"{url}/large.git", revision, "large", ("**/*.py",))


def kernel(number: int, lines: int) -> str:
    """A module in the style of kernel files: it imports tilelang, and is mostly arithmetic on indices."""
    head = ["import torch", "import tilelang", "import tilelang.language as T", "", ""]
    return "\n".join([*head, *_functions(number, lines, "@tilelang.jit")]) + "\n"


def plain(number: int, lines: int) -> str:
    """A module that imports nothing."""
    return "\n".join(_functions(number, lines, "")) + "\n"


def _functions(number: int, lines: int, decorator: str) -> Iterator[str]:
    # names of its own: no two files are copies of one, which `outdated` would tell
    offset, total, row, value = (f"{word}_{number}" for word in ("offset", "total", "row", "value"))
    for place in range(max(1, lines // 13)):
        if decorator:
            yield decorator
        yield f"def stage_{number}_{place}(rows, width, block={place + 16}):"
        yield f'    """Stage {place} of kernel {number}."""'
        yield f"    {offset} = rows * {number * 31 + place} + width"
        yield f"    {total} = 0"
        yield f"    for {row} in range({offset} % 64):"
        yield f"        {value} = ({row} * {place + 3} + {offset}) // (block + 1)"
        yield f"        if {value} % 2 == 0 and {value} > width:"
        yield f"            {total} += {value} - {number}"
        yield "        else:"
        yield f"            {total} -= {value} * 3"
        yield f"    return {total}"
        yield ""
        yield ""
