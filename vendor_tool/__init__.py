"""Vendor source files from upstream repositories and keep them in sync, with provenance."""

__version__ = "0.1.0"
