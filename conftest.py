"""The parity plugin ships with the tool; its own parity tests use it like any other project's."""

pytest_plugins = ["vendor_tool.parity.plugin"]
