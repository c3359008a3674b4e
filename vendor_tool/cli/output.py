"""Words on the two streams: findings and documents to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vendor_tool.cli import places
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.urls import redacted
from vendor_tool.values import dataclass
from vendor_tool.words import count as count
from vendor_tool.words import visible


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said and in which form, from `--verbose`, `--quiet` and `--color`."""

    verbose: bool = False
    quiet: bool = False
    color: str = "auto"

    @property
    def colored(self) -> bool:
        if self.color != "auto":
            return self.color == "always"
        return sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ


def say(voice: Voice, text: str) -> None:
    """One line for a person; silent under `--quiet`."""
    if not voice.quiet:
        print(_shown(text), file=sys.stderr)


def error(message: str, hint: str | None) -> None:
    """What went wrong, and what to do next."""
    print(_shown(f"error: {message}"), file=sys.stderr)
    if hint:
        print(_shown(f"\nhint: {hint}"), file=sys.stderr)


def _shown(text: str) -> str:
    """What servers and upstreams wrote can hold credentials, and what a terminal or a runner would obey."""
    shown = visible(text, kept="\n\t")
    if "::" in shown:
        shown = "\n".join(f"| {line}" if line.lstrip().startswith("::") else line for line in shown.split("\n"))
    return redacted(shown)


def bug(problem: BaseException) -> None:
    """A fault of this program, with what a report of it needs; the traceback only where it is asked for."""
    import traceback

    print(_shown(f"error: a bug in vendor-tool: {type(problem).__name__}: {problem}"), file=sys.stderr)
    if os.environ.get("VENDOR_TOOL_TRACEBACK"):
        print(redacted("".join(traceback.format_exception(problem))), file=sys.stderr)
    else:
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        print(f"  in {frame.name}, {Path(frame.filename).name}:{frame.lineno}", file=sys.stderr)
    print("\nhint: report it, with what `VENDOR_TOOL_TRACEBACK=1` adds; your files are as they were", file=sys.stderr)


def abandon() -> None:
    """The reader of stdout went away: leave nothing for the interpreter to flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def several(items: Sequence[str], most: int = 3) -> str:
    """The first few of many."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def progress(voice: Voice) -> Callable[[str], None]:
    """Where long steps report: a status line on a terminal, plain lines elsewhere, nothing under `--quiet`."""
    if voice.quiet:
        return lambda _message: None
    if sys.stderr.isatty():
        return _terminal()
    return lambda message: print(_shown(message), file=sys.stderr)


def _terminal() -> Callable[[str], None]:
    started: list[Callable[[str], None]] = []

    def report(message: str) -> None:
        if not started:
            import atexit

            from rich.console import Console

            status = Console(stderr=True).status(_shown(message))
            status.start()
            atexit.register(status.stop)
            started.append(lambda text: status.update(_shown(text)))
        started[0](message)

    return report


def report(found: Sequence[Finding], rules: Mapping[str, RuleInfo], arguments: argparse.Namespace, voice: Voice) -> str:
    """Write findings in every form and place that the command line names; the text of `--format`."""
    from vendor_tool.reports import REPORTS

    lock = arguments.lock
    folder = lock.parent.resolve()
    root = folder.relative_to(places.top(str(folder))).as_posix()
    name = lock.name if root == "." else f"{root}/{lock.name}"
    for form, target in arguments.also:
        document(REPORTS[form].render(found, rules, lock=name, root=root), target)
    color = voice.colored and arguments.output is None
    text = REPORTS[arguments.format].render(found, rules, lock=name, root=root, color=color)
    document(text, arguments.output)
    return text


def code(found: Sequence[Finding]) -> ExitCode:
    """The exit code that findings ask for: notes alone are clean."""
    return ExitCode.FINDINGS if any(one.level != "note" for one in found) else ExitCode.CLEAN


def document(text: str, target: str | None, *, option: str = "--output") -> None:
    """Text to stdout or into a file, which `option` named."""
    if target is None or target == "-":
        if sys.stdout is None:
            raise UsageError("stdout is closed", hint="write the report with `--output FILE`")
        sys.stdout.write(redacted(text))
        return
    try:
        _whole(Path(target), redacted(text))
    except OSError as problem:
        raise UsageError(f"cannot write `{target}`: {problem.strerror}", hint=f"name another `{option}`") from None


def _whole(path: Path, text: str) -> None:
    """A file is there whole or as it was; a pipe, a device or what a link leads to is written as it is."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_text(text, encoding="utf-8")
        return
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        staged.write_text(text, encoding="utf-8")
        if path.exists():
            staged.chmod(path.stat().st_mode & 0o7777)
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def raw(data: bytes) -> None:
    """Bytes to stdout as they are: a patch holds lines in whatever encoding their file has."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
