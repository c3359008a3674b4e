"""Where files say they are from, against the lock."""

from dataclasses import replace

import pytest

from tests.checks.sound import BODY, FACTS, FWD, HEADER, LOCAL, PRISTINE, entry, file, found, subject
from tests.support import rights
from vendor_tool.checks import provenance
from vendor_tool.checks.subject import Head
from vendor_tool.legal import Origin
from vendor_tool.model import At, ShimSpec

B = rights.REVISION


def test_prov_1_an_origin_of_the_upstream_file_that_was_never_recorded() -> None:
    chain = (Origin(rights.MID, B, "ops/old.py", 1, 1, "ops/fwd.py"), rights.origin(hop=2, named_in="ops/old.py"))
    message = f"comes from {rights.ROOT} by way of `ops/old.py`, which the lock does not record"
    local = HEADER + BODY
    whole = subject(entry(local, upstream=BODY, facts=None), {FWD: local}, upstream=BODY)
    assert found(provenance, replace(whole, chains={FWD: chain})) == [("PROV-1", FWD, 1, message)]
    recorded = subject(entry(local, upstream=BODY, facts=FACTS), {FWD: local}, upstream=BODY)
    assert found(provenance, replace(recorded, chains={FWD: chain})) == []


def test_prov_1_an_origin_that_only_the_local_file_names() -> None:
    local = HEADER + f"# Copied from https://github.com/other/one/blob/{B}/a.py\n" + PRISTINE
    message = "says that it comes from https://github.com/other/one, which the lock does not record"
    assert found(provenance, subject(entry(local), {FWD: local})) == [("PROV-1", FWD, 4, message)]


def test_prov_1_another_entry_and_a_mirror_are_known() -> None:
    local = HEADER + f"# Copied from https://github.com/other/one/blob/{B}/a.py\n" + PRISTINE
    other = rights.upstream(name="one", url="https://github.com/Other/One.git")
    assert found(provenance, subject(entry(local), {FWD: local}, others=[other])) == []
    mirrored = replace(entry(local), mirrors=("https://github.com/other/one",))
    assert found(provenance, subject(mirrored, {FWD: local})) == []


def test_prov_2_a_path_of_the_upstream_s_repository() -> None:
    local = HEADER + "# Adapted from ops/old.py for Demo\n" + PRISTINE
    chain = (Origin(rights.MID, B, "ops/old.py", 1, 1, "ops/fwd.py"),)
    whole = replace(subject(entry(local), {FWD: local}), chains={FWD: chain})
    (one,) = provenance.check(whole)
    assert (one.rule, one.path, one.line) == ("PROV-2", FWD, 4)
    assert one.message == "the origin `ops/old.py` is a path of mid's repository"
    assert one.fix == f"write https://github.com/mid/plugins/blob/{B}/ops/old.py"


def test_prov_2_a_path_that_is_here_is_no_dangling_one() -> None:
    local = HEADER + "# Adapted from vendored/mid/fwd.py\n" + PRISTINE
    assert found(provenance, subject(entry(local), {FWD: local})) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        (f"{rights.ROOT}/blob/main/a.py", True),
        (f"{rights.ROOT}/pull/7", True),
        (rights.ROOT, True),
        (f"{rights.ROOT}/blob/v1.2/a.py", False),
        (f"{rights.ROOT}/blob/{B}/a.py", False),
    ],
)
def test_prov_3_a_link_that_follows_a_branch(link: str, told: bool) -> None:
    local = HEADER + f"# Adapted from {link}\n" + BODY
    expected = [("PROV-3", FWD, 4, f"the origin `{link}` is not pinned to a commit")] if told else []
    assert found(provenance, subject(entry(local, upstream=BODY), {FWD: local}, upstream=BODY)) == expected


def test_prov_4_9_10_what_became_of_the_upstream() -> None:
    head = Head(reachable=False, gone=("ops/fwd.py",), canonical="https://github.com/owner/plugins")
    assert found(provenance, subject(heads={"mid": head})) == [
        ("PROV-4", None, None, f"{B[:12]} of mid is on no branch and no tag of https://github.com/owner/plugins"),
        ("PROV-9", FWD, None, "`ops/fwd.py` is gone from the head of mid"),
        ("PROV-10", None, None, f"{rights.MID} is a fork or an old address of https://github.com/owner/plugins"),
    ]
    assert found(provenance, subject(heads={"mid": Head(reachable=True, canonical=f"{rights.MID}.git")})) == []


def test_prov_5_a_file_that_was_rewritten() -> None:
    local = HEADER + "def other():\n    return [number for number in range(170) if number % 3]\n"
    assert found(provenance, subject(entry(local), {FWD: local})) == [
        ("PROV-5", FWD, 1, "has 0% of its code in common with `ops/fwd.py` of mid")
    ]


def test_prov_6_an_edit_in_place() -> None:
    edited = LOCAL.replace("total * 5", "total * 6")
    assert found(provenance, subject(changes={FWD: edited})) == [
        ("PROV-6", FWD, None, "was edited since it was written: its bytes are not the recorded ones")
    ]
    line = 1 + edited.splitlines().index("    total = total * 6")
    assert found(provenance, subject(changes={FWD: edited}, derived={FWD: LOCAL.encode()}))[0][2] == line


def test_prov_7_a_file_that_nobody_listed() -> None:
    changes = {"vendored/mid/own.py": "x = 1\n", "vendored/mid/__init__.py": "", "vendored/elsewhere/x.py": ""}
    message = "stands among files of mid, and the lock lists it neither under `files:` nor `local:`"
    assert found(provenance, subject(changes=changes)) == [("PROV-7", "vendored/mid/own.py", None, message)]
    assert found(provenance, subject(replace(entry(), local=("own.*",)), changes)) == []


def test_prov_7_stand_ins_are_the_tool_s_own() -> None:
    whole = subject(changes={"vendored/mid/_shim.py": ""})
    shims = {"tilelang": ShimSpec("tilelang", "vendored/mid/_shim.py", At(1, 1))}
    assert found(provenance, replace(whole, lock=replace(whole.lock, shims=shims))) == []


@pytest.mark.parametrize(
    ("gone", "missing"),
    [(f"/blob/{B}", "revision"), ("/mid/plugins", "upstream"), (f"/mid/plugins/blob/{B}", "upstream and no revision")],
)
def test_prov_8_a_header_names_upstream_and_revision(gone: str, missing: str) -> None:
    local = LOCAL.replace(gone, "")
    assert ("PROV-8", FWD, 1, f"the header names no {missing}") in found(
        provenance, subject(entry(local), {FWD: local})
    )


@pytest.mark.parametrize(("name", "told"), [("a.bin", False), ("a.json", False), ("a.cu", True), ("run", True)])
def test_prov_8_asks_for_a_header_only_where_one_can_stand(name: str, told: bool) -> None:
    data = {"a.bin": "\0\1", "a.json": "{}\n", "a.cu": "int x;\n", "run": "#!/bin/sh\n"}[name]
    path = f"vendored/mid/{name}"
    entry_ = rights.upstream(rights.recorded(f"ops/{name}", path, data.encode(), data.encode()))
    assert any(one[0] == "PROV-8" for one in found(provenance, subject(entry_, {path: data}))) is told


def test_prov_10_one_project_under_two_owners() -> None:
    local = HEADER + f"# Copied from https://github.com/fork/plugins/blob/{B}/a.py\n" + PRISTINE
    told = found(provenance, subject(entry(local), {FWD: local}))
    assert ("PROV-10", None, None, "`plugins` is cited under `fork/plugins` and `mid/plugins`") in told


PROSE = '"""Kernels.\n\nLocal changes: imports go through the shim.\n"""\n'


def test_prov_11_prose_that_leaves_a_change_out() -> None:
    edited = LOCAL.replace("total * 5", "total * 6")
    init = "vendored/mid/__init__.py"
    assert found(provenance, subject(entry(edited), {FWD: edited, init: PROSE})) == [
        ("PROV-11", init, 3, "speaks of changed imports only, and `fwd.py` differ in more")
    ]
    honest = PROSE.replace("shim.", "shim, and a factor was adapted.")
    assert found(provenance, subject(entry(edited), {FWD: edited, init: honest})) == []
    assert found(provenance, subject(changes={init: PROSE})) == []


def test_a_file_that_is_missing_is_left_to_check() -> None:
    assert found(provenance, subject(changes={FWD: None})) == []


def test_two_files_of_one_entry_are_each_judged() -> None:
    both = rights.upstream(file(), file(name="bwd.py"), facts=FACTS)
    changes = {"vendored/mid/bwd.py": BODY}
    told = found(provenance, subject(both, changes))
    assert {one[:2] for one in told} == {("PROV-6", "vendored/mid/bwd.py"), ("PROV-8", "vendored/mid/bwd.py")}
