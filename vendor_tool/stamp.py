"""What a `header:` may ask to be filled in: origin, revision, licence and holders of the very file it stands above."""

from typing import Final

from vendor_tool.links import permalink
from vendor_tool.model import LegalFile, Project, Upstream
from vendor_tool.patterns import pattern
from vendor_tool.urls import plain_url

NAMES: Final = ("project", "upstream", "url", "revision", "path", "link", "license", "holders")
"""Names that are filled in where a header's text has them in braces; all other braces stay as they are."""

_FIELD = pattern(rf"\{{({'|'.join(NAMES)})\}}")


def fields(text: str) -> bool:
    """Whether anything is to be filled in."""
    return _FIELD.search(text) is not None


def fill(
    text: str, *, project: Project, upstream: Upstream, revision: str, path: str, license_: LegalFile | None
) -> str:
    """A header's text for one file at one revision. A line that holds `{holders}` alone is repeated for each holder.

    `license_` is the licence file of the upstream at that revision, which holds the copyright lines.
    """
    values = {
        "project": project.name,
        "upstream": upstream.name,
        "url": plain_url(upstream.url),
        "revision": revision,
        "path": path,
        "link": permalink(upstream.url, revision, path),
        "license": upstream.license or (license_.spdx if license_ else None) or "unknown licence",
    }
    holders = license_.holders if license_ else ()
    values["holders"] = "; ".join(holders)
    lines: list[str] = []
    for line in text.split("\n"):
        alone = line.strip() == "{holders}"
        lines += [line.replace("{holders}", one) for one in holders] if alone else [line]
    return _FIELD.sub(lambda found: values[found[1]], "\n".join(lines))
