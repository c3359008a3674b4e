"""Which upstream file each copied file is of: the same blob, else the same name, else the same lines or definitions."""

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from vendor_tool import moves
from vendor_tool.adoption.likeness import SAID, Likeness, alike, bare, shared, small, text, without_header
from vendor_tool.fetch.store import blob_id
from vendor_tool.model import Entry
from vendor_tool.values import dataclass

How: TypeAlias = Literal["given", "same", "said", "named", "content", "symbols"]
Read: TypeAlias = Callable[[Collection[str]], Mapping[str, bytes]]

# what the right folder is worth, beside two shares
BESIDE = 0.6
# share of a file's long lines that another one must have to be looked into
KIN = 0.2
LONG = 10
# files of one name, files of one suffix, and files without a namesake, that are looked into
NAMESAKES = 60
READ = 1000
SEARCHED = 200


@dataclass(frozen=True, slots=True)
class Pair:
    """One copied file and what it is a copy of."""

    local: str
    path: str  # upstream path
    how: How
    rivals: tuple[str, ...] = ()  # other upstream paths that are as like it


@dataclass(frozen=True, slots=True)
class Pairing:
    """All pairs, by local path, and why the other files have none."""

    pairs: tuple[Pair, ...]
    left: Mapping[str, str]


class _Search:
    """What is looked through, and what was found so far."""

    def __init__(self, files: Mapping[str, bytes], listing: Mapping[str, Entry], read: Read) -> None:
        self.files, self.listing, self._read = files, listing, read
        self.found: dict[str, Pair] = {}
        self.taken: dict[str, str] = {}  # upstream path -> the local file that stands for it
        self._homes: dict[str, Counter[str]] = {}
        self._known: dict[str, bytes] = {}

    def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Contents by path, each asked for once."""
        self._known.update(self._read([path for path in paths if path not in self._known]))
        return {path: self._known[path] for path in paths if path in self._known}

    def put(self, pair: Pair) -> None:
        self.found[pair.local] = pair
        self.taken[pair.path] = pair.local
        self._homes.setdefault(posixpath.dirname(pair.local), Counter())[posixpath.dirname(pair.path)] += 1

    def open(self) -> list[str]:
        """Local files that have no pair yet."""
        return [local for local in self.files if local not in self.found]

    def homes(self, local: str) -> Counter[str]:
        """Upstream folders that the neighbours of a local file come from."""
        return self._homes.get(posixpath.dirname(local), Counter())


def pair(
    files: Mapping[str, bytes],
    listing: Mapping[str, Entry],
    read: Read,
    *,
    given: Mapping[str, str],
    said: Mapping[str, str],
) -> Pairing:
    """Pair local files with the plain files of a listing; no upstream file stands for two.

    `given` holds pairs that nothing shall be asked about, `said` what comments say: both local path to upstream path.
    """
    plain = {path: entry for path, entry in listing.items() if entry.mode in ("100644", "100755")}
    search = _Search(files, plain, read)
    for local, path in given.items():
        search.put(Pair(local, path, "given"))
    _same(search, said)
    _said(search, said)
    _named(search)
    _small(search)
    _alike(search)
    left = {local: _why(search, local) for local in search.open()}
    return Pairing(tuple(search.found[local] for local in sorted(search.found)), dict(sorted(left.items())))


# ---- step by step -----------------------------------------------------------------------------------------


def _same(search: _Search, said: Mapping[str, str]) -> None:
    """Files that are as they are upstream. Those with one candidate first: they tell where their neighbours are."""
    by_blob: dict[str, list[str]] = {}
    for path, entry in search.listing.items():
        by_blob.setdefault(entry.oid, []).append(path)
    candidates = {
        local: paths
        for local in search.open()
        if (paths := by_blob.get(blob_id(search.files[local]), [])) and not small(search.files[local], local)
    }
    for local in sorted(candidates, key=lambda one: (len(candidates[one]), one)):
        paths = [path for path in candidates[local] if path not in search.taken]
        if paths:
            chosen = said[local] if said.get(local) in paths else min(paths, key=lambda path: _far(search, local, path))
            search.put(Pair(local, chosen, "same", tuple(path for path in paths if path != chosen)))


def _said(search: _Search, said: Mapping[str, str]) -> None:
    wanted = {local: said[local] for local in search.open() if said.get(local) in search.listing}
    contents = search.read(sorted(set(wanted.values()))) if wanted else {}
    for local, path in wanted.items():
        data = search.files[local]
        if path in search.taken or not (text(data) and path in contents):
            continue
        if alike(data, contents[path], local).whole >= SAID or shared(data, contents[path]):
            search.put(Pair(local, path, "said"))


def _named(search: _Search) -> None:
    """Files with a namesake that shares lines with them."""
    names: dict[str, list[str]] = {}
    for path in search.listing:
        names.setdefault(posixpath.basename(path), []).append(path)
    wanted = {
        local: sorted(names[name], key=lambda path: _far(search, local, path))[:NAMESAKES]
        for local in search.open()
        if (name := posixpath.basename(local)) in names
        and text(search.files[local])
        and not small(search.files[local], local)
    }
    contents = search.read(sorted({path for paths in wanted.values() for path in paths})) if wanted else {}
    scores = {
        (local, path): _score(search, local, path, likeness)
        for local, paths in wanted.items()
        for path in paths
        if path in contents and (likeness := alike(search.files[local], contents[path], local)).namesake
    }
    # the most alike first: of two copies of one file, or of two files of one name, each gets its own
    for local, path in sorted(scores, key=lambda two: (-scores[two], two[0], _far(search, *two))):
        if local not in search.found and path not in search.taken:
            free = [one for one in wanted[local] if one not in search.taken]
            equal = [one for one in free if scores.get((local, one)) == scores[local, path]]
            chosen = min(equal, key=lambda one: _far(search, local, one))
            search.put(Pair(local, chosen, "named", tuple(one for one in equal if one != chosen)))


def _score(search: _Search, local: str, path: str, likeness: Likeness) -> float:
    """Large for files that are alike, and for one beside those that the neighbours are of."""
    return likeness.whole + likeness.copy + (BESIDE if search.homes(local)[posixpath.dirname(path)] else 0)


def _small(search: _Search) -> None:
    """Files that say too little: of the folder that their neighbours are from, or of none."""
    for local in search.open():
        if not small(search.files[local], local):
            continue
        for folder, _ in search.homes(local).most_common():
            path = posixpath.join(folder, posixpath.basename(local))
            entry = search.listing.get(path)
            if entry is not None and path not in search.taken and entry.oid == blob_id(search.files[local]):
                search.put(Pair(local, path, "same"))
                break


def _alike(search: _Search) -> None:
    """Files without a namesake, by what they hold."""
    todo = [
        local
        for local in search.open()
        if text(search.files[local]) and not small(search.files[local], local) and posixpath.splitext(local)[1]
    ]
    kin = _kin(search, todo)
    found: list[tuple[float, str, str, How]] = []
    for local in [local for local in todo if kin.get(local)][:SEARCHED]:
        free = {path: search.listing[path] for path in kin[local] if path not in search.taken}
        stripped = b"\n".join(without_header(search.files[local], local)) + b"\n"
        (proposal,) = moves.propose({local: stripped}, {}, free, search.read)
        if proposal.renamed:
            found.append((-proposal.similarity, local, proposal.renamed, "content"))
        elif path := _most(proposal):
            found.append((0.0, local, path, "symbols"))
    for _, local, path, how in sorted(found):
        if path not in search.taken:
            search.put(Pair(local, path, how))


def _kin(search: _Search, todo: Sequence[str]) -> dict[str, list[str]]:
    """For each local file the upstream files that share most of its lines, in whatever order; none that share few."""
    suffixes = {posixpath.splitext(local)[1] for local in todo}
    folders = {posixpath.dirname(path) for path in search.taken}
    found = {}
    for suffix in sorted(suffixes):
        near = sorted((path for path in search.listing if path.endswith(suffix)), key=lambda path: _off(folders, path))
        contents = search.read(near[:READ])
        index: dict[bytes, list[str]] = {}
        for path, data in contents.items():
            for line in {*bare(data, path)} if text(data) else ():
                if len(line) >= LONG:
                    index.setdefault(line, []).append(path)
        for local in (local for local in todo if local.endswith(suffix)):
            found[local] = _nearest(index, [line for line in bare(search.files[local], local) if len(line) >= LONG])
    return found


def _nearest(index: Mapping[bytes, Sequence[str]], wanted: Sequence[bytes]) -> list[str]:
    shared: Counter[str] = Counter()
    for line in wanted:
        for path in index.get(line, ()):
            shared[path] += len(line)
    least = KIN * sum(map(len, wanted))
    return [path for path, size in shared.most_common(5) if size >= least]


def _off(folders: Collection[str], path: str) -> tuple[int, str]:
    """Small for a path that shares much of its way with one of these folders."""
    return -max((len(posixpath.commonpath([folder, path])) for folder in folders if folder), default=0), path


def _most(proposal: moves.Proposal) -> str | None:
    """The file that most of the definitions are in, if it is half of them and more than one."""
    held = Counter(fate.path for fate in proposal.fates if fate.path is not None)
    path, number = next(iter(held.most_common(1)), ("", 0))
    return path if number >= 2 and 2 * number >= len(proposal.fates) else None


# ---- what is compared -------------------------------------------------------------------------------------


def _far(search: _Search, local: str, path: str) -> tuple[int, int, int, str]:
    """Small for a path that ends like the local one, then for one beside the neighbours' files."""
    ours, theirs = local.split("/")[::-1], path.split("/")[::-1]
    shared = next(
        (n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )
    return -shared, -search.homes(local)[posixpath.dirname(path)], len(theirs), path


def _why(search: _Search, local: str) -> str:
    data = search.files[local]
    other = next(
        (pair for pair in search.found.values() if posixpath.basename(pair.path) == posixpath.basename(local)), None
    )
    if not text(data):
        return "is not text, and the same nowhere"
    if small(data, local):
        return "says too little to tell where it is from"
    if other is not None:
        return f"is less like `{other.path}` than `{other.local}`" if other.local != local else ""
    return "nothing like it was found"
