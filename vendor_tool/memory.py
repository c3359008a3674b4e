"""Answers that hold as long as their question does, kept in the user's cache folder; losing one costs time alone."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any


def place(cache: Path, kind: str, question: object) -> Path:
    """Where the answer to a question, a value that JSON can hold, is kept."""
    asked = json.dumps(question, sort_keys=True).encode()
    return cache / kind / hashlib.sha256(asked).hexdigest()[:40]


def recall(path: Path) -> Any:
    """The answer, or None where there is none that can be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def remember(path: Path, answer: object) -> None:
    """Keep an answer that JSON can hold. A cache that cannot be written is no failure."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(answer), encoding="utf-8")
        temporary.replace(path)
