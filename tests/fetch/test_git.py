"""What the environment, the user's settings and a bad server can and cannot do to a fetch."""

import os
from pathlib import Path

import pytest

from tests.support.server import Answer, Server
from tests.support.upstream import Repository, entry, repository
from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.model import Access
from vendor_tool.urls import redacted

FILES = {"k.py": "K = 1\n"}


def settings(text: str) -> None:
    with Path(os.environ["GIT_CONFIG_GLOBAL"]).open("a") as file:
        file.write(text)


def signed(kernels: Repository, revision: str) -> str:
    """Put the same commit with a signature in the place of the tip of `main`."""
    head, _, message = kernels.git("cat-file", "commit", revision).partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    text = f"{head}\n{signature}\n\n{message}\n".encode()
    made = kernels.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
    kernels.git("update-ref", "refs/heads/main", made)
    return made


def test_variables_of_a_hook_lead_nowhere(
    kernels: Repository, access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = kernels.commit(FILES)
    consumer = repository(tmp_path / "consumer.git")
    consumer.commit({"mine.py": ""})
    before = {path: path.stat().st_mtime_ns for path in consumer.path.rglob("*")}
    for name, value in {
        "GIT_DIR": str(consumer.path),
        "GIT_WORK_TREE": str(tmp_path),
        "GIT_INDEX_FILE": str(consumer.path / "index"),
        "GIT_OBJECT_DIRECTORY": str(consumer.path / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(consumer.path / "objects"),
        "GIT_QUARANTINE_PATH": str(consumer.path / "objects"),
        "GIT_NAMESPACE": "somewhere",
        "GIT_PREFIX": "",
        "GIT_CONFIG_PARAMETERS": "'core.bare=false'",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_SHALLOW_FILE": str(tmp_path / "none"),
        "GIT_GRAFT_FILE": str(tmp_path / "none"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    upstream = entry(kernels.url, revision)
    oid = fetch.snapshot(upstream, revision, access).entries["k.py"].oid
    assert fetch.blobs(upstream, revision, [oid], access) == {oid: b"K = 1\n"}
    assert fetch.resolve(entry(kernels.url), "main", access) == revision
    assert {path: path.stat().st_mtime_ns for path in consumer.path.rglob("*")} == before


def test_settings_of_the_user_run_nothing_and_change_nothing(
    kernels: Repository, access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{witness}'\n")
    program.chmod(0o755)
    for hook in ("reference-transaction", "post-index-change", "pre-auto-gc"):
        (tmp_path / "hooks").mkdir(exist_ok=True)
        (tmp_path / "hooks" / hook).symlink_to(program)
    (tmp_path / "template").mkdir()
    (tmp_path / "template" / "hooks").symlink_to(tmp_path / "hooks")
    (tmp_path / "attributes").write_text("* filter=bad diff=bad eol=crlf text\n")
    settings(f"""
[core]
	hooksPath = {tmp_path}/hooks
	fsmonitor = {program}
	attributesFile = {tmp_path}/attributes
	askPass = {program}
	pager = {program}
	alternateRefsCommand = {program}
[init]
	templateDir = {tmp_path}/template
	defaultObjectFormat = sha256
[filter "bad"]
	smudge = {program}
	clean = {program}
	required = true
[diff]
	external = {program}
[diff "bad"]
	textconv = {program}
[alias]
	fetch = !{program}
	cat-file = !{program}
[fetch]
	prune = true
	recurseSubmodules = true
	negotiationAlgorithm = skipping
	all = true
[submodule]
	recurse = true
[gc]
	auto = 1
[log]
	showSignature = true
	follow = true
[gpg]
	program = {program}
[pager]
	log = {program}
	cat-file = {program}
""")
    monkeypatch.setenv("GIT_ASKPASS", str(program))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(tmp_path / "template"))
    monkeypatch.setenv("GIT_PAGER", str(program))
    witness.unlink(missing_ok=True)
    upstream = entry(kernels.url)
    with monkeypatch.context() as quiet:
        quiet.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        old, unsigned = kernels.commit(FILES), kernels.commit({"k.py": "K = 2\r\n"}, "second")
        new = signed(kernels, unsigned)
    assert fetch.resolve(upstream, "main", access) == new
    oid = fetch.snapshot(upstream, new, access).entries["k.py"].oid
    assert fetch.blobs(upstream, new, [oid], access) == {oid: b"K = 2\r\n"}
    assert [commit.subject for commit in fetch.log(upstream, old, new, ["k.py"], access)] == ["second"]
    assert not witness.exists()


def test_an_opened_helper_transport_stays_shut(
    kernels: Repository, access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = tmp_path / "ran"
    settings(f"""
[protocol "ext"]
	allow = always
[url "ext::touch {witness} "]
	insteadOf = https://nowhere.invalid/
""")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file:https:ext")
    with pytest.raises(UpstreamError, match="transport 'ext' not allowed"):
        fetch.snapshot(entry("https://nowhere.invalid/kernels"), "d" * 40, access)
    assert not witness.exists()


def test_a_protocol_that_the_user_shut_stays_shut(
    kernels: Repository, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https")
    with pytest.raises(UpstreamError, match="transport 'file' not allowed"):
        fetch.snapshot(entry(kernels.url), "d" * 40, access)


def test_the_users_routing_is_honoured_and_its_token_shown_and_kept_nowhere(
    kernels: Repository, server: Server, access: Access
) -> None:
    revision = kernels.commit(FILES)
    host = server.url.removeprefix("http://")
    settings(f'[url "http://bot:tok3n-SECRET@{host}/"]\n\tinsteadOf = https://nowhere.invalid/\n')
    upstream = entry("https://nowhere.invalid/kernels.git", revision)
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == ["k.py"]
    server.first.append(Answer(status=403))
    with pytest.raises(UpstreamError) as caught:
        fetch.snapshot(upstream, "d" * 40, access)
    assert "this server refuses access" in caught.value.message
    kept = b"".join(path.read_bytes() for path in access.cache.rglob("*") if path.is_file())
    for place in (caught.value.message.encode(), str(caught.value.hint).encode(), kept):
        assert b"SECRET" not in place
        assert b"bot" not in place


def test_the_address_is_not_written_to_the_cache(kernels: Repository, access: Access) -> None:
    revision = kernels.commit(FILES)
    oid = fetch.snapshot(entry(kernels.url), revision, access).entries["k.py"].oid
    fetch.blobs(entry(kernels.url), revision, [oid], access)
    (store,) = (access.cache / "git").iterdir()
    assert (store / "config").read_text().split() == [
        *("[core]", "repositoryformatversion", "=", "0", "bare", "=", "true")
    ]
    assert not (store / "FETCH_HEAD").exists()
    assert not (store / "hooks").exists()


def test_a_server_that_asks_for_a_password_ends_the_run_without_a_question(
    kernels: Repository, server: Server, access: Access, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = tmp_path / "window"
    window.write_text(f"#!/bin/sh\ntouch '{tmp_path}/asked'; echo answer\n")
    window.chmod(0o755)
    settings(f"[core]\n\taskPass = {window}\n")
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(window))
    server.first += [Answer(status=401, headers=(("WWW-Authenticate", 'Basic realm="kernels"'),))] * 3
    with pytest.raises(UpstreamError, match="terminal prompts disabled") as caught:
        fetch.snapshot(entry(f"{server.url}/kernels.git"), "d" * 40, access)
    assert caught.value.hint == (
        "check the address and your access to it (`git ls-remote` with the same address must work)"
    )
    assert len(server.requests) == 1
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "fatal: unable to access 'https://bot:t@h.example/x/': no",
            "fatal: unable to access 'https://h.example/x/': no",
        ),
        ("https://t0ken@h.example/x", "https://h.example/x"),
        ("ssh://git@h.example/x ssh://git:pw@h.example/x", "ssh://git@h.example/x ssh://h.example/x"),
        ("https://h.example/x?private_token=abc&page=1", "https://h.example/x"),
        ("remote: nothing secret", "remote: nothing secret"),
    ],
)
def test_words_of_git_are_shown_without_credentials(text: str, shown: str) -> None:
    assert redacted(text) == shown


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says(
    kernels: Repository, server: Server, access: Access, status: int
) -> None:
    revision = kernels.commit(FILES)
    server.first += [Answer(status=status, headers=(("Retry-After", "0"),))] * 3
    upstream = entry(f"{server.url}/kernels.git", revision)
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == ["k.py"]


def test_a_server_that_asks_for_an_hour_is_left_alone(kernels: Repository, server: Server, access: Access) -> None:
    server.first += [Answer(status=429, headers=(("Retry-After", "3600"),))] * 9
    with pytest.raises(UpstreamError, match="asks to wait longer than is sensible"):
        fetch.snapshot(entry(f"{server.url}/kernels.git"), "d" * 40, access)
    assert len(server.requests) == 2


def test_a_server_that_never_answers_is_given_up(
    kernels: Repository, server: Server, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_TOOL_TIMEOUT", "1")
    server.stalled = True
    with pytest.raises(UpstreamError, match="this server cannot be reached"):
        fetch.snapshot(entry(f"{server.url}/kernels.git"), "d" * 40, access)


def test_nobody_listening_is_told_as_unreachable(access: Access) -> None:
    with pytest.raises(UpstreamError, match="this server cannot be reached") as caught:
        fetch.snapshot(entry("http://127.0.0.1:9/kernels.git"), "d" * 40, access)
    assert (
        caught.value.hint
        == "check the network and proxy settings; with a filled cache `vendor-tool sync --offline` works without either"
    )


def test_a_repository_that_moved_is_followed(kernels: Repository, server: Server, access: Access) -> None:
    revision = kernels.commit(FILES)
    service = "info/refs?service=git-upload-pack"
    server.plain[f"/old.git/{service}"] = Answer(status=301, headers=(("Location", f"/kernels.git/{service}"),))
    assert sorted(fetch.snapshot(entry(f"{server.url}/old.git"), revision, access).entries) == ["k.py"]


def test_a_dumb_server_is_searched(kernels: Repository, server: Server, access: Access) -> None:
    kernels.commit(FILES)
    revision = kernels.commit({"j.py": ""})
    kernels.commit({"i.py": ""})
    kernels.git("update-server-info")
    for path in kernels.path.rglob("*"):
        if path.is_file():
            server.plain[f"/dumb.git/{path.relative_to(kernels.path)}"] = Answer(path.read_bytes())
    server.plain["/dumb.git/info/refs?service=git-upload-pack"] = server.plain["/dumb.git/info/refs"]
    upstream = entry(f"{server.url}/dumb.git", revision)
    assert sorted(fetch.snapshot(upstream, revision, access).entries) == ["j.py", "k.py"]
