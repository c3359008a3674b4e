"""Facts of rights survive their way through the lock, and copies go where one owner has them."""

from dataclasses import replace

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support import rights
from vendor_tool import legal
from vendor_tool.legal import Ancestor, Facts, HeaderFacts, Mention, Origin
from vendor_tool.model import At, FileSpec, LegalFile, Resolved

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
HEX = st.text("0123456789abcdef", min_size=40, max_size=40)
FILES = st.builds(LegalFile, WORDS, HEX, WORDS, HEX, st.none() | WORDS, st.lists(WORDS, max_size=2).map(tuple))
ORIGINS = st.builds(Origin, WORDS, HEX, WORDS, st.integers(1, 4), st.integers(1, 999), WORDS)
ANCESTORS = st.builds(
    Ancestor,
    WORDS,
    HEX,
    st.lists(WORDS, max_size=3, unique=True).map(sorted).map(tuple),
    st.none() | FILES,
    st.none() | FILES,
    st.none() | WORDS,
    st.booleans(),
)
FACTS = st.builds(
    Facts,
    st.lists(ANCESTORS, max_size=3, unique_by=lambda one: (one.url, one.revision))
    .map(lambda found: sorted(found, key=lambda one: (one.url, one.revision)))
    .map(tuple),
    st.dictionaries(WORDS, st.lists(ORIGINS, min_size=1, max_size=2).map(tuple), max_size=2),
    st.lists(FILES, max_size=2, unique_by=lambda one: one.path)
    .map(lambda found: sorted(found, key=lambda one: one.path))
    .map(tuple),
    st.booleans(),
)


@given(FACTS)
def test_facts_come_back_from_yaml_as_they_were(facts: Facts) -> None:
    plain = yaml.safe_load(yaml.safe_dump(legal.dump(facts), allow_unicode=True))
    record = Resolved(At(1, 1), "", "", "", "", extra={legal.KEY: plain})
    assert legal.read(record) == facts


def test_no_facts_are_an_empty_record() -> None:
    assert legal.dump(Facts()) == {}
    assert legal.read(None) == legal.read(Resolved(At(1, 1), "", "", "", "")) == Facts()


def test_a_file_s_own_licence_comes_before_the_entry_s_and_the_detected_one() -> None:
    file = rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"", b"")
    entry = rights.upstream(file, declared="MIT")
    assert legal.declared(entry, file) == "MIT"
    assert legal.declared(replace(entry, license=None), file) == "Apache-2.0"
    own = FileSpec("fwd.py", None, At(1, 1), license="ISC")
    assert legal.declared(replace(entry, files=(own,)), file) == "ISC"


def test_the_home_of_an_entry_is_the_top_of_its_folder_wherever_its_files_go() -> None:
    deep = rights.recorded("ops/a.py", "pkg/deep/a.py", b"", b"")
    assert legal.home(rights.upstream(to="vendored/mid")) == "vendored"
    assert legal.home(rights.upstream(deep, to="")) == "vendored"
    assert legal.home(rights.upstream(to="")) == "vendored"


def test_a_header_s_expression_names_every_licence_once() -> None:
    facts = HeaderFacts(
        mentions=(Mention("MIT", "tag", 1), Mention("MIT", "phrase", 4), Mention("ISC OR 0BSD", "tag", 2))
    )
    assert facts.spdx == "(ISC OR 0BSD) AND MIT"
    assert HeaderFacts().spdx is None


def test_copies_of_one_name_go_side_by_side_into_the_upstream_s_folder() -> None:
    one = rights.upstream(rights.recorded("ops/fwd.py", "vendored/mid/fwd.py", b"x = 1\n", b"x = 1\n"))
    assert legal.copies(one, ["LICENSE", "NOTICE", "deep/LICENSE"]) == {
        "LICENSE": "vendored/LICENSES/mid/LICENSE",
        "NOTICE": "vendored/LICENSES/mid/NOTICE",
        "deep/LICENSE": "vendored/LICENSES/mid/deep__LICENSE",
    }
