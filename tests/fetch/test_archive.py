"""Archives of forges as a way out: what is taken from them, and what hostile ones cannot do."""

import gzip
import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.server import Answer, Server
from tests.support.upstream import entry, repository
from vendor_tool import fetch
from vendor_tool.errors import UpstreamError
from vendor_tool.fetch import archive
from vendor_tool.fetch.store import blob_id
from vendor_tool.model import Access

PIN = "c" * 40
FWD, BWD = b"FWD = 1\r\n", b"BWD = 2"
GITHUB = f"/owner/kernels/archive/{PIN}.tar.gz"
GITLAB = f"/owner/kernels/-/archive/{PIN}/kernels-{PIN}.tar.gz"


def packed(members: dict[str, bytes | tarfile.TarInfo]) -> Answer:
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as made:
        for name, content in members.items():
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.name = name
            data = content if isinstance(content, bytes) else b""
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return Answer(body.getvalue())


def link(kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def served(tmp_path: Path) -> None:
    """A repository behind the server that does not hold the pin."""
    repository(tmp_path / "served" / "owner" / "kernels.git").commit({"other.py": ""})


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize("address", [GITHUB, GITLAB], ids=["GitHub", "GitLab"])
def test_blobs_come_from_an_archive_where_git_fails_and_stay_in_the_cache(
    server: Server, access: Access, address: str
) -> None:
    server.plain[address] = packed({f"kernels-{PIN}/fwd.py": FWD, f"kernels-{PIN}/bwd.py": BWD, "x/other.py": b"O"})
    upstream = entry(f"{server.url}/owner/kernels.git", PIN)
    wanted = {blob_id(data): data for data in (FWD, BWD)}
    assert fetch.blobs(upstream, PIN, list(wanted), access) == wanted
    server.plain.clear()
    assert fetch.blobs(upstream, PIN, list(wanted), replace(access, offline=True)) == wanted


@pytest.mark.usefixtures("served")
def test_members_outside_links_and_devices_write_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server.plain[GITHUB] = packed(
        {
            f"{tmp_path}/absolute": b"outside",
            "a/../../../up": b"outside",
            "to-outside": link(tarfile.SYMTYPE, str(tmp_path)),
            "to-outside/through": b"outside",
            "hard": link(tarfile.LNKTYPE, "/etc/passwd"),
            "pipe": link(tarfile.FIFOTYPE, ""),
            "device": link(tarfile.CHRTYPE, ""),
            "fwd.py": FWD,
        }
    )
    before = sorted(tmp_path.rglob("*"))
    found, troubles = archive.blobs(f"{server.url}/owner/kernels", PIN, [blob_id(FWD)])
    assert (found, troubles) == ({blob_id(FWD): FWD}, [])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("served")
def test_a_file_that_the_archive_changed_is_refused(server: Server, access: Access) -> None:
    original = b"VERSION = '$Format:%H$'\n"
    server.plain[GITHUB] = packed({"version.py": original.replace(b"$Format:%H$", PIN.encode()), "fwd.py": FWD})
    upstream = entry(f"{server.url}/owner/kernels.git", PIN)
    with pytest.raises(UpstreamError) as caught:
        fetch.blobs(upstream, PIN, [blob_id(original), blob_id(FWD)], access)
    assert f"  {server.url}{GITHUB}: this server does not hold it (any more)\n    1 of the files differ there" in (
        caught.value.message
    )
    assert fetch.blobs(upstream, PIN, [blob_id(FWD)], replace(access, offline=True)) == {blob_id(FWD): FWD}


@pytest.mark.usefixtures("served")
@pytest.mark.parametrize(
    "body",
    [b"no archive", packed({"fwd.py": b"x" * 5000}).body[:60], gzip.compress(b"no tar" * 200)],
    ids=["no gzip", "cut short", "no tar"],
)
def test_a_broken_archive_is_told(server: Server, body: bytes) -> None:
    server.plain[GITHUB] = Answer(body)
    found, troubles = archive.blobs(f"{server.url}/owner/kernels", PIN, [blob_id(FWD)])
    assert found == {}
    assert troubles[0].url == f"{server.url}{GITHUB}"
    assert troubles[0].lines[0].startswith("the archive cannot be read: ")


@pytest.mark.usefixtures("served")
def test_an_archive_that_unpacks_without_end_is_left(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "UNPACKED", 1 << 20)
    server.plain[GITHUB] = packed({"bomb": b"\0" * (4 << 20), "fwd.py": FWD})
    found, troubles = archive.blobs(f"{server.url}/owner/kernels", PIN, [blob_id(FWD)])
    assert found == {}
    assert troubles[0].lines == ("the archive cannot be read: larger than is sensible",)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://github.com/owner/kernels", ("https://github.com" + GITHUB,)),
        ("https://github.com/owner/kernels.git/", ("https://github.com" + GITHUB,)),
        ("git@github.com:owner/kernels.git", ("https://github.com" + GITHUB,)),
        ("ssh://git@gitlab.com/owner/kernels.git", ("https://gitlab.com" + GITLAB,)),
        ("https://gitlab.example.org/owner/kernels", ("https://gitlab.example.org" + GITLAB,)),
        ("https://codeberg.org/owner/kernels", ("https://codeberg.org" + GITHUB,)),
        ("https://git.example.org/owner/kernels", tuple("https://git.example.org" + form for form in (GITHUB, GITLAB))),
        ("git@git.example.org:owner/kernels", ()),
        ("https://huggingface.co/owner/kernels", ()),
        ("git://git.example.org/owner/kernels", ()),
        ("file:///srv/kernels.git", ()),
        ("/srv/kernels.git", ()),
    ],
)
def test_addresses_of_archives(url: str, wanted: tuple[str, ...]) -> None:
    assert archive.addresses(url, PIN) == wanted
