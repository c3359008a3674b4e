"""A rehearsal of an import, in an interpreter of its own: every package is made up, and what the files became is told.

Uses nothing else of vendor-tool and nothing outside the standard library, so that any interpreter runs it.
"""
