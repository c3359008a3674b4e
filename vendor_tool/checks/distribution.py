"""PEP 639: whether the project's metadata and built artefacts say and hold what the vendored files' licences ask."""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from vendor_tool import legal
from vendor_tool.checks.bodies import folded
from vendor_tool.checks.carried import in_artefact
from vendor_tool.checks.subject import Subject, finding, sources, vendored
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import LegalFile

RULES: Mapping[str, RuleInfo] = {
    one.id: one
    for one in (
        RuleInfo(
            "DIST-1", "error", "License expression does not cover the vendored licences",
            "PEP 639: `license` is the expression for everything in the distribution, vendored files included.",
        ),
        RuleInfo(
            "DIST-2", "error", "Licence texts do not reach the distribution",
            "PEP 639: `license-files` names every text that has to be in wheel and sdist.",
        ),
        RuleInfo(
            "DIST-3", "warning", "License classifier next to an expression",
            "PEP 639: `License ::` classifiers are superseded; setuptools refuses to build with both.",
        ),
    )
}  # fmt: skip

_APACHE = "Apache-2.0"
_APACHE_TERMS = "terms and conditions for use, reproduction, and distribution"
# what setuptools and hatchling take where `license-files` is not stated
_DEFAULT = ("LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*")


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of DIST-1 to DIST-3, on the artefact where one was given, else on pyproject.toml."""
    facts = subject.project
    if subject.artefact is None and facts is None:
        return
    yield from _expression(subject)
    yield from _texts(subject)
    classifiers = subject.artefact.classifiers if subject.artefact else facts.classifiers if facts else ()
    old = [one for one in classifiers if one.startswith("License ::")]
    if old and _stated(subject):
        yield finding(
            RULES["DIST-3"],
            f"the classifier `{old[0]}` stands next to a license expression",
            path=facts.path if facts else None,
            line=facts.license_line if facts else None,
            fix=f'take "{old[0]}" out of `classifiers`',
        )


def _stated(subject: Subject) -> str | None:
    if subject.artefact:
        return subject.artefact.license
    return subject.project.license if subject.project else None


def _expression(subject: Subject) -> Iterator[Finding]:
    wanted = dict.fromkeys(
        expression
        for one in vendored(subject)
        for expression in (one.license, *(found.license.spdx for found in one.ancestors if found.license))
        if expression
    )
    if not wanted:
        return
    stated = _stated(subject)
    missing = sorted({name for one in wanted for name in legal.identifiers(one)} - legal.identifiers(stated))
    if not missing:
        return
    facts = subject.project
    own = stated or subject.lock.project.license
    parts = [*([own] if own else []), *(one for one in missing if one not in legal.identifiers(own))]
    whole = " AND ".join(f"({one})" if " OR " in one and len(parts) > 1 else one for one in parts)
    said = f"is {stated}" if stated else "is not stated"
    yield finding(
        RULES["DIST-1"],
        f"the license expression {said}, and vendored files are also {' and '.join(missing)}",
        path=facts.path if facts else "pyproject.toml",
        line=facts.license_line if facts else None,
        fix=f'license = "{whole}"',
    )


def _texts(subject: Subject) -> Iterator[Finding]:
    facts = subject.project
    owed: dict[str, LegalFile] = {}
    for upstream, _url, license_, ancestor in sources(subject):
        record = upstream.resolved
        notice = ancestor.notice if ancestor else record.notice if record else None
        owed |= {one.to: one for one in (license_, notice) if one}
    if subject.artefact:
        missing = [to for to, one in owed.items() if not _in_artefact(subject, one)]
        if owed and "NOTICE" in subject.local and not _holds(subject, subject.local["NOTICE"]):
            missing.append("NOTICE")
        where = f"`{subject.artefact.name}` does not hold"
    else:
        globs = (facts.license_files if facts else None) or _DEFAULT
        taken = [path for path in subject.local if any(_globbed(path, one) for one in globs)]
        missing = [to for to, one in owed.items() if to not in taken and not _apache_among(subject, one, taken)]
        missing += ["NOTICE"] if owed and "NOTICE" not in taken else []
        where = "`license-files` does not name"
    if missing:
        listed = ", ".join(f'"{one}"' for one in ["LICENSE", "NOTICE", *sorted({_folder(to) for to in owed})])
        yield finding(
            RULES["DIST-2"],
            f"{where} {', '.join(f'`{one}`' for one in missing)}",
            path=facts.path if facts else "pyproject.toml",
            line=facts.license_line if facts else None,
            fix=f"license-files = [{listed}]",
        )


def _apache_among(subject: Subject, one: LegalFile, paths: Sequence[str]) -> bool:
    """Apache-2.0 asks for its text, whoever's copy; the holder stands in NOTICE or in the file."""
    found = [subject.texts[path] for path in paths if path in subject.texts]
    return one.spdx == _APACHE and any(text.spdx == _APACHE and text.plain for text in found)


def _in_artefact(subject: Subject, one: LegalFile) -> bool:
    texts = subject.artefact.texts.values() if subject.artefact else ()
    if one.spdx == _APACHE and any(_APACHE_TERMS in folded(text) for text in texts):
        return True
    data = subject.local.get(one.to)
    return _holds(subject, data) if data is not None else in_artefact(subject, one)


def _holds(subject: Subject, data: bytes) -> bool:
    texts = subject.artefact.texts.values() if subject.artefact else ()
    wanted = folded(data)
    return any(wanted in folded(one) for one in texts)


def _folder(to: str) -> str:
    """The glob for all legal copies of one home folder."""
    head, mark, _rest = to.partition("LICENSES/")
    return f"{head}{mark}**" if mark else to


def _globbed(path: str, pattern: str) -> bool:
    """PEP 639 globs: `*` stays inside a folder, `**` does not."""
    return _match(path.split("/"), pattern.split("/"))


def _match(path: list[str], pattern: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_match(path[start:], pattern[1:]) for start in range(len(path) + 1)) or len(pattern) == 1
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _match(path[1:], pattern[1:])
