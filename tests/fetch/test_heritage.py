"""The Software Heritage archive as the last way out: what is asked of it, and how its limits are kept."""

import json
from dataclasses import replace

import pytest

from tests.support.server import Answer, Server
from tests.support.upstream import Repository, entry
from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.fetch import heritage
from vendor_tool.fetch.store import blob_id
from vendor_tool.model import Access

FWD, BWD = b"FWD = 1\n", b"BWD = 2\n"
ONE, TWO = sorted((blob_id(FWD), blob_id(BWD)))
CONTENT = {blob_id(FWD): FWD, blob_id(BWD): BWD}
GONE = "d" * 40


@pytest.fixture
def archive(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """An archive under `/api/1` that knows both blobs."""
    monkeypatch.setenv("VENDOR_TOOL_HERITAGE", f"{server.url}/api/1/")
    know(server, [ONE, TWO])
    for oid, data in CONTENT.items():
        server.plain[f"/api/1/content/sha1_git:{oid}/raw/"] = Answer(data, headers=(("X-RateLimit-Remaining", "99"),))
    return server


def know(server: Server, oids: list[str]) -> None:
    answer = {f"swh:1:cnt:{oid}": {"known": oid in oids} for oid in (ONE, TWO)}
    server.plain["/api/1/known/"] = Answer(json.dumps(answer).encode())


def test_blobs_of_a_commit_that_is_gone_come_from_the_archive_and_stay(
    kernels: Repository, archive: Server, access: Access
) -> None:
    kernels.commit({"other.py": ""})
    upstream = entry(f"{archive.url}/kernels.git", GONE)
    assert fetch.blobs(upstream, GONE, [ONE, TWO], access) == CONTENT
    asked = [request for request in archive.requests if request.path.startswith("/api/")]
    assert [request.path for request in asked] == [
        "/api/1/known/",
        f"/api/1/content/sha1_git:{ONE}/raw/",
        f"/api/1/content/sha1_git:{TWO}/raw/",
    ]
    assert json.loads(asked[0].body) == [f"swh:1:cnt:{ONE}", f"swh:1:cnt:{TWO}"]
    assert "Authorization" not in asked[0].headers
    assert fetch.blobs(upstream, GONE, [ONE, TWO], replace(access, offline=True)) == CONTENT


def test_only_what_is_known_is_asked_for(kernels: Repository, archive: Server, access: Access) -> None:
    know(archive, [TWO])
    with pytest.raises(UpstreamError) as caught:
        fetch.blobs(entry(f"{archive.url}/kernels.git", GONE), GONE, [ONE, TWO], access)
    assert f"  {archive.url}/api/1: this server does not hold it (any more)\n    1 of the files are not archived" in (
        caught.value.message
    )
    assert f"/api/1/content/sha1_git:{ONE}/raw/" not in [request.path for request in archive.requests]


def test_bytes_that_are_not_the_blob_are_refused(kernels: Repository, archive: Server) -> None:
    archive.plain[f"/api/1/content/sha1_git:{ONE}/raw/"] = Answer(b"something else")
    found, troubles = heritage.blobs(archive.url, [ONE])
    assert found == {}
    assert [trouble.lines for trouble in troubles] == [(f"what came as `{ONE}` is not that blob",)]


def test_it_stops_where_the_limit_is_used_up(kernels: Repository, archive: Server) -> None:
    archive.plain[f"/api/1/content/sha1_git:{ONE}/raw/"] = Answer(
        CONTENT[ONE], headers=(("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1700000000"))
    )
    found, troubles = heritage.blobs(archive.url, [ONE, TWO])
    assert found == {ONE: CONTENT[ONE]}
    assert [(trouble.kind, trouble.lines) for trouble in troubles] == [
        ("busy", ("the limit of requests is used up until 2023-11-14T22:13:20+00:00",))
    ]
    assert f"/api/1/content/sha1_git:{TWO}/raw/" not in [request.path for request in archive.requests]


def test_a_busy_archive_is_asked_again_when_it_says(kernels: Repository, archive: Server) -> None:
    archive.first += [Answer(status=429, headers=(("Retry-After", "0"),))] * 2
    assert heritage.blobs(archive.url, [ONE, TWO]) == (CONTENT, [])


def test_an_archive_that_asks_for_an_hour_is_left_alone(kernels: Repository, archive: Server) -> None:
    archive.first += [Answer(status=429, headers=(("Retry-After", "3600"),))] * 9
    found, troubles = heritage.blobs(archive.url, [ONE])
    assert (found, [trouble.kind for trouble in troubles]) == ({}, ["busy"])
    assert len(archive.requests) == 1


def test_a_token_of_the_environment_is_sent(
    kernels: Repository, archive: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENDOR_TOOL_HERITAGE_TOKEN", "tok3n")
    heritage.blobs(archive.url, [ONE])
    assert [request.headers["Authorization"] for request in archive.requests] == ["Bearer tok3n", "Bearer tok3n"]


@pytest.mark.parametrize("body", [b"no json", b"[]", b"{}"])
def test_an_answer_that_cannot_be_read_is_told(kernels: Repository, archive: Server, body: bytes) -> None:
    archive.plain["/api/1/known/"] = Answer(body)
    found, troubles = heritage.blobs(archive.url, [ONE])
    assert (found, [trouble.kind for trouble in troubles]) == ({}, ["broken"])


def test_more_ids_than_one_question_may_hold_go_into_several(kernels: Repository, archive: Server) -> None:
    oids = [f"{number:040x}" for number in range(1001)]
    answer = {f"swh:1:cnt:{oid}": {"known": False} for oid in oids}
    archive.plain["/api/1/known/"] = Answer(json.dumps(answer).encode())
    heritage.blobs(archive.url, oids)
    assert [len(json.loads(request.body)) for request in archive.requests] == [1000, 1]


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://github.com/owner/kernels", True),
        ("git@github.com:owner/kernels", True),
        ("https://8.8.8.8/kernels", True),
        ("https://10.0.0.1/kernels", False),
        ("http://127.0.0.1:8000/kernels", False),
        ("http://[::1]/kernels", False),
        ("https://git.corp.internal/kernels", False),
        ("ssh://git@build/kernels", False),
        ("file:///srv/kernels.git", False),
        ("/srv/kernels.git", False),
    ],
)
def test_nothing_is_asked_about_private_hosts(url: str, public: bool) -> None:
    assert heritage.public(url) is public
    if not public:
        assert heritage.blobs(url, [ONE]) == ({}, [])
