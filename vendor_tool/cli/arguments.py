"""The table of commands and their options."""

from __future__ import annotations

import argparse
import functools
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from vendor_tool import __version__
from vendor_tool.cli import places
from vendor_tool.cli.places import LOCK as LOCK
from vendor_tool.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")
PLANS = ("text", "json", "markdown")

EXIT_CODES = """\
exit codes:
  0 clean, or nothing to do    1 findings          2 usage or lockfile
  3 upstream unreachable       4 not what was locked   5 conflict pending
  6 parity failed              7 parity required but not run
  70 a bug in the tool         130 interrupted
"""


class _Parser(argparse.ArgumentParser):
    """Complains in the words and with the exit code of every other usage error."""

    def __init__(self, *, formatter_class: Callable[..., Any] = argparse.HelpFormatter, **options: Any) -> None:
        super().__init__(formatter_class=functools.partial(formatter_class, width=_width()), **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see `{self.prog} --help`")


def _width() -> int:
    """Columns of help texts, as argparse has them; it asks `shutil`, which loads what unpacks archives."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given) - 2
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns - 2  # type: ignore[union-attr]  # closed: below
    except (AttributeError, ValueError, OSError):
        return 78


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The command's arguments; `call` holds the function that runs it, `lock` the lockfile's path."""
    # building the parsers of all commands costs as much as checking a dozen files
    named = [name for name in argv[:1] if name in COMMANDS]
    top = parser(named or COMMANDS)
    arguments, rest = top.parse_known_args(argv)
    if rest and ("more" not in arguments or any(word.startswith("-") for word in rest)):
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:  # argparse leaves a list that may be empty where options stand before it
        setattr(arguments, arguments.more, [*getattr(arguments, arguments.more), *map(Path, rest)])
    if arguments.command is None:
        raise UsageError("no command", hint="see `vendor-tool --help`; `vendor-tool demo` shows the whole story")
    arguments.lock_given = arguments.lock is not None
    if arguments.lock is None:
        arguments.lock = Path(places.lock())
    return arguments


def cache() -> Path:
    """The user's cache folder for this tool."""
    return Path(places.cache())


def parser(names: Collection[str] | None = None) -> argparse.ArgumentParser:
    """The parser of the whole program, or of those commands that are named."""
    top = _Parser(
        prog="vendor-tool",
        description="Vendor source files from upstream repositories and keep them in sync, with provenance.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"vendor-tool {__version__}")
    top.add_argument("--lock", type=Path, metavar="FILE", help=f"the lockfile (default: the nearest {LOCK} upwards)")
    top.add_argument("--verbose", action="store_true", help="say more")
    top.add_argument("--quiet", action="store_true", help="say only what went wrong")
    top.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour in reports")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (add, summary) in COMMANDS.items():
        if names is not None and name not in names:
            continue
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        add(command)
        command.set_defaults(call=_later(name))
    return top


def _later(name: str) -> Callable[[argparse.Namespace], int]:
    """The function of a command, loaded when it is called: `--help` needs none of it."""

    def call(arguments: argparse.Namespace) -> int:
        import importlib

        from vendor_tool.cli import quick

        if quick.answered(arguments):
            return 0
        module = importlib.import_module(f"vendor_tool.cli.{MODULES.get(name, name)}")
        return int(getattr(module, name.replace("-", "_"))(arguments))

    return call


def _network(command: argparse.ArgumentParser) -> None:
    command.add_argument("--offline", action="store_true", help="use only what the cache holds")


def _report(command: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    command.add_argument("--format", choices=formats, default="text", help="form of the report (default: text)")
    command.add_argument("--output", metavar="FILE", help="write the report there")
    _also(command, formats)


def _also(command: argparse.ArgumentParser, formats: Sequence[str], when: str = "") -> None:
    def pair(text: str) -> tuple[str, str]:
        form, _, target = text.partition(":")
        if form not in formats or not target:
            raise argparse.ArgumentTypeError(f"`{text}` is not FORMAT:FILE with one of {', '.join(formats)}")
        return form, target

    command.add_argument(
        "--also", type=pair, action="append", default=[], metavar="FORMAT:FILE",
        help=f"{when}write it in another form there, from the same run; may be given again",
    )  # fmt: skip


def _init(command: argparse.ArgumentParser) -> None:
    command.add_argument("--name", help="the project's name (default: the folder's)")
    command.add_argument("--license", metavar="SPDX", help="the project's own licence")


def _add(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="what the upstream is called here")
    command.add_argument("url", metavar="URL", nargs="?", help="its repository; not needed for a known upstream")
    command.add_argument("--rev", help="commit, tag or branch (default: the default branch)")
    command.add_argument("--license", metavar="SPDX", help="the upstream's licence, where it is not detected")
    command.add_argument("--path", metavar="FOLDER", help="folder that the files come from")
    command.add_argument("--to", metavar="FOLDER", help="local folder that they go to")
    command.add_argument(
        "--file", action="append", default=[], metavar="FROM[:TO]", dest="files",
        help="a file or a glob below --path (default: every Python file there); may be given again",
    )  # fmt: skip
    command.add_argument("--no-closure", action="store_true", help="do not add files that the chosen ones import")
    _network(command)


def _adopt(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="DIR", type=Path, help="the folder that holds the copies")
    command.add_argument(
        "--from", dest="url", metavar="URL[@REV]", required=True,
        help="the repository that they are from (default revision: the one that they name, or fit best)",
    )  # fmt: skip
    command.add_argument("--rev", help="the revision, for an address that has an `@` of its own")
    command.add_argument("--name", help="what the upstream is called here (default: the repository's name)")
    command.add_argument("--license", metavar="SPDX", help="the upstream's licence, where it is not detected")
    command.add_argument("--path", metavar="FOLDER", help="look only below this folder of the upstream")
    command.add_argument(
        "--file", action="append", default=[], metavar="[FROM:]TO", dest="files",
        help="adopt this file or glob below DIR alone, as a copy of FROM, below --path; may be given again",
    )  # fmt: skip
    command.add_argument("--author", help="whose the local changes are (default: git's user)")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, write nothing")
    _network(command)


def _sync(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="NAME[@REV]", nargs="*", help="upstreams; with a revision: upgrade to it")
    command.add_argument("--dry-run", action="store_true", help="say what would be done, write nothing")
    command.add_argument("--force", action="store_true", help="overwrite local edits and foreign files")
    command.add_argument("--accept-license", action="store_true", help="take an upgrade whose licence is another one")
    stopped = command.add_mutually_exclusive_group()
    stopped.add_argument("--continue", dest="resume", action="store_true", help="go on with a stopped upgrade")
    stopped.add_argument("--abort", action="store_true", help="give a stopped upgrade up")
    command.add_argument("--format", choices=PLANS, help="with --dry-run: form of the upgrade plan (default: text)")
    command.add_argument("--output", metavar="FILE", help="with --dry-run: write the upgrade plan there")
    _also(command, PLANS, "with --dry-run: ")
    _network(command)


def _check(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="NAME", nargs="*", help="upstreams (default: all, and the documents)")
    command.add_argument("--rebuild", action="store_true", help="derive every file again from upstream and compare")
    command.add_argument(
        "--codegen", action="store_true", help="compare what the compiler makes of upstream's and of our kernels"
    )
    _baseline(command)
    _network(command)
    _report(command)


def _baseline(command: argparse.ArgumentParser) -> None:
    command.add_argument("--baseline", type=Path, metavar="FILE", help="leave out the findings that it accepts")
    command.add_argument("--write-baseline", type=Path, metavar="FILE", help="accept today's findings there")


def _outdated(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "names", metavar="NAME[@REV]", nargs="*", help="upstreams (default: all); with a revision: compare with that"
    )
    command.add_argument("--exit-code", action="store_true", help="exit 1 where there is more than notes")
    command.add_argument(
        "--wheel", type=Path, action="append", default=[], metavar="FILE", dest="wheels",
        help="look for run-time imports in this package too; may be given again",
    )  # fmt: skip
    _baseline(command)
    command.add_argument("--offline", action="store_true", help=argparse.SUPPRESS)  # refused with a reason
    _report(command)


def _fence(command: argparse.ArgumentParser) -> None:
    command.add_argument("--write", action="store_true", help="put the excludes into the tools' own configuration")


def _patch(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)

    def action(name: str, summary: str, *, network: bool = True) -> argparse.ArgumentParser:
        made = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        made.add_argument("name", metavar="NAME", nargs="?" if name == "list" else None, help="the upstream")
        if network:
            _network(made)
        return made

    new = action("new", "take hand edits of vendored files in as the next patch")
    text = new.add_mutually_exclusive_group()
    text.add_argument("--title", help="what the patch does, on one line")
    text.add_argument("-m", "--message", metavar="DESCRIPTION", help="the same, and below the first line why")
    new.add_argument("--author", help="whose change it is (default: git's user)")
    new.add_argument("--origin", help="where it was taken from, if from elsewhere")
    new.add_argument("--forwarded", metavar="URL|no|not-needed", help="where upstream was told of it (default: no)")
    new.add_argument("--bug", metavar="URL", help="the report that it answers")
    new.add_argument("files", metavar="FILE", nargs="*", type=Path, help="take in these only; a new file must be named")
    new.set_defaults(more="files")
    which = "number or file name"
    refresh = action("refresh", "fold hand edits into a patch, and rebase the later ones")
    refresh.add_argument("patch", metavar="N", nargs="?", help=f"{which} (default: the last)")
    fares = action("list", "list patches, and how they fare")
    fares.add_argument("--against", metavar="REV", help="also at this revision; `newest` for the branch's newest")
    _report(fares, PLANS)
    action("drop", "take a patch out, and rebase the later ones").add_argument("patch", metavar="N", help=which)
    action("show", "print a patch", network=False).add_argument("patch", metavar="N", help=which)
    export = action("export", "print mails for `git am` in the upstream's repository")
    export.add_argument("patch", metavar="N", nargs="?", help=f"{which} (default: the whole series)")
    export.add_argument("-o", dest="output", metavar="DIR", type=Path, help="write them there, one file each")


def _diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="the upstream")
    command.add_argument("--from", dest="old", metavar="REV", help="older revision (default: the recorded one)")
    command.add_argument("--to", dest="new", metavar="REV", help="newer revision (default: the recorded one)")
    command.add_argument(
        "--state", choices=("pristine", "plain", "final"),
        help="without revisions: start at upstream's bytes (default), behind the rules, or at the finished files and "
        "end at the disk; with revisions: what to compare of both (default: plain)",
    )  # fmt: skip
    _network(command)


def _status(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="NAME", nargs="*", help="upstreams (default: all)")


def _audit(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wheel", type=Path, metavar="FILE", help="look into a built wheel or sdist too")
    command.add_argument("--online", action="store_true", help="ask upstreams where they stand now")
    command.add_argument(
        "--scan", nargs="?", const="", metavar="DIR", help="list every claim of origin below a folder instead"
    )
    _baseline(command)
    _report(command)


def _sbom(command: argparse.ArgumentParser) -> None:
    command.add_argument("--format", choices=("cyclonedx", "spdx"), default="cyclonedx", help="default: cyclonedx")
    command.add_argument("--output", metavar="FILE", help="write the document there")


def _html(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--html",
        required=True,
        metavar="FILE",
        help="write the page there, one file that needs no other; `-`: to stdout",
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 0 on")
    return int(text)


def _parity(command: argparse.ArgumentParser) -> None:
    command.add_argument("names", metavar="NAME", nargs="*", help="upstreams (default: all)")
    command.add_argument("--require", action="store_true", help="fail (exit code 7) where nothing could be run")
    command.add_argument("--gpus", type=_count, metavar="N", help="GPUs to use (default: all that can be seen)")
    command.add_argument("--seed", type=_count, metavar="N", help="repeat the inputs of an earlier run")
    command.add_argument("--timeout", type=_count, metavar="SECONDS", help="end a pytest that takes longer")
    command.add_argument("--update-evidence", action="store_true", help="record what was seen in the lock")
    command.add_argument("--plan", action="store_true", help="say what would run and why")
    command.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit report there")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    command.add_argument(
        "--from", dest="measured", type=Path, metavar="FILE", help="take the --json of a run on another machine"
    )
    command.add_argument("--ray", metavar="ADDRESS", help="hand the kernels out to a Ray cluster")
    _network(command)


def _completion(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell")


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="DIR", nargs="?", type=Path, help="where (default: a new folder)")


COMMANDS: dict[str, tuple[Callable[[argparse.ArgumentParser], None], str]] = {
    "init": (_init, "start a lockfile"),
    "add": (_add, "add an upstream, or files of one, with everything that they import"),
    "adopt": (_adopt, "put files that were copied by hand under the lock, as they are"),
    "sync": (_sync, "make the tree what the lock says, or upgrade to another revision"),
    "status": (_status, "show every upstream and what is pending"),
    "patch": (_patch, "keep local changes as patches: new, refresh, list, drop, show, export"),
    "diff": (_diff, "show what rules and patches do to upstream's files, or what an upgrade brings"),
    "check": (_check, "compare files, record and documents; offline"),
    "outdated": (_outdated, "say what upstreams did since the pins, and what an upgrade would do"),
    "fence": (_fence, "keep formatters, hooks and coverage off vendored files"),
    "audit": (_audit, "hold licences and provenance to the rules"),
    "sbom": (_sbom, "print a bill of materials"),
    "report": (_html, "write a page for people: what is vendored, on which terms, how it fares"),
    "parity": (_parity, "run the GPU tests of the kernels and record the evidence"),
    "demo": (_demo, "show the whole story on a small upstream, offline"),
    "completion": (_completion, "print a shell's completion script"),
}

MODULES = {
    **dict.fromkeys(("init", "add", "sync", "status", "check"), "commands"),
    "sbom": "audit",
    "fence": "outdated",
}
