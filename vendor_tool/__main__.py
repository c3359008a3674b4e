"""`python -m vendor_tool`."""

import sys

from vendor_tool.cli import main

sys.exit(main())
