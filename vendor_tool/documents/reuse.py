"""REUSE.toml: holders and licences of vendored files as REUSE 3.3 reads them; kept where the project has one."""

import json
from collections.abc import Iterator, Mapping

from vendor_tool import legal
from vendor_tool.documents import block, entry
from vendor_tool.documents.notice import vendored
from vendor_tool.model import Lock, Upstream

PATH = "REUSE.toml"
BEGIN = f"# {block.BEGIN}"
END = f"# {block.END}"


def inputs(lock: Lock) -> list[str]:  # noqa: ARG001 one signature for every document
    """REUSE.toml itself: that it exists is how a project asks for it."""
    return [PATH]


def render(lock: Lock, texts: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """REUSE.toml with one annotation for each vendored file's upstream and its ancestors."""
    if PATH not in texts:
        return {}
    content = "\n\n".join(one for upstream in vendored(lock) for one in _annotations(upstream))
    return {PATH: block.replace(PATH, texts[PATH], content, begin=BEGIN, end=END)}


def _annotations(upstream: Upstream) -> Iterator[str]:
    """One for each set of files that share licence and holders."""
    known = legal.read(upstream.resolved)
    groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for row in entry.rows(upstream):
        from_ = [
            one for one in known.ancestors if any((o.url, o.revision) == (one.url, one.revision) for o in row.origins)
        ]
        expressions = [row.license, *(one.license.spdx or "" for one in from_ if one.license)]
        holders = [*_holders(upstream), *(line for one in from_ if one.license for line in one.license.holders)]
        names = tuple(dict.fromkeys(line for line in holders if line))
        groups.setdefault((names, _joined(expressions)), []).append(row.local)
    for (names, expression), paths in sorted(groups.items(), key=lambda group: sorted(group[1])):
        yield "\n".join(
            [
                "[[annotations]]",
                f"path = {json.dumps(sorted(paths), ensure_ascii=False)}",
                'precedence = "aggregate"',
                f"SPDX-FileCopyrightText = {json.dumps(list(names), ensure_ascii=False)}",
                f"SPDX-License-Identifier = {json.dumps(expression)}",
            ]
        )


def _holders(upstream: Upstream) -> tuple[str, ...]:
    record = upstream.resolved
    return record.license.holders if record and record.license else ()


def _joined(expressions: list[str]) -> str:
    found = list(dict.fromkeys(one for one in expressions if one))
    return " AND ".join(f"({one})" if " OR " in one and len(found) > 1 else one for one in found)
