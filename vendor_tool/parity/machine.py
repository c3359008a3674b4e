"""Facts of the machine, read without loading the runtime: a wrong pair of versions would end the process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata

from vendor_tool import known_bad
from vendor_tool.errors import UsageError
from vendor_tool.known_bad import matches
from vendor_tool.values import dataclass

RUNTIME = ("torch", "tilelang", "apache-tvm-ffi", "triton", "z3-solver")
"""Distributions whose versions shape a kernel; recorded with the evidence."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device as its driver names it."""

    name: str
    driver: str
    memory: str  # with its unit, as the driver prints it


@dataclass(frozen=True, slots=True)
class Facts:
    """What parity ran on, or would run on."""

    gpus: tuple[Gpu, ...]
    versions: Mapping[str, str]  # distribution -> version; absent where it is not installed


def facts() -> Facts:
    """What this machine has. Loads neither torch nor the runtime."""
    return Facts(gpus(), versions(RUNTIME))


def versions(names: Iterable[str]) -> dict[str, str]:
    """Versions of the distributions that are installed, from their metadata."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def gpus() -> tuple[Gpu, ...]:
    """The GPUs of this machine, by its driver's own tool; none where that is absent or fails."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,index,uuid", "--format=csv,noheader"]
    try:
        listing = subprocess.run(query, capture_output=True, text=True, timeout=60, check=True).stdout
    except (FileNotFoundError, subprocess.SubprocessError):
        return ()
    found = [[part.strip() for part in line.split(",")] for line in listing.splitlines() if line.strip()]
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is None:
        return tuple(Gpu(*parts[:3]) for parts in found)
    named: list[Gpu] = []
    for one in _listed(shown):
        # a part of a GPU has a name of its own, which only its driver resolves
        mine = [parts for parts in found if one == parts[3] or parts[4].startswith(one) or one.startswith("MIG-")]
        if not mine:
            break  # CUDA, too, reads no further
        named.append(Gpu(*mine[0][:3]))
    return tuple(named)


def devices(count: int) -> list[str]:
    """What CUDA_VISIBLE_DEVICES calls the first `count` of the GPUs that this process may use. UsageError for fewer."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    named = [str(number) for number in range(count)] if shown is None else _listed(shown)
    if len(named) < count:
        raise UsageError(
            f"{count} GPUs are wanted, CUDA_VISIBLE_DEVICES={shown} shows {len(named)}", hint="correct one of the two"
        )
    return named[:count]


def _listed(shown: str) -> list[str]:
    """The devices that the variable names, up to the first that is none, as CUDA reads it."""
    named = [part.strip() for part in shown.split(",")]
    end = next((at for at, part in enumerate(named) if not part or part.startswith("-")), len(named))
    return named[:end]


def refusal(installed: Mapping[str, str]) -> str | None:
    """Why these versions must not be loaded together, with names and versions; None where nothing is known.

    By the matrix that ships with the tool: in each of its pairs the import fails, in some it ends the process.
    """
    for pair in known_bad.shipped().bad:
        if matches(pair.versions, installed):
            return f"{' with '.join(f'{name} {installed[name]}' for name in pair.versions)}: {pair.reason}"
    return None


def unmet(requires: Mapping[str, str], installed: Mapping[str, str]) -> list[str]:
    """The entry's `requires:` that this machine does not meet, as sentences."""
    out = []
    for name, wanted in sorted(requires.items()):
        if name not in installed:
            out.append(f"{name} is not installed, the lock asks for {name}{wanted}")
        elif not matches({name: wanted}, installed):
            out.append(f"{name} {installed[name]} is installed, the lock asks for {name}{wanted}")
    return out
