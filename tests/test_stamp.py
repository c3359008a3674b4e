"""Headers that are filled in with where their file is from."""

from vendor_tool import stamp
from vendor_tool.model import At, LegalFile, Project, Upstream

SHA = "0123456789abcdef0123456789abcdef01234567"
UPSTREAM = Upstream("kern", "https://me:secret@github.com/acme/kern", SHA, At(1, 1), At(1, 1), license="MIT")
LICENSE = LegalFile("LICENSE", "", "", "", "MIT", ("Copyright 2023 A", "Copyright 2024 B"))


def fill(text: str, license_: LegalFile | None = LICENSE) -> str:
    return stamp.fill(
        text, project=Project("ours"), upstream=UPSTREAM, revision=SHA, path="ops/fwd.py", license_=license_
    )


def test_every_name_is_filled_in_and_credentials_are_not() -> None:
    text = " | ".join(f"{{{name}}}" for name in stamp.NAMES)
    assert fill(text).split(" | ") == [
        "ours",
        "kern",
        "https://github.com/acme/kern",
        SHA,
        "ops/fwd.py",
        f"https://github.com/acme/kern/blob/{SHA}/ops/fwd.py",
        "MIT",
        "Copyright 2023 A; Copyright 2024 B",
    ]


def test_holders_alone_on_a_line_get_a_line_each() -> None:
    assert fill("{holders}\nModified by {project}\n") == "Copyright 2023 A\nCopyright 2024 B\nModified by ours\n"
    assert fill("{holders}\nx", None) == "x"


def test_other_braces_stay() -> None:
    assert fill("{year} {} {{project}} f(x) = {x}") == "{year} {} {ours} f(x) = {x}"


def test_a_text_without_names_is_the_same() -> None:
    assert fill("Copyright ours\n\nAll rights reserved.\n") == "Copyright ours\n\nAll rights reserved.\n"
