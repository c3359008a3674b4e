"""PEP 639 on pyproject.toml and on what was built from it."""

import pytest

from tests.checks.sound import PYPROJECT, found, project, subject
from tests.support import rights
from vendor_tool.checks import distribution
from vendor_tool.checks.subject import Artefact

COPIES = f"`{rights.ROOT_LICENSE.to}`"


def test_dist_1_the_expression_covers_everything() -> None:
    changes = {"pyproject.toml": PYPROJECT.replace("Apache-2.0 AND MIT", "Apache-2.0")}
    (one,) = distribution.check(subject(changes=changes))
    assert (one.rule, one.path, one.line) == ("DIST-1", "pyproject.toml", 3)
    assert one.message == "the license expression is Apache-2.0, and vendored files are also MIT"
    assert one.fix == 'license = "Apache-2.0 AND MIT"'


def test_dist_1_no_expression_at_all() -> None:
    changes = {"pyproject.toml": PYPROJECT.replace('license = "Apache-2.0 AND MIT"\n', "")}
    assert [one[3] for one in found(distribution, subject(changes=changes))] == [
        "the license expression is not stated, and vendored files are also Apache-2.0 and MIT"
    ]


@pytest.mark.parametrize(
    ("globs", "missing"),
    [
        ('["LICENSE", "NOTICE", "vendored/LICENSES/**"]', None),
        ('["LICENSE", "NOTICE", "vendored/**/LICENSE*"]', None),
        ('["LICENSE", "NOTICE"]', COPIES),
        ('["LICENSE", "vendored/LICENSES/*/*"]', f"`{rights.ROOT_LICENSE.to}`, `NOTICE`"),
    ],
)
def test_dist_2_the_globs_reach_every_text(globs: str, missing: str | None) -> None:
    changes = {"pyproject.toml": PYPROJECT.replace('["LICENSE", "NOTICE", "vendored/LICENSES/**"]', globs)}
    expected = [("DIST-2", "pyproject.toml", 3, f"`license-files` does not name {missing}")] if missing else []
    assert found(distribution, subject(changes=changes)) == expected


def test_dist_2_without_globs_the_defaults_take_only_the_root() -> None:
    changes = {
        "pyproject.toml": PYPROJECT.replace('license-files = ["LICENSE", "NOTICE", "vendored/LICENSES/**"]\n', "")
    }
    assert [one[3] for one in found(distribution, subject(changes=changes))] == [
        f"`license-files` does not name {COPIES}"
    ]


def test_dist_2_and_1_look_into_what_was_built() -> None:
    whole = {path: data for path, data in project(rights.lock()).items() if "LICENSE" in path}
    notice = subject().local["NOTICE"]
    good = Artefact("ours.whl", "wheel", "Apache-2.0 AND MIT", (), (), (), {**whole, "NOTICE": notice})
    assert found(distribution, subject(artefact=good)) == []
    bare = Artefact("ours.whl", "wheel", None, (), (), (), {"LICENSE": rights.APACHE})
    assert [one[3] for one in found(distribution, subject(artefact=bare))] == [
        "the license expression is not stated, and vendored files are also Apache-2.0 and MIT",
        f"`ours.whl` does not hold `{rights.ROOT_LICENSE.to}`, `NOTICE`",
    ]


def test_dist_3_a_classifier_beside_the_expression() -> None:
    old = "License :: OSI Approved :: MIT License"
    changes = {"pyproject.toml": PYPROJECT + f'classifiers = ["{old}"]\n'}
    assert found(distribution, subject(changes=changes)) == [
        ("DIST-3", "pyproject.toml", 3, f"the classifier `{old}` stands next to a license expression")
    ]
    alone = PYPROJECT.replace('license = "Apache-2.0 AND MIT"\n', "") + f'classifiers = ["{old}"]\n'
    assert "DIST-3" not in {one[0] for one in found(distribution, subject(changes={"pyproject.toml": alone}))}


def test_a_folder_that_is_no_package_is_not_asked_for_metadata() -> None:
    assert found(distribution, subject(changes={"pyproject.toml": None})) == []
    assert found(distribution, subject(changes={"pyproject.toml": "[tool.ruff]\n"})) == []


def test_dist_2_apache_asks_for_its_text_and_not_for_the_upstream_s_copy() -> None:
    mit = {"pyproject.toml": PYPROJECT.replace('"vendored/LICENSES/**"', '"vendored/LICENSES/*/*/LICENSE"')}
    assert found(distribution, subject(changes=mit)) == []
    other = {**mit, "LICENSE": rights.MIT.decode()}
    assert [one[3] for one in found(distribution, subject(changes=other))] == [
        f"`license-files` does not name `{rights.MID_LICENSE.to}`"
    ]
