"""`python -m vendor_tool`."""

import sys

from vendor_tool.cli import run

sys.exit(run())
