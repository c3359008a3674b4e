"""Licences as facts: of licence files and of source headers. Pure; what is found flows on as values of `legal`."""

from vendor_tool.licences.detect import detect
from vendor_tool.licences.find import Legal, find_legal
from vendor_tool.licences.holders import holders

__all__ = ["Legal", "detect", "find_legal", "holders"]
