"""Licences as facts: of licence files, of source headers, of whole chains. Pure; what is found flows on as values."""

from vendor_tool.licences.detect import detect
from vendor_tool.licences.facts import Gathered, Reader, Vendored, facts
from vendor_tool.licences.find import Legal, find_legal
from vendor_tool.licences.header import header
from vendor_tool.licences.holders import holders

__all__ = ["Gathered", "Legal", "Reader", "Vendored", "detect", "facts", "find_legal", "header", "holders"]
