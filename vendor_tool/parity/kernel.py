"""The kernel that a parity test speaks of: found in the lock, loaded as vendored, and as its upstream published it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path, PurePosixPath
from types import ModuleType

from vendor_tool import evidence
from vendor_tool.errors import ContentError, ParityNotRun, UsageError
from vendor_tool.model import Lock, Recorded, RecordedImport, Resolved, Upstream
from vendor_tool.parity import machine
from vendor_tool.values import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """One file of an upstream, or one run-time import of it."""

    upstream: Upstream
    item: Recorded | RecordedImport

    @property
    def name(self) -> str:
        """What reports and evidence call it: the upstream path of a copied file, the dotted name of an import."""
        return self.item.path if isinstance(self.item, Recorded) else self.item.name


def find(lock: Lock, upstream: str, wanted: str) -> Kernel:
    """The kernel under an upstream's name and a path below its `from`, or a dotted import.

    Raises UsageError when the lock has no such upstream, it was not synced, or records no such file.
    """
    if upstream not in lock.upstreams:
        raise UsageError(f"no upstream `{upstream}` in `{lock.path.name}`", hint="correct the test's `kernel` marker")
    entry = lock.upstreams[upstream]
    if entry.resolved is None:
        raise UsageError(f"upstream `{upstream}` was never synced", hint=f"run `vendor-tool sync {upstream}`")
    item = evidence.find(entry, wanted)
    if item is not None:
        return Kernel(entry, item)
    raise UsageError(
        f"upstream `{upstream}` has no file `{wanted}` in `{lock.path.name}`",
        hint="name it by its path below `from:`, as under `files:`",
    )


def missing_runtime(kernel: Kernel) -> str | None:
    """Why the runtime of a kernel cannot be used here: not installed, or versions that end the process; else None."""
    installed = machine.versions((*machine.RUNTIME, *kernel.upstream.requires))
    absent = [name for name in kernel.upstream.requires if name not in installed]
    if absent:
        return f"{' and '.join(absent)} not installed"
    if isinstance(kernel.item, RecordedImport) and importlib.util.find_spec(kernel.item.name.partition(".")[0]) is None:
        return f"{kernel.item.name.partition('.')[0]} not installed"
    return machine.refusal(installed)


def load_vendored(lock: Lock, kernel: Kernel) -> ModuleType:
    """The module of the vendored file, imported from the project; for a run-time import, the installed module.

    Raises ContentError when the file is missing, or an installed module is not the one that the lock pins.
    """
    if isinstance(kernel.item, RecordedImport):
        return _load_installed(kernel.item)
    local = PurePosixPath(kernel.item.to)
    if not (lock.root / local).is_file():
        raise ContentError(f"`{local}` is missing", hint=f"run `vendor-tool sync {kernel.upstream.name}`")
    source = local.relative_to("src") if local.parts[0] == "src" else local
    return _import(lock.root / "src" if local.parts[0] == "src" else lock.root, source)


def load_upstream(pristine: Path | None, kernel: Kernel) -> ModuleType:
    """The module of the unmodified upstream file, under its own name, from a folder that holds upstream bytes.

    Raises ParityNotRun where there is no such folder or file.
    """
    path = PurePosixPath(kernel.item.path)
    if pristine is None or not (pristine / kernel.upstream.name / path).is_file():
        raise ParityNotRun(
            f"the unmodified `{path}` of `{kernel.upstream.name}` is not at hand",
            hint="run it through `vendor-tool parity`, or name a folder with `--parity-pristine`",
        )
    if isinstance(kernel.item, RecordedImport):
        above, below = _placed(kernel.item)
        return _import_beside(pristine / kernel.upstream.name / above, below)
    return _import(pristine / kernel.upstream.name, path)


def package(item: RecordedImport) -> str:
    """The upstream folder, with a slash at its end, that holds all that a run-time import may load of its upstream.

    The file itself where it is a module that belongs to no package.
    """
    above, below = _placed(item)
    return (above / below.parts[0]).as_posix() + ("/" if len(below.parts) > 1 else "")


def local_hashes(lock: Lock, resolved: Resolved) -> dict[str, str]:
    """sha256 of the vendored files and stand-ins as they are on disk now, by local path; missing ones are left out."""
    paths = [lock.root / item for item in sorted((*(file.to for file in resolved.files), *resolved.shims))]
    return {
        path.relative_to(lock.root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.is_file()
    }


def _import(root: Path, path: PurePosixPath) -> ModuleType:
    """The module of one file, and never another that goes by its name: then it is loaded apart from that one."""
    # a folder with a dot in its name cannot be part of a module's: its content is imported from inside
    dotted = max((at for at, part in enumerate(path.parts[:-1], start=1) if "." in part), default=0)
    root, path = root.joinpath(*path.parts[:dotted]), PurePosixPath(*path.parts[dotted:])
    if _strangers(root, path):
        return _import_beside(root, path)
    if str(root) in sys.path:
        sys.path.remove(str(root))
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    return _checked(importlib.import_module(_dotted(path)), root, path)


@cache
def _import_beside(root: Path, path: PurePosixPath) -> ModuleType:
    """A module whose package is loaded from elsewhere, loaded from `root`; the other one stays what imports give."""
    top = _dotted(path).partition(".")[0]

    def taken() -> dict[str, ModuleType]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == top}

    installed = taken()
    sys.path.insert(0, str(root))
    try:
        importlib.invalidate_caches()
        return _checked(importlib.import_module(_dotted(path)), root, path)
    finally:
        sys.path.remove(str(root))
        taken()
        sys.modules.update(installed)


def _checked(module: ModuleType, root: Path, path: PurePosixPath) -> ModuleType:
    strangers = _strangers(root, path)
    if strangers or Path(str(module.__file__)).resolve() != (root / path).resolve():
        name, place = (strangers or [(module.__name__, str(module.__file__))])[0]
        raise ContentError(
            f"`{name}` was loaded from `{place}`, not from `{root}`", hint="rename one of the two packages"
        )
    return module


def _strangers(root: Path, path: PurePosixPath) -> list[tuple[str, str]]:
    """Loaded modules, with their files, that go by the name of something in `root`, and are another file."""
    top, out = _dotted(path).partition(".")[0], []
    for name, module in list(sys.modules.items()):
        file, base = getattr(module, "__file__", None), root.joinpath(*name.split("."))
        if name.partition(".")[0] != top or file is None:
            continue
        mine = [base.with_name(f"{base.name}.py"), base / "__init__.py"]
        taken = base.is_dir() or any(item.is_file() for item in mine)
        if taken and Path(file).resolve() not in [item.resolve() for item in mine]:
            out.append((name, file))
    return out


def _placed(item: RecordedImport) -> tuple[PurePosixPath, PurePosixPath]:
    """The upstream folder that a run-time import's package stands in, such as `src`, and its file's path below that."""
    parts = PurePosixPath(item.path).parts
    top = item.name.partition(".")[0]
    at = next((number for number, part in enumerate(parts) if part in (top, f"{top}.py")), 0)
    return PurePosixPath(*parts[:at]), PurePosixPath(*parts[at:])


def _dotted(path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _load_installed(item: RecordedImport) -> ModuleType:
    dotted = _dotted(_placed(item)[1])
    module = importlib.import_module(dotted)
    data = Path(str(module.__file__)).read_bytes()
    if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != item.blob:
        raise ContentError(
            f"the installed `{dotted}` is not the file that the lock pins",
            hint="install the release that holds it, or move the pin with `vendor-tool sync NAME@REV`",
        )
    return module
