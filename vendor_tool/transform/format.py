"""`format:` the finished files go through ruff, always through its binary and never through a user's settings.

One process sorts the imports of all files and one formats them: starting ruff costs more than its work.
"""

import functools
import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from vendor_tool.errors import UsageError
from vendor_tool.model import Change, Context, Format, Source
from vendor_tool.transform import syntax


def apply(source: Source, rule: Format, context: Context) -> Change:
    """Formats one Python file; others pass unchanged.

    Raises UsageError where ruff is missing, is not the version that the rule names, or cannot read the file.
    """
    (change,) = batch([source], rule, context)
    return change


def batch(sources: Sequence[Source], rule: Format, context: Context) -> tuple[Change, ...]:
    """Formats many files at once, as `apply` does each."""
    chosen = [source for source in sources if syntax.is_python(source.path)]
    if not chosen:
        return tuple(Change(source.data) for source in sources)
    ruff = binary()
    _demand(rule, context, version())
    with tempfile.TemporaryDirectory(prefix="vendor-tool-") as folder:
        # a number is no module name, so that ruff takes no import for one of these files
        names = {f"{number}{source.path[source.path.rfind('.') :]}": source for number, source in enumerate(chosen)}
        for name, source in names.items():
            Path(folder, name).write_bytes(source.data)
        if rule.isort:
            _run([ruff, "check", *_sorting(rule), *names], folder, names)
        _run([ruff, "format", *_isolated(rule), *names], folder, names)
        formatted = {source.path: Path(folder, name).read_bytes() for name, source in names.items()}
    return tuple(_change(source, formatted.get(source.path)) for source in sources)


def _change(source: Source, formatted: bytes | None) -> Change:
    if formatted is None:
        return Change(source.data)
    # a file that is formatted already bears the rule out as well as one that was not
    return Change(source.data if formatted == source.data else formatted, matched=True)


def _isolated(rule: Format) -> list[str]:
    return ["--isolated", "--no-cache", "--config", f"line-length={rule.line_length}", "--config", "src=[]"]


def _sorting(rule: Format) -> list[str]:
    settings = [
        f"lint.isort.known-first-party={json.dumps(rule.first_party)}",
        f"lint.isort.combine-as-imports={json.dumps(rule.combine_as)}",
    ]
    flags = ["--select", "I", "--fix", "--output-format", "concise"]
    if rule.past_noqa:
        flags.append("--ignore-noqa")
    return [*_isolated(rule), *flags, *(part for setting in settings for part in ("--config", setting))]


def _run(command: Sequence[str], folder: str, names: dict[str, Source]) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr).strip()
    for name, source in names.items():
        said = said.replace(f"{name}:", f"{source.path}:")
    raise UsageError(
        f"ruff could not format what it was given:\n{said}",
        hint="give the file `transforms:` of its own without `format`, or a newer ruff",
    )


def _demand(rule: Format, context: Context, installed: str) -> None:
    if rule.version is not None and rule.version != installed:
        raise UsageError(
            f"`format` of `{context.upstream}` asks for ruff {rule.version}, but `{binary()}` is {installed}",
            hint=f"run `{Path(sys.executable).name} -m pip install ruff=={rule.version}`",
        )


@functools.cache
def binary() -> str:
    """Where ruff is: beside this Python first, then on the path.

    Raises UsageError where it is nowhere.
    """
    here = shutil.which("ruff", path=sysconfig.get_path("scripts")) or shutil.which(
        "ruff", path=str(Path(sys.executable).parent)
    )
    if (found := here or shutil.which("ruff")) is not None:
        return found
    raise UsageError(
        "`format` needs ruff, which is neither beside this Python nor on the path",
        hint=f"run `{Path(sys.executable).name} -m pip install ruff`",
    )


@functools.cache
def version() -> str:
    """The version of the ruff that would run."""
    done = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]
