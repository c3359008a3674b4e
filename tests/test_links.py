"""Addresses made of repository, revision and path."""

import pytest
from packageurl import PackageURL

from vendor_tool import links

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://github.com/Acme/Kern", f"https://github.com/Acme/Kern/blob/{SHA}/ops/a.py#L3"),
        ("https://github.com/Acme/Kern.git", f"https://github.com/Acme/Kern/blob/{SHA}/ops/a.py#L3"),
        ("git@github.com:Acme/Kern.git", f"https://github.com/Acme/Kern/blob/{SHA}/ops/a.py#L3"),
        ("ssh://git@github.com/Acme/Kern", f"https://github.com/Acme/Kern/blob/{SHA}/ops/a.py#L3"),
        ("https://gitlab.com/a/b/c", f"https://gitlab.com/a/b/c/-/blob/{SHA}/ops/a.py#L3"),
        ("https://huggingface.co/acme/kern", f"https://huggingface.co/acme/kern/blob/{SHA}/ops/a.py#L3"),
        ("https://git.example.org/kern", f"https://git.example.org/kern@{SHA}:ops/a.py#L3"),
        ("file:///srv/kern.git", f"file:///srv/kern.git@{SHA}:ops/a.py#L3"),
        ("https://user:secret@github.com/Acme/Kern", f"https://github.com/Acme/Kern/blob/{SHA}/ops/a.py#L3"),
    ],
)
def test_a_permalink_is_of_the_forge_and_holds_no_credentials(url: str, link: str) -> None:
    assert links.permalink(url, SHA, "ops/a.py", 3) == link


def test_a_folder_has_a_tree_link_and_signs_in_a_path_are_escaped() -> None:
    assert links.tree("https://github.com/a/b", SHA, "x y/#z") == f"https://github.com/a/b/tree/{SHA}/x%20y/%23z"
    assert links.tree("https://github.com/a/b", SHA) == f"https://github.com/a/b/tree/{SHA}"


@pytest.mark.parametrize(
    ("url", "path", "kind"),
    [
        ("https://github.com/Acme/Kern", "ops/a.py", "github"),
        ("https://huggingface.co/Acme/Kern", "", "huggingface"),
        ("https://git.example.org/team/kern.git", "a b.py", "generic"),
        ("file:///srv/kern.git", "a.py", "generic"),
    ],
)
def test_a_package_url_is_the_one_that_the_library_makes(url: str, path: str, kind: str) -> None:
    found = links.purl(url, SHA, path)
    parsed = PackageURL.from_string(found)
    assert parsed.to_string() == found
    assert (parsed.type, parsed.version, parsed.subpath) == (kind, SHA, path or None)


def test_a_swhid_names_content_origin_commit_and_path() -> None:
    assert links.swhid("b" * 40, url="https://github.com/a/b", revision=SHA, path="ops/a.py") == (
        f"swh:1:cnt:{'b' * 40};origin=https://github.com/a/b;anchor=swh:1:rev:{SHA};path=/ops/a.py"
    )


def test_two_spellings_of_one_repository_have_one_key() -> None:
    spellings = ["https://github.com/Acme/Kern", "git@github.com:acme/kern.git", "https://www.github.com/acme/KERN/"]
    assert len({links.key(one) for one in spellings}) == 1
    assert links.key("https://github.com/acme/kern") != links.key("https://github.com/fork/kern")


@pytest.mark.parametrize(
    ("url", "commit", "compare"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b/commit/", "https://github.com/a/b/compare/"),
        ("git@gitlab.com:a/b", "https://gitlab.com/a/b/-/commit/", "https://gitlab.com/a/b/-/compare/"),
        ("https://bitbucket.org/a/b", "https://bitbucket.org/a/b/commits/", None),
        ("https://example.org/a/b", None, None),
    ],
)
def test_commits_and_comparisons_have_pages_where_the_forge_is_known(
    url: str, commit: str | None, compare: str | None
) -> None:
    other = "1" * 40
    assert links.commit(url, SHA) == (f"{commit}{SHA}" if commit else None)
    assert links.compare(url, SHA, other) == (f"{compare}{SHA}...{other}" if compare else None)
