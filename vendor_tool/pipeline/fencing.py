"""The fence of a project: read from its tools' configurations, written into them, held to the lock by `check`."""

from __future__ import annotations

from collections.abc import Mapping

from vendor_tool import fence, write
from vendor_tool.errors import UsageError
from vendor_tool.findings import Finding
from vendor_tool.model import Blob, Lock
from vendor_tool.pipeline import state


def snippets(lock: Lock) -> Mapping[str, str]:
    """What to paste into each tool's configuration, by tool."""
    return fence.render(lock, generated=state.generated_paths(lock))


def write_all(lock: Lock) -> tuple[str, ...]:
    """Write the excludes; the configurations that changed, sorted.

    Raises UsageError for one that cannot be read or has no place for them, before anything is written.
    """
    texts = _texts(lock)
    changed = fence.apply(lock, texts, generated=state.generated_paths(lock))
    if changed:
        with write.exclusive(lock.root):
            blobs = {name: Blob(text.encode(), state.on_disk(lock, name)[1]) for name, text in changed.items()}
            write.commit(lock.root, blobs, None)
    return tuple(sorted(changed))


def findings(lock: Lock) -> list[Finding]:
    """What a fence that was written lacks, or holds too much; nothing for a tool that never got one."""
    texts = _texts(lock)
    return fence.check(lock, texts, generated=state.generated_paths(lock), written=True) if texts else []


def _texts(lock: Lock) -> dict[str, str]:
    found = {}
    for name in fence.CONFIGS:
        data = state.on_disk(lock, name)[0]
        if data is None:
            continue
        try:
            found[name] = data.decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"`{name}` is not UTF-8", hint=f"save `{name}` as UTF-8") from None
    return found
