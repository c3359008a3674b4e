"""`audit` and `sbom`: the rules of licences and provenance, claims of origin, documents for machines."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from vendor_tool import lockfile
from vendor_tool.cli import output
from vendor_tool.cli.arguments import cache
from vendor_tool.cli.commands import access, voice
from vendor_tool.errors import ExitCode, UsageError
from vendor_tool.findings import Finding, RuleInfo


def audit(arguments: argparse.Namespace) -> ExitCode:
    """Run the audit rules, or list every claim of origin below a folder."""
    found, rules = _scanned(arguments) if arguments.scan is not None else _audited(arguments)
    if arguments.write_baseline or arguments.baseline:
        from vendor_tool.cli import accepted

        scope = accepted.Scope("audit", rules)
        if arguments.write_baseline:
            return accepted.write(arguments.write_baseline, found, scope, voice(arguments))
        found = accepted.new(arguments.baseline, found, scope, voice(arguments))
    output.report(found, rules, arguments, voice(arguments))
    return output.code(found)


def _audited(arguments: argparse.Namespace) -> tuple[list[Finding], Mapping[str, RuleInfo]]:
    from vendor_tool.pipeline import audit as pipeline

    lock = lockfile.load(arguments.lock, cache())
    return pipeline.audit(lock, access(arguments), wheel=arguments.wheel, online=arguments.online), pipeline.RULES


def _scanned(arguments: argparse.Namespace) -> tuple[list[Finding], Mapping[str, RuleInfo]]:
    from vendor_tool.pipeline import scan as pipeline

    lock = lockfile.load(arguments.lock, cache()) if arguments.lock.exists() else None
    folder = Path(arguments.scan) if arguments.scan else arguments.lock.parent
    if not folder.is_dir():
        raise UsageError(f"`{folder}` is not a folder", hint="name the folder to scan: `vendor-tool audit --scan DIR`")
    return pipeline.scan(folder, lock), pipeline.RULES


def sbom(arguments: argparse.Namespace) -> ExitCode:
    """Print or write a bill of materials."""
    from vendor_tool.pipeline import scan as pipeline

    lock = lockfile.load(arguments.lock, cache())
    output.document(pipeline.sbom(lock, arguments.format).decode("utf-8"), arguments.output)
    return ExitCode.CLEAN
