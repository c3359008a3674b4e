"""Refs that hold slashes are told apart from paths by the repository's own refs."""

from vendor_tool.origins.targets import link, with_refs


def test_the_longest_ref_of_the_repository_wins() -> None:
    target = link("https://github.com/acme/kern/blob/release/2.10/ops/fwd.py")
    assert (target.ref, target.path) == ("release", "2.10/ops/fwd.py")
    found = with_refs(target, ["main", "release/2.1", "release/2.10"])
    assert (found.ref, found.path) == ("release/2.10", "ops/fwd.py")


def test_a_link_that_fits_no_ref_stays_as_it_is() -> None:
    target = link("https://github.com/acme/kern/blob/gone/ops/fwd.py")
    assert with_refs(target, ["main"]) == target
