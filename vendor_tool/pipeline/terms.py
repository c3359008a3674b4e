"""What another revision changes of the terms that an upstream's files come under."""

from __future__ import annotations

from vendor_tool import licences
from vendor_tool.errors import ContentError
from vendor_tool.pipeline.upgrade import Upgrade


def license_change(upgrade: Upgrade) -> tuple[str, ...]:
    """Licence, holders and file headers, old and new, where a text or an SPDX id changed; empty where none did."""
    old, new = upgrade.old.fetched, upgrade.new.fetched
    lines = []
    texts = [one.data(one.legal.license) if one.legal.license else b"" for one in (old, new)]
    if texts[0] != texts[1]:
        before, after = (licences.detect(text.decode("utf-8", "replace")) for text in texts)
        names = [
            one.spdx or ("not recognised" if text else "none") for one, text in zip((before, after), texts, strict=True)
        ]
        what = f"{names[0]} -> {names[1]}" if names[0] != names[1] else f"{names[0]} as before, with another text"
        lines.append(f"LICENCE of `{upgrade.name}` changed: {what}")
        if before.holders != after.holders:
            lines.append(f"  holders before: {'; '.join(before.holders) or 'none named'}")
            lines.append(f"  holders now: {'; '.join(after.holders) or 'none named'}")
        lines.append(f"  text: `{old.legal.license}` at {old.snapshot.revision[:12]}, ")
        lines[-1] += f"`{new.legal.license}` at {new.snapshot.revision[:12]}"
    return (*lines, *_headers(upgrade))


def _headers(upgrade: Upgrade) -> list[str]:
    before = {file.to: file for file in upgrade.old.files}
    lines = []
    for file in upgrade.new.files:
        known = before.get(file.to)
        if known is None or known.blob == file.blob:
            continue
        was, now = (licences.header(one.pristine, one.path).spdx for one in (known, file))
        if was != now:
            lines.append(f"LICENCE in the header of `{file.path}` changed: {was or 'none'} -> {now or 'none'}")
    return lines


def notice_change(upgrade: Upgrade) -> tuple[str, ...]:
    """That the NOTICE file, which is passed on with the files, came, went or changed."""
    old, new = (one.fetched for one in (upgrade.old, upgrade.new))
    before, after = (one.data(one.legal.notice) if one.legal.notice else None for one in (old, new))
    if before == after:
        return ()
    what = "was added" if before is None else "is gone" if after is None else "changed"
    return (f"NOTICE of `{upgrade.name}` {what}",)


def require_accepted(upgrade: Upgrade, *, accepted: bool) -> tuple[str, ...]:
    """What is to be said of changed terms. Raises ContentError where a person has not accepted another licence."""
    changed = license_change(upgrade)
    if changed and not accepted:
        raise ContentError(
            "\n".join(changed),
            hint="read the new licence; where it may be used, say so: "
            f"`vendor-tool sync {upgrade.name}@{upgrade.revision[:12]} --accept-license`. Nothing was changed",
        )
    return (*changed, *notice_change(upgrade))
