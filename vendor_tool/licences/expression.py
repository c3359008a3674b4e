"""SPDX expressions: parsed, canonical, judged against what a project allows. Sole user of license-expression."""

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from vendor_tool.errors import UsageError
from vendor_tool.patterns import pattern

if TYPE_CHECKING:
    from license_expression import LicenseExpression, Licensing  # type: ignore[import-untyped]  # has no py.typed

_REFERENCE = pattern(r"(?:DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+\Z")


def canonical(text: str) -> str:
    """An SPDX expression in its canonical spelling (`mit or GPL-3.0` becomes `MIT OR GPL-3.0-only`).

    Raises UsageError where the text is no expression or names a licence that SPDX does not list.
    """
    return str(_parse(text))


def problem(text: str, allow: Collection[str]) -> str | None:
    """Why an expression does not satisfy a project's allow-list; None if it does, or if there is no list.

    A choice (`OR`) needs one allowed side, a conjunction (`AND`) all of them. An allowed `A WITH B` is that pair only.
    """
    try:
        tree = _parse(text)
    except UsageError as error:
        return error.message
    if not allow:
        return None
    allowed = {canonical(one) for one in allow}
    missing = _missing(tree, allowed)
    return None if not missing else f"{' and '.join(f'`{one}`' for one in missing)} not allowed"


def _missing(tree: "LicenseExpression", allowed: set[str]) -> list[str]:
    if str(tree) in allowed:
        return []
    arguments = getattr(tree, "args", ())
    operator = getattr(tree, "operator", "").strip().upper()
    if operator == "OR":
        options = [_missing(one, allowed) for one in arguments]
        return [] if [] in options else min(options, key=len)
    if operator == "AND":
        return [one for side in arguments for one in _missing(side, allowed)]
    return [str(tree)]


@lru_cache(maxsize=256)
def _parse(text: str) -> "LicenseExpression":
    from license_expression import ExpressionError, ParseError

    hint = "see https://spdx.org/licenses for the identifiers"
    try:
        tree = _licensing().parse(text, validate=False)
    except (ExpressionError, ParseError, AttributeError) as error:  # 30.4 fails with an attribute on "Apache-2.0 OR"
        raise UsageError(f"`{text}` is no SPDX expression", hint=hint) from error
    if tree is None:
        raise UsageError("an SPDX expression is empty", hint=hint)
    unknown = [one for one in _licensing().unknown_license_keys(tree) if not _REFERENCE.match(one)]
    if unknown:
        raise UsageError(f"`{unknown[0]}` is no SPDX licence identifier", hint=hint)
    return tree


@lru_cache(maxsize=1)
def _licensing() -> "Licensing":
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()
