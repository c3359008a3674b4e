"""Hold the tool to its speed goals: `python benchmarks/run.py [G1 ...]`. See README.md beside this file."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

# the tests' server counts requests and bytes
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import local
import network
import outdated
import rewriting
from place import Place, place
from row import Row, table

GOALS: Mapping[str, Callable[[Place], list[Row]]] = {
    "G1": network.g1,
    "G2": network.g2,
    "G3": network.g3,
    "G4": network.g4,
    "G5": network.g5,
    "G6": local.g6,
    "G7": local.g7,
    "G8": local.g8,
    "G9": local.g9,
    "G10": rewriting.g10,
    "G11": rewriting.g11,
    "G12": rewriting.g12,
    "G13": outdated.g13,
}


def main() -> int:
    """Run the goals that are named, or all; 1 where one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("goals", nargs="*", choices=[*GOALS, []], metavar="G1", help="goals to run (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each pair (default: 5)")
    parser.add_argument(
        "--mirrors", type=Path, default=os.environ.get("VENDOR_BENCH_MIRRORS"), metavar="DIR",
        help="folder of bare clones `OWNER+NAME/repo`, for the real upstreams (or VENDOR_BENCH_MIRRORS)",
    )  # fmt: skip
    parser.add_argument(
        "--peers", type=Path, default=os.environ.get("VENDOR_BENCH_PEERS"), metavar="BIN",
        help="`bin` folder of an environment with other tools (or VENDOR_BENCH_PEERS)",
    )  # fmt: skip
    arguments = parser.parse_args()
    memory = Path("/dev/shm")
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=memory if memory.is_dir() else None) as folder,
        place(arguments.mirrors, arguments.peers, Path(folder), arguments.rounds) as here,
    ):
        for goal in arguments.goals or GOALS:
            print(f"{goal}: {GOALS[goal].__doc__}", file=sys.stderr)
            found = GOALS[goal](here)
            print(table(found), file=sys.stderr)
            rows += found
    print(table(rows))
    return int(any(row.verdict == "MISSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
