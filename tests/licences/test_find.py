"""Which files of a listing are the legal ones."""

import pytest

from vendor_tool.licences.find import Legal, find_legal


@pytest.mark.parametrize(
    "name", ["LICENSE", "license", "Licence.md", "LICENSE.txt", "COPYING", "COPYING.LESSER", "LICENSE-MIT", "UNLICENSE"]
)
def test_a_licence_goes_by_many_names(name: str) -> None:
    assert find_legal(["src/a.py", name], "src").license == name


@pytest.mark.parametrize("name", ["license.py", "licenses.json", "LICENSE_CHECK.py", "relicense.txt", "license.yaml"])
def test_code_and_data_about_licences_is_no_licence(name: str) -> None:
    assert find_legal([name], "").license is None


def test_the_nearest_folder_upwards_counts() -> None:
    listing = ["LICENSE", "plugins/LICENSE", "plugins/ops/a.py", "other/LICENSE", "NOTICE"]
    assert find_legal(listing, "plugins/ops") == Legal("plugins/LICENSE", "NOTICE", ("LICENSE",))
    assert find_legal(listing, "") == Legal("LICENSE", "NOTICE", ())


def test_the_plain_name_comes_before_the_ones_with_a_kind() -> None:
    found = find_legal(["LICENSE-APACHE", "LICENSE-MIT", "COPYING"], "")
    assert found == Legal("COPYING", None, ("LICENSE-APACHE", "LICENSE-MIT"))


def test_third_party_notices_and_a_folder_of_texts_are_kept_as_others() -> None:
    listing = ["LICENSE", "THIRDPARTYNOTICES.txt", "LICENSES/MIT.txt", "PATENTS", "notice.txt"]
    assert find_legal(listing, "") == Legal(
        "LICENSE", "notice.txt", ("LICENSES/MIT.txt", "PATENTS", "THIRDPARTYNOTICES.txt")
    )


def test_nothing_there_is_nothing_found() -> None:
    assert find_legal(["a.py"], "") == Legal(None, None, ())
