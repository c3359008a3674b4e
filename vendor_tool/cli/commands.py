"""The daily commands: each calls the pipeline and renders what comes back."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from vendor_tool import lockfile
from vendor_tool.cli import output, quick
from vendor_tool.cli.arguments import LOCK, cache
from vendor_tool.cli.output import Voice
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.model import Access, Lock
from vendor_tool.words import command

if TYPE_CHECKING:
    from vendor_tool.pipeline.sync import Done


def voice(arguments: argparse.Namespace) -> Voice:
    """How to speak, from the options before the command."""
    return Voice(arguments.verbose, arguments.quiet, arguments.color)


def access(arguments: argparse.Namespace) -> Access:
    """How upstreams may be reached."""
    offline = bool(getattr(arguments, "offline", False))
    return Access(cache(), offline, output.progress(voice(arguments)))


def sync(arguments: argparse.Namespace) -> ExitCode:
    if arguments.resume or arguments.abort:
        return _stopped(arguments)
    if arguments.dry_run and any("@" in name for name in arguments.names):
        from vendor_tool.cli import outdated

        outdated.plan(arguments)
    elif arguments.format or arguments.output or arguments.also:
        raise UsageError(
            "`--format`, `--output` and `--also` are for upgrade plans",
            hint="run `vendor-tool sync NAME@REV --dry-run`",
        )
    from vendor_tool.pipeline import sync as pipeline

    done = pipeline.run(
        arguments.lock,
        arguments.names,
        access(arguments),
        force=arguments.force,
        dry_run=arguments.dry_run,
        accept_license=arguments.accept_license,
    )
    speak = voice(arguments)
    say_done(speak, done, dry_run=arguments.dry_run)
    if not (done.written or done.removed or done.notes or done.said):
        said = "" if speak.quiet else f"{_summary((), (), done.files, dry_run=False)}\n"
        quick.keep(arguments, lockfile.load(arguments.lock, cache()), err=said)
    return ExitCode.CLEAN


def _stopped(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.pipeline import upgrading

    if len(arguments.names) > 1:
        raise UsageError("one stopped upgrade at a time", hint="name one upstream, or none")
    name = arguments.names[0] if arguments.names else None
    if arguments.abort:
        output.say(voice(arguments), upgrading.abort(arguments.lock, name, access(arguments)))
    else:
        say_done(voice(arguments), upgrading.resume(arguments.lock, name, access(arguments)), dry_run=False)
    return ExitCode.CLEAN


MOST_LINES = 100


def say_done(speak: Voice, done: Done, *, dry_run: bool) -> None:
    """What a command did to files, line by line, and the sum."""
    loud = [note for note in done.notes if note.level != "note" or speak.verbose]
    for note in loud:
        output.say(speak, f"{note.path}:{note.line or 1}: {note.level}: {note.message}")
    if len(loud) < len(done.notes):
        hidden = output.count(len(done.notes) - len(loud), "note")
        output.say(speak, f"{hidden} about imports that could not be tried here: see `vendor-tool --verbose sync`")
    for line in done.said:
        output.say(speak, line)
    changes = [f"{'would write' if dry_run else 'wrote'} {path}" for path in done.written]
    changes += [f"{'would remove' if dry_run else 'removed'} {path}" for path in done.removed]
    shown = changes if speak.verbose or len(changes) <= MOST_LINES else changes[:MOST_LINES]
    for line in shown:
        output.say(speak, line)
    if len(shown) < len(changes):
        output.say(speak, f"... and {len(changes) - len(shown)} more: `--verbose` lists them all")
    output.say(speak, _summary(done.written, done.removed, done.files, dry_run=dry_run))


def _summary(written: tuple[str, ...], removed: tuple[str, ...], files: int, *, dry_run: bool) -> str:
    if not written and not removed:
        return f"nothing to do: {output.count(files, 'file')} as the lock says"
    verb = "would be " if dry_run else ""
    parts = [f"{output.count(len(written), 'file')} {verb}written"]
    if removed:
        parts.append(f"{len(removed)} {verb}removed")
    return ", ".join(parts)


def check(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.checks import drift
    from vendor_tool.fence import RULES as FENCE
    from vendor_tool.pipeline import check as pipeline
    from vendor_tool.pipeline import fencing

    lock = lockfile.load(arguments.lock, cache())
    names = pipeline.known(lock, arguments.names)
    found = pipeline.check(lock, names, cache())
    found += fencing.findings(lock) if not names else []
    if arguments.rebuild:
        found += pipeline.rebuild(lock, names, access(arguments))
    rules = {**drift.RULES, **FENCE}
    equal: list[str] = []
    if arguments.codegen:
        from vendor_tool.codegen import RULES as CODEGEN

        rules |= CODEGEN
        differing, equal = pipeline.codegen(lock, names, access(arguments))
        found += differing
    if arguments.write_baseline or arguments.baseline:
        from vendor_tool.cli import accepted

        left_out = set[str]() if arguments.rebuild else {"drift-rebuild", "drift-upstream-blob"}
        scope = accepted.Scope("check", rules.keys() - left_out, names or None)
        if arguments.write_baseline:
            return accepted.write(arguments.write_baseline, found, scope, voice(arguments))
        found = accepted.new(arguments.baseline, found, scope, voice(arguments))
    text = output.report(found, rules, arguments, voice(arguments))
    seen = pipeline.verified(lock, names)
    for line in [*seen, *equal]:
        output.say(voice(arguments), line)
    if not found and not arguments.baseline:
        said = "" if voice(arguments).quiet else "".join(f"{line}\n" for line in seen)
        quick.keep(arguments, lock, out=text, err=said)
    return output.code(found)


def init(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.pipeline import add as pipeline

    path = arguments.lock if arguments.lock.parent == Path.cwd() or arguments.lock_given else Path.cwd() / LOCK
    pipeline.init(path, name=arguments.name, license_=arguments.license)
    output.say(voice(arguments), f"wrote {path.name}\nnext: vendor-tool add NAME URL --path FOLDER --to FOLDER")
    return ExitCode.CLEAN


def add(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.pipeline import add as pipeline

    request = pipeline.Request(
        name=arguments.name,
        url=arguments.url,
        rev=arguments.rev,
        license=arguments.license,
        path=arguments.path,
        to=arguments.to,
        files=tuple(arguments.files),
        closure=not arguments.no_closure,
    )
    added = pipeline.add(arguments.lock, request, access(arguments))
    speak = voice(arguments)
    output.say(speak, f"{added.name} at {added.revision[:12]}, licence {added.license or 'not recognised'}")
    for path, to in sorted(added.files.items()):
        why = f"  (imported by {added.pulled[path]})" if path in added.pulled else ""
        output.say(speak, f"  {path} -> {to}{why}")
    for module, paths in added.needs.items():
        shim = " (from its shim)" if module in added.shims else ""
        output.say(speak, f"needs {module}{shim}: {output.several(paths)}")
    if added.license is None:
        output.say(speak, f"the licence was not recognised: set `license:` of `{added.name}` by hand")
    # the lock holds commits; `sync` records the tag beside it
    pin = f"{added.name}@{added.tag}" if added.tag else added.name
    output.say(speak, f"next: {command('vendor-tool', 'sync', pin)}")
    return ExitCode.CLEAN


def _stopped_at(lock: Lock, names: Collection[str]) -> list[str]:
    """Merges that wait for a person; nothing is loaded where none does."""
    from vendor_tool import write

    if not (lock.root / write.FOLDER / "merge").is_dir():
        return []
    from vendor_tool.pipeline import session, stopped

    waiting = [name for name in session.pending(lock.root) if not names or name in names]
    return [line for name in waiting for line in stopped.describe(lock, name)]


def status(arguments: argparse.Namespace) -> ExitCode:
    from vendor_tool.pipeline import check as pipeline

    lock = lockfile.load(arguments.lock, cache())
    names = pipeline.known(lock, arguments.names)
    found = pipeline.check(lock, names, cache())
    lines = []
    for name, upstream in lock.upstreams.items():
        if names and name not in names:
            continue
        mine = [one for one in found if one.upstream == name]
        record = upstream.resolved
        what = (
            f"{output.count(len(record.files), 'file')}, {output.count(len(upstream.patches), 'patch')}"
            if record
            else ""
        )
        if record and record.imports:
            what = output.count(len(record.imports), "run-time import")
        state = "never synced" if record is None else output.count(len(mine), "finding") if mine else "as the lock says"
        branch = f" ({upstream.branch})" if upstream.branch else ""
        date = f" of {record.date[:10]}" if record else ""
        lines.append(f"{name}: {upstream.revision[:12]}{branch}{date}: {', '.join(filter(None, (what, state)))}")
    lines += _stopped_at(lock, names)
    loose = [one for one in found if one.upstream is None]
    lines += [f"{one.path or 'project'}: {one.message}; {one.fix}" for one in loose]
    output.document("".join(f"{line}\n" for line in lines) or "no upstreams\n", None)
    return ExitCode.CLEAN
