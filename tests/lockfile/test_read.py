"""Reading is strict: everything that is wrong is told with its place, its key path and a way out."""

from pathlib import Path

import pytest

from vendor_tool import lockfile
from vendor_tool.errors import UsageError
from vendor_tool.model import FileSpec, Format, Header, Imports, Lock, Shim

SHA = "8f5e2151943e9ed0bbffaed93741d3473abb58d9"
GOOD = f"""\
version: 1
project:
  name: consumer
  license: Apache-2.0
  allow: [Apache-2.0, MIT]
  audit:
    PROV-3: {{level: note, reason: moving links are followed by hand}}
shims:
  tilelang: {{to: vendored/_tilelang.py, names: {{T: tilelang.language}}}}
upstreams:
  demo:
    url: https://example.org/demo
    mirrors: ["https://mirror.example.org/demo"]
    branch: main
    revision: {SHA}
    license: MIT
    from: demo_plugins/ops
    to: vendored/demo
    local: [__init__.py]
    files:
      - fwd.py
      - tilelang_*.py
      - {{path: core.py, to: sparse.py, drop: [Old], transforms: [header: {{text: "other"}}]}}
    transforms:
      - header: {{text: "Copyright (c) 2026 The Consumers"}}
      - imports: {{rename: {{old.pkg: new.pkg}}}}
      - shim: {{modules: [tilelang]}}
      - format: {{tool: ruff, version: 0.9.10, line-length: 120, isort: true, first-party: [consumer]}}
    patches: [patches/demo/0001-a.patch]
    requires: {{tilelang: ">=0.1.11"}}
    docstring: true
    parity: {{slower-than: 1.1}}
  run_time:
    url: https://example.org/kernels
    revision: {SHA}
    imports: [pkg.ops.normalize]
known-bad:
  - {{versions: {{tilelang: "<0.1.11"}}, reason: NaN gradients, link: "https://example.org/1"}}
"""


def read(text: str) -> Lock:
    return lockfile.parse_text(Path("vendor.lock.yaml"), text)[0]


def test_every_key_is_read() -> None:
    lock = read(GOOD)
    demo = lock.upstreams["demo"]
    assert (lock.project.name, lock.project.license, lock.project.allow) == (
        "consumer",
        "Apache-2.0",
        ("Apache-2.0", "MIT"),
    )
    assert [(one.rule, one.level, one.reason) for one in lock.project.audit] == [
        ("PROV-3", "note", "moving links are followed by hand")
    ]
    assert lock.shims["tilelang"].names == {"T": "tilelang.language"}
    assert (demo.url, demo.mirrors, demo.branch, demo.revision) == (
        "https://example.org/demo",
        ("https://mirror.example.org/demo",),
        "main",
        SHA,
    )
    assert [(one.path, one.to, one.drop) for one in demo.files] == [
        ("fwd.py", None, ()),
        ("tilelang_*.py", None, ()),
        ("core.py", "sparse.py", ("Old",)),
    ]
    assert demo.files[2].rules == (Header("other"),)
    assert demo.rules == (
        Header("Copyright (c) 2026 The Consumers"),
        Imports({"old.pkg": "new.pkg"}),
        Shim(("tilelang",)),
        Format(version="0.9.10", line_length=120, isort=True, first_party=("consumer",)),
    )
    assert demo.patches[0].path == "patches/demo/0001-a.patch"
    assert (demo.requires, demo.docstring, demo.slower_than, demo.local) == (
        {"tilelang": ">=0.1.11"},
        True,
        1.1,
        ("__init__.py",),
    )
    assert lock.upstreams["run_time"].imports == ("pkg.ops.normalize",)
    assert lock.known_bad[0].versions == {"tilelang": "<0.1.11"}


def test_places_are_those_of_the_file() -> None:
    demo = read(GOOD).upstreams["demo"]
    lines = GOOD.splitlines()
    assert "fwd.py" in lines[demo.files[0].at.line - 1]
    assert lines[demo.revision_at.line - 1][demo.revision_at.column - 1 :].startswith(SHA)


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        pytest.param("version: 1", "version: 2", ":1:10: `version`: only version 1 is known", "release", id="version"),
        pytest.param("version: 1\n", "", ":1:1: no `version:`", "begin the file", id="no version"),
        pytest.param("branch: main", "brnch: main", "unknown key `brnch`", "did you mean `branch`?", id="unknown key"),
        pytest.param("branch: main", "branch: 1.10", "`1.10` reads as a number in YAML", "quotes", id="number"),
        pytest.param("branch: main", "branch: no", "`no` reads as true or false", "quotes", id="truth value"),
        pytest.param("branch: main", "branch:", "`nothing` reads as nothing", "quotes", id="nothing"),
        pytest.param(SHA, "0123456", "revision `0123456` reads as a number in YAML", "40 hex", id="octal"),
        pytest.param(SHA, "12e3456", "`12e3456` is not a full revision", "sync NAME@REV", id="short, like a float"),
        pytest.param(SHA, "'12345'", "`12345` is not a full revision", "sync NAME@REV", id="short"),
        pytest.param(SHA, "main", "`main` is not a full revision", "sync NAME@REV", id="symbolic"),
        pytest.param(SHA, SHA.upper(), "is not a full revision of 40 lower-case", "sync NAME@REV", id="upper case"),
        pytest.param("to: vendored/demo", "to: ../x", "path `../x` leaves its folder", "below", id="dot dot"),
        pytest.param("to: vendored/demo", "to: a/../../x", "leaves its folder with `..`", "below", id="inner dot dot"),
        pytest.param("to: vendored/demo", "to: /x", "path `/x` is absolute", "below", id="absolute"),
        pytest.param("to: vendored/demo", "to: C:/x", "path `C:/x` is absolute", "below", id="drive"),
        pytest.param("to: vendored/demo", "to: 'a\\b'", "holds a backslash", "below", id="backslash"),
        pytest.param("to: vendored/demo", "to: a//b", "has an empty part", "below", id="empty part"),
        pytest.param("to: vendored/demo", "to: .git/hooks", "belongs to git", "below", id="git folder"),
        pytest.param("to: vendored/demo", 'to: "a\\nb"', "path `a\\nb` holds a control", "below", id="control"),
        pytest.param("{path: core.py, to: sparse.py", "{path: c*.py, to: s.py", "a glob cannot", "one by one", id="glob"),
        pytest.param("drop: [Old]", "drop: [Old], only: [New]", "exclude each other", "keep one", id="only and drop"),
        pytest.param("- header: {text: \"C", "- heading: {text: \"C", "unknown transform `heading`", "`header`", id="rule"),
        pytest.param("modules: [tilelang]", "modules: [triton]", "no shim is declared", "under `shims:`", id="shim"),
        pytest.param("https://example.org/demo", "ext::sh -c x", "holds a space", "git repository", id="space in url"),
        pytest.param("https://example.org/demo", "ext::x", "helper transport `ext::`", "git repository", id="ext"),
        pytest.param("https://example.org/demo", "'--upload-pack=x'", "option", "git repository", id="option"),
        pytest.param(
            "https://example.org/demo", "https://bot:t0ken@example.org/demo", "holds credentials", "git", id="token"
        ),
        pytest.param("https://example.org/demo", "https://e.org/d.tar.gz", "is an archive", "git", id="archive"),
        pytest.param("  run_time:", "  demo:", "duplicate key `demo`, first on line 11", "keep one", id="twice"),
        pytest.param("license: MIT", "<<: {a: b}", "merge keys", "written|write", id="merge key"),
        pytest.param("upstreams:\n", "upstreams: [\n", "not valid YAML", "mend", id="syntax"),
        pytest.param("slower-than: 1.1", "slower-than: fast", "must be a number", "number", id="no number"),
        pytest.param("docstring: true", "docstring: 'true'", "must be `true` or `false`", "true", id="no truth value"),
        pytest.param("level: note, reason: moving", "level: loud, reason: moving", "unknown level", "error", id="level"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, message: str, hint: str) -> None:
    assert old in GOOD
    with pytest.raises(UsageError) as caught:
        read(GOOD.replace(old, new, 1))
    assert message in caught.value.message
    assert caught.value.message.startswith("vendor.lock.yaml:")
    assert any(word in (caught.value.hint or "") for word in hint.split("|"))
    assert "t0ken" not in caught.value.message


def test_the_key_path_and_the_column_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        read(GOOD.replace("- fwd.py", "- ../fwd.py"))
    line = GOOD.splitlines().index("      - fwd.py") + 1
    assert caught.value.message == (
        f"vendor.lock.yaml:{line}:9: `upstreams.demo.files[0]`: path `../fwd.py` leaves its folder with `..`"
    )


def test_an_entry_copies_or_imports_but_not_both() -> None:
    with pytest.raises(UsageError, match="not both"):
        read(GOOD.replace("    imports: [pkg.ops.normalize]", "    files: [a.py]\n    imports: [pkg.ops.normalize]"))


def test_nested_aliases_end_in_an_error_not_in_a_full_memory() -> None:
    text = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    text += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    with pytest.raises(UsageError, match="more than 3,000,000 values"):
        read(text)


def test_the_intent_follows_what_shapes_bytes_and_nothing_else() -> None:
    before = read(GOOD).upstreams["demo"].intent
    same = [
        ("branch: main", "branch: next"),
        (SHA, "1" * 39 + "a"),
        ("license: MIT", "license: ISC"),
        ("    to:", "    to: "),
    ]
    assert [read(GOOD.replace(old, new, 1)).upstreams["demo"].intent for old, new in same] == [before] * 4
    other = [("- fwd.py", "- bwd.py"), ("line-length: 120", "line-length: 99"), ("_tilelang.py", "_tl.py")]
    assert all(read(GOOD.replace(old, new)).upstreams["demo"].intent != before for old, new in other)


def test_a_parsed_copy_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "vendor.lock.yaml"
    path.write_text(GOOD, encoding="utf-8")
    first = lockfile.load(path, tmp_path / "cache")
    assert len(list((tmp_path / "cache" / "parsed").iterdir())) == 1
    assert lockfile.load(path, tmp_path / "cache") == first == lockfile.load(path)


def test_a_damaged_copy_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "vendor.lock.yaml"
    path.write_text(GOOD, encoding="utf-8")
    lock = lockfile.load(path, tmp_path / "cache")
    for copy in (tmp_path / "cache" / "parsed").iterdir():
        copy.write_bytes(copy.read_bytes()[:100])
    assert lockfile.load(path, tmp_path / "cache") == lock


def test_no_lock_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        lockfile.load(tmp_path / "vendor.lock.yaml")
    assert "vendor-tool init" in (caught.value.hint or "")


def test_a_lock_that_is_no_utf8_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "vendor.lock.yaml").write_bytes(b"version: 1\n# caf\xe9\n")
    with pytest.raises(UsageError, match=r"vendor\.lock\.yaml:2:1: not UTF-8"):
        lockfile.load(tmp_path / "vendor.lock.yaml")


def test_a_file_may_be_given_as_text_or_as_a_map() -> None:
    specs = read(GOOD.replace("- fwd.py", "- {path: fwd.py}")).upstreams["demo"].files
    assert isinstance(specs[0], FileSpec)
    assert (specs[0].path, specs[0].to) == ("fwd.py", None)
