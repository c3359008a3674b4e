"""The head of a patch file: DEP-3 fields that say why a local change exists.

Source: https://dep-team.pages.debian.net/deps/dep3/
"""

from collections.abc import Mapping

from vendor_tool.patterns import pattern

FIELDS = (
    "Description",
    "Subject",
    "Origin",
    "Bug",
    "Forwarded",
    "Author",
    "From",
    "Reviewed-by",
    "Acked-by",
    "Last-Update",
    "Applied-Upstream",
)
_FIELD = pattern(r"([A-Za-z][A-Za-z0-9-]*):[ \t]*(.*)")
_DATE = pattern(r"\d{4}-\d{2}-\d{2}")


def dep3_parse(text: str) -> dict[str, str]:
    """The fields in their order; continuation lines are joined by newlines, a lone full stop is an empty line.

    Below the first empty line stands free text, in which only fields of DEP-3 count. Lines that belong to no field
    are left out; the head's own bytes stay in the patch.
    """
    fields: dict[str, str] = {}
    last: str | None = None
    free = False
    for line in text.splitlines():
        match = _FIELD.fullmatch(line)
        if line.strip() == "---":
            break
        if match and (not free or match[1] in FIELDS):
            last = match[1]
            value = match[2].strip()
            fields[last] = f"{fields[last]}\n{value}" if last in fields else value
        elif last and line[:1] in (" ", "\t"):
            more = line.strip()
            fields[last] += "\n" + ("" if more == "." else more)
        else:
            last = None
            free = free or (bool(fields) and not line.strip())
    return fields


def dep3_head(fields: Mapping[str, str]) -> bytes:
    """The head as it stands in the file, UTF-8, with the empty line that parts it from the diff."""
    lines = []
    for name, value in fields.items():
        first, *rest = value.split("\n")
        lines.append(f"{name}: {first.strip()}".rstrip())
        lines += [" " + (line.strip() or ".") for line in rest]
    return ("\n".join(lines) + "\n\n").encode() if lines else b""


def dep3_check(head: Mapping[str, str]) -> tuple[str, ...]:
    """What keeps a head from saying why, by whom and where to: one line for each fault, none where it is sound."""
    names = {name.lower(): value.strip() for name, value in head.items()}
    problems = []
    if not (names.get("description") or names.get("subject")):
        problems.append("no `Description:`, so nobody will know why the change exists")
    if not (names.get("author") or names.get("from") or names.get("origin")):
        problems.append("no `Author:` or `Origin:`, so nobody knows whose change it is")
    if not (names.get("forwarded") or names.get("origin")):
        problems.append("no `Forwarded:` or `Origin:`; `Forwarded: no` says that upstream was not told")
    date = names.get("last-update")
    if date and not _DATE.fullmatch(date):
        problems.append(f"`Last-Update: {date}` is not a date like 2026-01-31")
    return tuple(problems)
