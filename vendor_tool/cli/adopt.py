"""`adopt`: what was found of a tree that was vendored by hand, and what was written for it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, say_done, voice
from vendor_tool.cli.output import Voice
from vendor_tool.cli.patch import author, today
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.pipeline import adopt as pipeline
from vendor_tool.pipeline import fencing
from vendor_tool.words import command

MOST_LEFT = 20

HOW = {
    "given": "as it was given",
    "same": "the same bytes",
    "said": "named in its comments",
    "named": "of the same name",
    "content": "by its lines",
    "symbols": "by its definitions",
}


def adopt(arguments: argparse.Namespace) -> ExitCode:
    """Find out where a folder's files are from, and put them under the lock as they are."""
    url, rev = (arguments.url, arguments.rev) if arguments.rev else pipeline.split_address(arguments.url)
    request = pipeline.Request(
        folder=_local(arguments.folder, arguments.lock.parent),
        url=url,
        rev=rev,
        name=arguments.name,
        license=arguments.license,
        path=arguments.path,
        files=tuple(arguments.files),
    )

    def head() -> dict[str, str]:
        who = arguments.author or author(arguments.lock.parent)
        return {"Forwarded": "no", "Author": who, "Last-Update": today()}

    found = pipeline.adopt(arguments.lock, request, head, access(arguments), dry_run=arguments.dry_run)
    _say(voice(arguments), found)
    say_done(voice(arguments), found.done, dry_run=arguments.dry_run)
    if not arguments.dry_run:
        if fencing.findings(lockfile.load(arguments.lock, cache())):
            output.say(voice(arguments), "next: vendor-tool fence --write")
        output.say(voice(arguments), f"next: {command('vendor-tool', 'outdated', found.name)}")
    return ExitCode.CLEAN


def _local(folder: Path, root: Path) -> str:
    """The folder as a local path. UsageError for one that the lock's folder does not hold."""
    here = Path(os.getcwd())  # noqa: PTH109 - keeps the spelling of a linked folder
    found = Path(os.path.relpath(here / folder, root.absolute())).as_posix()
    if found == ".." or found.startswith("../"):
        raise UsageError(
            f"`{folder}` is not below the lock's folder",
            hint="name the project's lock with `--lock` before the command",
        )
    return "" if found == "." else found


def _say(speak: Voice, found: pipeline.Adopted) -> None:
    output.say(
        speak,
        f"{found.name} at {found.revision[:12]} of {found.date[:10]} ({found.why}), "
        f"licence {found.license or 'not recognised'}",
    )
    if found.equal:
        others = output.several([f"{sha[:12]}" for sha in found.equal])
        verb = "fits" if len(found.equal) == 1 else "fit"
        output.say(speak, f"  {others} {verb} as well: `--from URL@REV` takes another one")
    for pair in found.pairs:
        rivals = f"; as like: {output.several(list(pair.rivals))}" if pair.rivals else ""
        output.say(speak, f"  {pair.path} -> {pair.local}  ({HOW[pair.how]}{rivals})")
    for rule in found.rules:
        output.say(speak, f"rule {rule}")
    for path, changed in found.patches.items():
        output.say(speak, f"patch {path}: {changed}")
    shown = list(found.left.items())[: None if speak.verbose else MOST_LEFT]
    for path, why in shown:
        output.say(speak, f"not adopted: {path} ({why})")
    if len(shown) < len(found.left):
        rest = len(found.left) - len(shown)
        output.say(
            speak, f"not adopted: {output.count(rest, 'further file')}: `vendor-tool --verbose adopt` lists them"
        )
    output.say(speak, f"{output.count(len(found.pairs), 'file')} replayed byte for byte")
    if found.license is None:
        output.say(speak, f"the licence was not recognised: set `license:` of `{found.name}` by hand")
