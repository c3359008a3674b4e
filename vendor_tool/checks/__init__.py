"""Checks: `check` runs drift, `audit` the rules of licences and provenance; all give the same kind of finding."""
