"""What upstreams hold, by revision and blob id: the only part of the program that reaches the network.

Importing this module loads neither git nor requests: the work is done by modules that load when called.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from vendor_tool import links
from vendor_tool.model import Access, Commit, Snapshot, Upstream
from vendor_tool.urls import check_url, plain_url

if TYPE_CHECKING:
    from vendor_tool.fetch.names import Listing

__all__ = [
    "blobs",
    "changes",
    "check_url",
    "descends",
    "given",
    "holders",
    "lacking",
    "listing",
    "log",
    "named",
    "permalink",
    "plain_url",
    "reader",
    "refs",
    "resolve",
    "snapshot",
    "standing",
    "versions",
]


def resolve(upstream: Upstream, rev: str, access: Access) -> str:
    """The full commit id that a full or short id, a tag or a branch stands for; tag objects are followed.

    A prefix of `upstream.revision`, seven digits or more, is answered without the network. UsageError where `rev` is
    ambiguous or no commit, UpstreamError where the upstream has no such thing or cannot be reached.
    """
    from vendor_tool.fetch import names

    return names.resolve(upstream, rev, access)


def named(upstream: Upstream, rev: str, access: Access) -> tuple[str, str | None]:
    """What `resolve` gives, with the tag's name, without `refs/tags/`, where `rev` is one."""
    from vendor_tool.fetch import names

    return names.named(upstream, rev, access)


def snapshot(upstream: Upstream, revision: str, access: Access) -> Snapshot:
    """The listing of one commit, given by its full id, without contents. UpstreamError where it is not to be had."""
    from vendor_tool.fetch import objects

    return objects.snapshot(upstream, revision, access)


def blobs(upstream: Upstream, revision: str, oids: Collection[str], access: Access) -> dict[str, bytes]:
    """Contents by blob id; all that the cache lacks come in one request, and each is hashed again.

    `revision` is the commit that holds them: the way out where a server does not give blobs by id. UpstreamError
    where a blob is not to be had, ContentError where the cache is damaged.
    """
    from vendor_tool.fetch import objects

    return objects.blobs(upstream, revision, oids, access)


def reader(upstream: Upstream, snapshot: Snapshot, access: Access) -> Callable[[Collection[str]], Mapping[str, bytes]]:
    """A function from paths of a listing to contents, all of a call in one request; links are left out of the answer.

    It raises what `blobs` raises.
    """

    def read(paths: Collection[str]) -> Mapping[str, bytes]:
        oids = {path: snapshot.entries[path].oid for path in paths if snapshot.entries[path].mode != "120000"}
        found = blobs(upstream, snapshot.revision, set(oids.values()), access) if oids else {}
        return {path: found[oid] for path, oid in oids.items()}

    return read


def refs(upstream: Upstream, access: Access, patterns: Sequence[str] = ()) -> dict[str, str]:
    """Full ref name to commit id, `HEAD` included, tag objects followed.

    `patterns` are globs on full names (`refs/heads/*`); where all of them begin with `refs/heads/` or `refs/tags/`,
    the server lists only those. UpstreamError where the upstream cannot be reached, or `access.offline` is set.
    """
    from vendor_tool.fetch import names

    return names.refs(upstream, access, patterns)


def listing(upstream: Upstream, access: Access, patterns: Sequence[str] = ()) -> "Listing":
    """What `refs` gives, with the address that answered and the one that it sent us on to."""
    from vendor_tool.fetch import names

    return names.listing(upstream, access, patterns)


def descends(upstream: Upstream, old: str, new: str, access: Access) -> bool:
    """Whether the commit `new` has `old` in its history; remembered, since it never changes. UpstreamError as above."""
    from vendor_tool.fetch import history

    return history.descends(upstream, old, new, access)


def lacking(upstream: Upstream, old: str, new: str, access: Access) -> int:
    """How many commits the history of `old` has and that of `new` lacks; remembered. UpstreamError as above."""
    from vendor_tool.fetch import history

    return history.lacking(upstream, old, new, access)


def holders(upstream: Upstream, revision: str, refs: Mapping[str, str], access: Access) -> frozenset[str]:
    """Full names of the branches and tags whose history holds a commit; of the pull requests where none does.

    `refs` is what the upstream lists now: where it listed the same before, the answer is too. The first answer costs
    the history of all refs, without folders and files. UpstreamError where the upstream cannot be reached.
    """
    from vendor_tool.fetch import history

    return history.holders(upstream, revision, refs, access)


def given(upstream: Upstream, revision: str, access: Access) -> Literal["given", "gone", "refused"]:
    """Whether the upstream, or a mirror, gives a commit to who asks by its id; "refused" where it gives none so.

    The server is asked whatever the cache holds. UpstreamError where nobody answers.
    """
    from vendor_tool.fetch import history

    return history.given(upstream, revision, access)


def log(upstream: Upstream, old: str, new: str, paths: Sequence[str], access: Access) -> tuple[Commit, ...]:
    """The commits of `new` that `old` lacks and that touch the upstream paths, newest first. UpstreamError as above."""
    from vendor_tool.fetch import history

    return history.log(upstream, old, new, paths, access)


def versions(upstream: Upstream, revision: str, path: str, access: Access) -> tuple[tuple[Commit, str], ...]:
    """The commits up to `revision` that touch one upstream path, newest first, each with the blob id that it left.

    The id is all zeros where it took the file away. Costs the whole history, without contents. UpstreamError as above.
    """
    from vendor_tool.fetch import history

    return history.versions(upstream, revision, path, access)


def changes(upstream: Upstream, revision: str, access: Access) -> tuple[tuple[Commit, Mapping[str, str]], ...]:
    """Every commit up to `revision` that changes a file, newest first, with the blob id that it left at each path.

    All zeros where it took a file away. Costs what `versions` costs. UpstreamError as above.
    """
    from vendor_tool.fetch import history

    return history.changes(upstream, revision, access)


def standing(
    upstream: Upstream, revisions: Sequence[str], paths: Sequence[str], access: Access
) -> tuple[Mapping[str, str], ...]:
    """For each commit of a history that `changes` brought: which of the upstream paths stand there, with blob ids."""
    from vendor_tool.fetch import history

    return history.standing(upstream, revisions, paths, access)


def permalink(url: str, revision: str, path: str, line: int | None = None) -> str | None:
    """A link to one file at one revision; None for an address whose host is no forge that we know."""
    return links.permalink(url, revision, path, line) if links.web(url) else None
