"""Pins what surrounds a test: no home, no settings and no repository of whoever runs it."""

import os

import pytest

GIT_SETTINGS = """\
[init]
	defaultBranch = main
[safe]
	directory = *
"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An own home and cache, fixed names and dates, and nothing of the caller's git, proxies or cache settings."""
    for name in os.environ:
        if name.startswith(("GIT_", "VENDOR_TOOL_", "XDG_", "SSH_ASKPASS")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    (home / "gitconfig").write_text(GIT_SETTINGS)
    pinned = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    for role in ("AUTHOR", "COMMITTER"):
        pinned[f"GIT_{role}_NAME"] = "Ada Example"
        pinned[f"GIT_{role}_EMAIL"] = "ada@example.invalid"
        pinned[f"GIT_{role}_DATE"] = "1700000000 +0000"
    for name, value in pinned.items():
        monkeypatch.setenv(name, value)
