"""Spreads work over all cores.

`multiprocessing` would run the user's main module again in each process, or fork beside threads that fetch; these are
plain children that import this program alone.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_CHILD = "import sys; sys.path[:1] = sys.argv[1:]; from vendor_tool.transform.processes import serve; serve()"


def spread(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """The function's results in the order of the items. All must pickle, and the function must not raise."""
    count = min(os.cpu_count() or 1, len(items))
    if count < 2:
        return [function(item) for item in items]
    root = str(Path(__file__).parent.parent.parent)
    children = [
        subprocess.Popen([sys.executable, "-c", _CHILD, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(count - 1)
    ]
    try:
        for number, child in enumerate(children):
            assert child.stdin is not None
            pickle.dump((function, items[number + 1 :: count]), child.stdin)
            child.stdin.close()
        results: list[R | None] = [None] * len(items)
        results[::count] = [function(item) for item in items[::count]]
        for number, child in enumerate(children):
            assert child.stdout is not None
            results[number + 1 :: count] = pickle.load(child.stdout)
    finally:
        for child in children:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None and not pipe.closed:
                    pipe.close()
    return [result for result in results if result is not None]


def serve() -> None:
    """The work of one child: a function and its items on stdin, the results on stdout."""
    function, items = pickle.load(sys.stdin.buffer)
    pickle.dump([function(item) for item in items], sys.stdout.buffer)
