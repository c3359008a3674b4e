"""The shape of two trees that were vendored by hand, with code of our own: 17 defects are found, and no control."""

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import rights
from tests.support.rights import Repositories, blob, kept
from vendor_tool import legal, licences, origins
from vendor_tool.checks import apache, copyleft, distribution, packages, provenance, requirements
from vendor_tool.checks import licences as texts
from vendor_tool.checks.subject import Head, Subject
from vendor_tool.findings import Finding
from vendor_tool.licences.facts import walk
from vendor_tool.model import At, Project, Recorded, RecordedImport, Upstream

CHECKS = (apache, texts, copyleft, provenance, distribution, requirements)
MID, FAR, ROOT = rights.MID, "https://github.com/fork/far", rights.ROOT
MID_AT, FAR_AT, ROOT_AT = "b" * 40, "c" * 40, "a" * 40
TERMS = rights.MIT.replace(b"The Demo Authors\n", b"The Demo Authors\nFurther terms with Example Corp apply.\n")
COMPANY = "# Copyright (c) 2025, LOCAL CORPORATION. All rights reserved.\n# SPDX-License-Identifier: Apache-2.0\n"
KERNELS = ("select_fwd", "select_bwd", "attend_fwd", "attend_bwd")
G, V = "ours/glm/kernels", "ours/deep/kernels"


def code(name: str, shim: str = "import runtime\n", extra: str = "") -> str:
    """A small module of its own: what is compared is how much of it stays."""
    steps = "".join(f"    total = total * {number + 3} + len({name!r})\n" for number in range(12))
    return f"{shim}\n\ndef {name}(total):\n{steps}{extra}    return total\n"


def root_files() -> dict[str, str]:
    return {f"examples/{name}.py": code(name) for name in KERNELS}


def mid_files() -> dict[str, str]:
    files = {
        f"mid/ops/{name}.py": f"# Adapted from {ROOT}/blob/{ROOT_AT}/examples/{name}.py\n{code(name)}"
        for name in KERNELS
    }
    return files | {f"mid/ops/{name}.py": code(name) for name in ("index", "sparse")}


def far_files() -> dict[str, str]:
    """The second upstream: its kernels came from the first one's layout, inside its own repository."""
    files = {
        f"far/glm/{name}.py": f"# Adapted from {ROOT}/blob/{ROOT_AT}/examples/{name}.py\n{code(name)}"
        for name in KERNELS
    }
    files |= {
        f"far/deep/kernel/{name}.py": f"# Adapted from far/glm/{name}.py for Deep.\n{code(name)}" for name in KERNELS
    }
    return files | {"far/deep/core.py": code("core"), "far/deep/kernel/select.py": code("select")}


def attribution(path: str) -> str:
    return (
        f"# Upstream attribution:\n#   Project: Far, {FAR}\n#   Revision: {FAR_AT}, deep branch\n"
        f"#   License: Apache-2.0, copyright 2025 Mid Labs\n#   Original source:\n# {FAR}/blob/{FAR_AT}/{path}\n"
    )


LAZY = "from ours._runtime import runtime\n"
G_MAP = {f"{G}/{name}.py": f"mid/ops/{name}.py" for name in ("index", "sparse", *KERNELS)}
V_MAP = {f"{V}/attention.py": "far/deep/core.py", f"{V}/select.py": "far/deep/kernel/select.py"}
V_MAP |= {f"{V}/{name}.py": f"far/deep/kernel/{name}.py" for name in KERNELS}


def imported() -> dict[str, str]:
    """What the local files were on the day that they were copied in."""
    files = {}
    for name in ("index", "sparse"):
        files[f"{G}/{name}.py"] = COMPANY + code(name, LAZY)
    for name in KERNELS:
        link = f"# Adapted from {ROOT}/blob/{ROOT_AT}/examples/{name}.py\n"
        files[f"{G}/{name}.py"] = COMPANY + link + code(name, LAZY)
        origin = attribution(f"far/deep/kernel/{name}.py") + f"# Adapted from far/glm/{name}.py for Deep.\n"
        files[f"{V}/{name}.py"] = COMPANY + origin + code(name, LAZY)
    files[f"{V}/select.py"] = COMPANY + attribution("far/deep/kernel/select.py") + code("select", LAZY)
    rewritten = "".join(f"    value{number} = total - {number}\n" for number in range(12))
    files[f"{V}/attention.py"] = (
        COMPANY + attribution("far/deep/core.py") + f"{LAZY}\n\ndef attention(total):\n{rewritten}    return value3\n"
    )
    return files


def local() -> dict[str, str]:
    """The project today: some files were edited in place, and prose stands in for a record."""
    files = imported()
    files[f"{G}/index.py"] = COMPANY + code("index", LAZY, "    total = min(total, 7)\n")
    for name in KERNELS:
        files[f"{V}/{name}.py"] = files[f"{V}/{name}.py"].replace("ours._runtime", "ours.lazy")
    files[f"{G}/_runtime.py"] = files[f"{V}/_runtime.py"] = COMPANY + "runtime = None\n"
    files[f"{G}/adapter.py"] = COMPANY + "def adapt():\n    return 1\n"
    files[f"{G}/__init__.py"] = (
        f'{COMPANY}"""Kernels.\n\n* Upstream revision: ``{MID_AT}``\n\nLocal modifications: each file imports its '
        'runtime through the lazy shim.\n"""\n'
    )
    files[f"{V}/__init__.py"] = (
        f'{COMPANY}"""Kernels.\n\n* Upstream revision: ``{FAR_AT}``\n* Upstream NOTICE file: none\n\n'
        'Local modifications include adapting the kernels to our layouts.\n"""\n'
    )
    files["LICENSE"] = rights.APACHE_TEMPLATE.decode()
    files["README.md"] = "# Ours\n"
    files["pyproject.toml"] = (
        '[project]\nname = "ours"\nclassifiers = ["License :: OSI Approved :: Apache Software License"]\n'
    )
    return files


def entry(
    name: str, url: str, at: str, mapping: Mapping[str, str], upstream: Mapping[str, str], known: legal.Facts | None
) -> Upstream:
    to = G if name == "mid" else V
    files = tuple(
        Recorded(path, blob(upstream[path].encode()), local_, "", At(20 + line, 9))
        for line, (local_, path) in enumerate(sorted(mapping.items()))
    )
    license_ = kept("LICENSE", f"ours/LICENSES/{name}/LICENSE", rights.APACHE, "Apache-2.0", rights.APACHE_HOLDER)
    made = rights.upstream(*files, name=name, url=url, license_=license_, facts=known, to=to)
    assert made.resolved is not None
    return replace(made, revision=at, from_="", resolved=replace(made.resolved, revision=at))


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    trees = {
        (MID, MID_AT): {"LICENSE": rights.APACHE} | {path: text.encode() for path, text in mid_files().items()},
        (FAR, FAR_AT): {"LICENSE": rights.APACHE} | {path: text.encode() for path, text in far_files().items()},
        (ROOT, ROOT_AT): {"LICENSE": TERMS} | {path: text.encode() for path, text in root_files().items()},
    }
    # the first entry records the root, as its prose does; the second one stops at its direct upstream
    text = kept("LICENSE", "ours/LICENSES/mid/roots__kern/LICENSE", TERMS, "MIT", rights.MIT_HOLDER)
    root = legal.Ancestor(ROOT, ROOT_AT, tuple(sorted(root_files())), license=text, extra_terms=True)
    mid = entry("mid", MID, MID_AT, G_MAP, mid_files(), legal.Facts(ancestors=(root,)))
    far = entry("far", FAR, FAR_AT, V_MAP, far_files(), None)
    used = rights.upstream(name="used", url="https://github.com/acme/used", declared="MIT", license_=None)
    assert used.resolved is not None
    used = replace(used, resolved=replace(used.resolved, imports=(RecordedImport("used.go", "used.py", "d" * 40, 3),)))
    lock = rights.lock(mid, far, used, project=Project("ours", "Apache-2.0", ("Apache-2.0", "MIT")))
    here = {path: text.encode() for path, text in local().items()}
    mapped = {**{to: (mid, path) for to, path in G_MAP.items()}, **{to: (far, path) for to, path in V_MAP.items()}}
    sources = {to: trees[one.url, one.revision][path] for to, (one, path) in mapped.items()}
    reader = Repositories(trees)
    return Subject(
        lock=lock,
        local=here,
        headers={to: licences.header(here[to], to) for to in mapped},
        claims={to: tuple(origins.claims(here[to], to)) for to in mapped},
        pristine={blob(data): data for data in [*sources.values(), rights.APACHE, TERMS]},
        upstream_headers={blob(data): licences.header(data, to) for to, data in sources.items()},
        chains={
            to: tuple(walk(one, one.revision, licences.Vendored(path, to, sources[to]), reader))
            for to, (one, path) in mapped.items()
        },
        derived={path: text.encode() for path, text in imported().items()},
        texts={"LICENSE": licences.detect(here["LICENSE"].decode())},
        heads={
            "mid": Head(reachable=True),
            "far": Head(reachable=False, gone=("far/deep/core.py",), canonical="https://github.com/owner/far"),
        },
        project=packages.pyproject(here["pyproject.toml"]),
        artefact=packages.artefact(wheel(tmp_path)),
    )


def wheel(folder: Path) -> Path:
    """What the project publishes: its own licence, a classifier, nothing of its upstreams."""
    path = folder / "ours-1-py3-none-any.whl"
    head = "Metadata-Version: 2.4\nName: ours\nVersion: 1\nLicense-File: LICENSE\nClassifier: License :: OSI Approved :: Apache Software License\n"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("ours-1.dist-info/METADATA", head)
        packed.writestr("ours-1.dist-info/licenses/LICENSE", rights.APACHE_TEMPLATE)
        packed.writestr("ours/glm/kernels/index.py", local()[f"{G}/index.py"])
    return path


def findings(subject: Subject) -> list[Finding]:
    return [found for check in CHECKS for found in check.check(subject)]


def named(*names: str, folder: str) -> list[str]:
    return sorted(f"{folder}/{name}.py" for name in names)


ALL_G, ALL_V = named("index", "sparse", *KERNELS, folder=G), named("attention", "select", *KERNELS, folder=V)
DEFECTS: Mapping[str, Mapping[str, Sequence[str | None]]] = {
    "D01": {"LIC-M1": named(*KERNELS, folder=G) + named(*KERNELS, folder=V)},
    "D02": {"LIC-A3": ALL_G},
    "D03": {"LIC-A2": ALL_G + ALL_V},
    "D04": {"LIC-A5": ALL_G},
    "D05": {"PROV-1": named(*KERNELS, folder=V)},
    "D06": {"PROV-2": named(*KERNELS, folder=V)},
    "D07": {"PROV-4": [None], "PROV-10": [None]},
    "D08": {"PROV-5": [f"{V}/attention.py"]},
    "D09": {"PROV-6": [f"{G}/index.py", *named(*KERNELS, folder=V)]},
    "D10": {"PROV-11": [f"{G}/__init__.py"]},
    "D11": {"PROV-8": ALL_G},
    "D12": {"LIC-X2": [None]},
    "D13": {"DIST-1": ["pyproject.toml"], "DIST-2": ["pyproject.toml"]},
    "D14": {"LIC-X7": ["LICENSE"]},
    "D15": {"PROV-7": [f"{G}/_runtime.py", f"{G}/adapter.py", f"{V}/_runtime.py"]},
    "D16": {"PROV-9": [f"{V}/attention.py"]},
    "D17": {"LIC-A4": [None]},
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found_where_it_is(subject: Subject, defect: str) -> None:
    found = findings(subject)
    told = {rule: sorted(str(one.path) for one in found if one.rule == rule) for rule in DEFECTS[defect]}
    assert told == {rule: sorted(map(str, paths)) for rule, paths in DEFECTS[defect].items()}


def test_nothing_but_the_defects_is_found(subject: Subject) -> None:
    expected = Counter({rule: len(paths) for rules in DEFECTS.values() for rule, paths in rules.items()})
    assert Counter(one.rule for one in findings(subject)) == expected


def test_no_control_is_reported(subject: Subject) -> None:
    found = findings(subject)
    assert [one for one in found if one.rule == "LIC-A1"] == []
    assert [one.level for one in found if one.rule == "LIC-A4"] == ["note"]
    assert [one for one in found if one.rule == "PROV-3"] == []
    assert [one for one in found if one.rule == "PROV-4" and one.upstream == "mid"] == []
    assert [one for one in found if one.upstream == "used"] == []


def test_every_finding_says_where_and_what_to_do(subject: Subject) -> None:
    for one in findings(subject):
        assert one.fix
        assert one.path or one.lock_line
        assert not one.message.endswith(".")
        assert one.message[0].islower() or one.message[0] == "`" or one.message.startswith(("https:", "NOTICE"))
