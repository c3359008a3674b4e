"""Whether a licence's text and its holders reach those who get the files: in the tree, or in a built artefact."""

import hashlib
import re
from collections.abc import Iterable, Mapping

from vendor_tool.checks.bodies import folded
from vendor_tool.checks.subject import Subject
from vendor_tool.model import LegalFile

# words that no copy of the terms can do without: a short family name to what must be there
TERMS: Mapping[str, tuple[str, ...]] = {
    "MIT": ("permission is hereby granted", 'the software is provided "as is"'),
    "ISC": ("permission to use, copy", 'the software is provided "as is"'),
    "BSD": ("redistribution and use in source and binary forms", "redistributions", "provided by"),
    "Apache": ("apache license", "terms and conditions for use, reproduction, and distribution"),
    "MPL": ("mozilla public license", "1. definitions"),
}
_MARKS = re.compile(
    r"copyright|©|\(c\)|all rights reserved|(?:19|20)\d\d|\bpresent\b|spdx-filecopyrighttext:|[-–,.;:*]"
)


def in_tree(subject: Subject, license_: LegalFile) -> bool:
    """Whether a legal file of the project holds the whole licence text, holder line included."""
    return _among(subject, license_, (subject.local[path] for path in subject.texts if path in subject.local))


def in_artefact(subject: Subject, license_: LegalFile) -> bool:
    """Whether the artefact's legal files hold it; True where no artefact was given."""
    return subject.artefact is None or _among(subject, license_, subject.artefact.texts.values())


def names_holder(text: str, holder: str) -> bool:
    """Whether a text names the holder of a copyright line, however its years and marks are written."""
    return _name(holder) in " ".join(_MARKS.sub(" ", text.casefold()).split())


def _among(subject: Subject, license_: LegalFile, texts: Iterable[bytes]) -> bool:
    wanted = subject.local.get(license_.to) or subject.pristine.get(license_.blob)
    whole = folded(wanted) if wanted is not None else None
    family = (license_.spdx or "").partition("-")[0]
    for data in texts:
        if hashlib.sha256(data).hexdigest() == license_.sha256:
            return True
        text = folded(data)
        if whole is not None:
            if whole in text:
                return True
        elif all(one in text for one in TERMS.get(family, ("\0",))) and all(
            names_holder(text, one) for one in license_.holders
        ):
            return True
    return False


def _name(holder: str) -> str:
    return " ".join(_MARKS.sub(" ", holder.casefold()).split())
