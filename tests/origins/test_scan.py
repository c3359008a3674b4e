"""Every claim of a folder, and whether the lock accounts for it."""

from pathlib import Path

from vendor_tool import legal
from vendor_tool.legal import Ancestor, Facts
from vendor_tool.model import At, Lock, Project, Recorded, Resolved, Upstream
from vendor_tool.origins.scan import Located, cover, scan

SHA = "0123456789abcdef0123456789abcdef01234567"
AT = At(1, 1)


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def shown(found: list[Located]) -> list[tuple[str, int, str, str, str | None]]:
    return [(one.path, one.claim.line, one.claim.tier, one.claim.state, one.covered_by) for one in found]


def lock(root: Path) -> Lock:
    facts = Facts(ancestors=(Ancestor("https://github.com/roots/kern", SHA, ()),))
    record = Resolved(
        AT, SHA, "", "", "", files=(Recorded("a.py", "", "pkg/a.py", "", AT),), extra={"legal": legal.dump(facts)}
    )
    upstream = Upstream("mid", "https://github.com/Mid/Plugins", SHA, AT, AT, to="pkg", resolved=record)
    return Lock(root / "vendor.lock.yaml", Project("demo"), {}, {"mid": upstream})


def test_claims_are_told_by_file_and_line_with_what_covers_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pkg/a.py": f"# Adapted from https://github.com/mid/plugins/blob/{SHA}/a.py\n# Adapted from ops/gone.py\n",
            "pkg/b.py": "\n# Copied from https://github.com/roots/kern/blob/main/b.py\n",
            "pkg/c.py": "# Adapted from pkg/a.py\n# Taken from https://github.com/other/one\n",
            "node_modules/x.js": "// Adapted from https://github.com/other/two\n",
            "notes.txt": "Adapted from https://github.com/other/three\n",
        },
    )
    assert shown(cover(scan(tmp_path), lock(tmp_path))) == [
        ("pkg/a.py", 1, "A", "pinned", "mid"),
        ("pkg/a.py", 2, "B", "dangling", "mid"),
        ("pkg/b.py", 2, "A", "branch", "mid"),
        ("pkg/c.py", 1, "B", "path", None),
        ("pkg/c.py", 2, "A", "unpinned", None),
    ]


def test_links_out_of_the_folder_and_giants_are_passed_over(tmp_path: Path) -> None:
    text = "# Adapted from https://github.com/other/one\n"
    write(tmp_path / "root", {"real.py": "x = 1\n", "giant.py": text + "#\n" * 1_100_000})
    write(tmp_path / "else", {"a.py": text})
    (tmp_path / "root" / "linked.py").symlink_to(tmp_path / "else" / "a.py")
    (tmp_path / "root" / "folder").symlink_to(tmp_path / "else")
    assert scan(tmp_path / "root") == []


def test_a_scan_reads_and_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "# Adapted from https://github.com/other/one\n"})
    before = sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir())
    scan(tmp_path)
    assert sorted((path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir()) == before
