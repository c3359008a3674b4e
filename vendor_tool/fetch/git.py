"""Any git remote: one command at a time, tried again where that may help, with its failure as a value."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from vendor_tool import remote, vcs
from vendor_tool.fetch import http
from vendor_tool.fetch.trouble import Kind, Trouble
from vendor_tool.model import Access
from vendor_tool.urls import plain_url, redacted
from vendor_tool.values import dataclass

PART: Final = 256  # blobs asked for at a time once a transfer of all of them broke

# every ref that may lead to a commit: first what the project itself names, then what was proposed to it
NAMED: Final = ("+refs/heads/*:refs/vendor-tool/heads/*", "+refs/tags/*:refs/vendor-tool/tags/*")
PROPOSED: Final = ("+refs/pull/*/head:refs/vendor-tool/pull/*", "+refs/merge-requests/*/head:refs/vendor-tool/merge/*")

# First match wins. git tells these apart by words only; the child runs with LC_ALL=C.
_KINDS: Final[tuple[tuple[Kind, str], ...]] = (
    ("foreign", r"mismatched algorithms|object-format|unknown object format|unsupported object format"),
    ("broken", r"repository corruption|unable to read [0-9a-f]{40}"),
    ("busy", r"returned error: (429|500|502|503|504)|unable to create '.*\.lock'|shallow file has changed"),
    ("gone", r"not our ref|couldn't find remote ref|no such remote ref"),
    ("refused", r"unadvertised object|want .* not valid|dumb http transport|does not support shallow"),
    ("unreachable", r"could not resolve|couldn't connect|failed to connect|connection refused|timed out|too slow"),
    (
        "denied",
        r"returned error: \d+|authentication failed|could not read|permission denied|repository .*not found"
        r"|does not appear to be a git repository|not allowed|dubious ownership|host key verification",
    ),
)


def fetch(
    store: Path,
    url: str,
    wanted: Collection[str],
    *,
    access: Access,
    hold: int,
    partial: str | None = "blob:none",
    depth: Literal["", "--depth=1", "--unshallow"] = "",
    negotiate: bool = False,
) -> Trouble | None:
    """Bring refspecs or bare ids into the store with one `git fetch`; None where it worked.

    `partial` is git's object filter, None asks for everything. `depth` leaves the parents out, or brings those that
    were left out before. `negotiate` tells the server what is there already.
    `hold` is the descriptor of the store's lock, which the command keeps even if we are killed.
    """
    assert wanted, "an empty `git fetch --stdin` fetches every branch"
    arguments = ["--git-dir=.", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"]
    arguments += [f"--filter={partial}"] if partial else []
    arguments += [depth] if depth else []
    # a branch `a` that became `a/b` would stand in its own way
    arguments += ["--prune"] if any("*" in item for item in wanted) else []
    config = [("fetch.negotiationAlgorithm", "default" if negotiate else "noop")]
    if partial:
        # given here and not in the store's own file, so that reading a missing object never reaches for the network
        config += [(f"remote.{remote.NAME}.promisor", "true"), (f"remote.{remote.NAME}.partialCloneFilter", partial)]
    asked = "".join(f"{item}\n" for item in sorted(wanted)).encode()
    ran = _remote(store, url, [*arguments, "--stdin", remote.NAME], access, stdin=asked, config=config, hold=hold)
    return ran if isinstance(ran, Trouble) else None


def fetch_blobs(store: Path, url: str, oids: Collection[str], *, access: Access, hold: int) -> Trouble | None:
    """Bring blobs by id: all in one request, and part by part where that one broke, so that each part stays."""
    trouble = fetch(store, url, oids, access=access, hold=hold)
    if trouble is None or trouble.kind != "cut" or len(oids) <= PART:
        return trouble
    rest = sorted(oids)
    for start in range(0, len(rest), PART):
        trouble = fetch(store, url, rest[start : start + PART], access=access, hold=hold)
        if trouble is not None:
            return trouble
    return None


@dataclass(frozen=True, slots=True)
class Advertised:
    """What a server lists: ref to id, `^{}` lines included, and the address that it sent us on to, if it did."""

    refs: dict[str, str]
    moved: str | None = None


def advertised(folder: Path, url: str, limits: Sequence[str], access: Access) -> dict[str, str] | Trouble:
    """Ref to id as the server lists them; `limits` of `--heads` and `--tags` keep the list short."""
    found = listed(folder, url, limits, access)
    return found if isinstance(found, Trouble) else found.refs


def listed(folder: Path, url: str, limits: Sequence[str], access: Access) -> Advertised | Trouble:
    """The same, with what else the server told."""
    ran = _remote(folder, url, remote.listing(folder.name, url, limits).arguments, access)
    if isinstance(ran, Trouble):
        return ran
    # not splitlines(): a ref's name may hold what Unicode calls a line's end
    found = (line.split("\t", 1) for line in ran.out.decode("utf-8", "surrogateescape").split("\n") if line)
    refs = {name: oid for oid, name in found}
    if any(len(oid) != 40 for oid in refs.values()):
        return Trouble(plain_url(url), "foreign", ())
    moved = re.search(r"^warning: redirecting to (\S+)$", ran.err, re.MULTILINE)
    return Advertised(refs, plain_url(moved[1]).removesuffix("/") if moved else None)


def peeled(refs: dict[str, str]) -> dict[str, str]:
    """The same without the `^{}` lines: a tag object gives way to what it points at."""
    return {name: refs.get(f"{name}^{{}}", oid) for name, oid in sorted(refs.items()) if not name.endswith("^{}")}


def _remote(
    folder: Path,
    url: str,
    arguments: Sequence[str],
    access: Access,
    *,
    stdin: bytes = b"",
    config: Sequence[tuple[str, str]] = (),
    hold: int | None = None,
) -> vcs.Ran | Trouble:
    settings = [*remote.settings(url), *config]
    keep = () if hold is None else (hold,)

    def attempt(variables: Mapping[str, str] | None = None) -> vcs.Ran | Trouble:
        ran = vcs.run(
            folder,
            *arguments,
            stdin=stdin,
            config=settings,
            variables=variables,
            timeout=remote.patience(),
            keep=keep,
        )
        return ran if ran.status == 0 else _trouble(url, ran)

    first = attempt()
    return _again(attempt, first, access) if isinstance(first, Trouble) else first


def _again(
    attempt: Callable[[Mapping[str, str]], vcs.Ran | Trouble], found: Trouble, access: Access
) -> vcs.Ran | Trouble:
    """What comes of trying once more, and again, for as long as that may help."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="vendor-tool-") as private:
        trace = Path(private) / "headers"
        for usual in http.PAUSES:
            pause = _pause(found, usual, trace)
            if pause is None:
                break
            access.progress(f"{found.url}: {found.lines[-1] if found.lines else found.kind}; trying again")
            vcs.pause(pause)
            # the headers of a refusal say how long to wait, and git does not print them
            later = attempt({"GIT_TRACE_CURL": str(trace), "GIT_TRACE_CURL_NO_DATA": "1"})
            if not isinstance(later, Trouble):
                return later
            found = later
    return found


def _pause(trouble: Trouble, usual: float, trace: Path) -> float | None:
    if trouble.kind not in ("busy", "cut"):
        return None
    asked = re.findall(r"(?i)retry-after: (\d+)", trace.read_text("utf-8", "replace")) if trace.exists() else []
    if not asked:
        return usual
    return float(asked[-1]) if int(asked[-1]) <= http.PATIENCE else None


def _trouble(url: str, ran: vcs.Ran) -> Trouble:
    # a server's words can end in a zero byte
    told = (line.rstrip("\0 ") for line in ran.err.splitlines())
    lines = tuple(redacted(line) for line in told if line.strip())[-4:]
    if ran.status is None:
        return Trouble(plain_url(url), "unreachable", (*lines, "no answer in time"))
    text = ran.err.lower()
    kind: Kind = next((kind for kind, pattern in _KINDS if re.search(pattern, text)), "cut")
    return Trouble(plain_url(url), kind, lines)
