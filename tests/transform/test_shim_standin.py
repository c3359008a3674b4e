import ast

from vendor_tool.model import At, KnownBad, ShimSpec
from vendor_tool.transform import shim_standin

AT = At(1, 1)


def test_the_same_spec_gives_the_same_bytes() -> None:
    one = ShimSpec("tilelang", "v/_t.py", AT, names={"T": "tilelang.language", "S": "tilelang.math"})
    two = ShimSpec("tilelang", "v/_t.py", At(9, 9), names={"S": "tilelang.math", "T": "tilelang.language"})
    assert shim_standin.render(one) == shim_standin.render(two)


def test_every_placeholder_is_filled_and_the_text_is_python() -> None:
    text = shim_standin.render(ShimSpec("flash_attn", "v/_f.py", AT)).decode()
    assert "@@" not in text
    ast.parse(text, feature_version=(3, 10))


def test_type_checkers_see_the_real_names() -> None:
    spec = ShimSpec("tilelang", "v/_t.py", AT, names={"T": "tilelang.language", "np": "numpy"})
    text = shim_standin.render(spec).decode()
    assert (
        "if TYPE_CHECKING:\n"
        "    import tilelang as tilelang\n"
        "    from tilelang import *\n"
        "    from tilelang import language as _T\n"
        "    T = _T\n"
        "    import numpy as _np\n"
        "    np = _np\n"
    ) in text


def test_the_locks_own_known_bad_versions_are_written_in_where_they_concern_the_module() -> None:
    bad = [
        KnownBad(AT, "gives NaN", "https://example.invalid/1", {"flash-attn": "<2.5", "torch": ">=2.9"}),
        KnownBad(AT, "is slow", None, {"triton": "==3.0.0"}),
    ]
    text = shim_standin.render(ShimSpec("flash_attn", "v/_f.py", AT), known_bad=bad).decode()
    assert (
        "_KNOWN_BAD = (\n    ({'flash-attn': '<2.5', 'torch': '>=2.9'}, "
        "'is known to be bad: gives NaN', 'https://example.invalid/1'),\n)" in text
    )


def test_the_locks_requirements_are_what_the_error_says_to_install() -> None:
    spec = ShimSpec("tilelang", "v/_t.py", AT)
    text = shim_standin.render(spec, requires={"tilelang": "==0.1.12"}).decode()
    assert "_REQUIRES = (('tilelang', '==0.1.12'), ('apache-tvm-ffi', '==0.1.11'))" in text


def test_version_ranges_are_read_as_pip_reads_them() -> None:
    from packaging.specifiers import SpecifierSet

    space: dict[str, object] = {"_re": __import__("re")}
    text = shim_standin.render(ShimSpec("tilelang", "v/_t.py", AT)).decode()
    wanted = {"_release", "_within"}
    body: list[ast.stmt] = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name in wanted
    ]
    exec(compile(ast.Module(body, []), "stand-in", "exec"), space)
    versions = ["0.1", "0.1.9", "0.1.11", "0.1.12", "0.1.12.post1", "0.1.15.post2", "0.2.0rc1", "0.2", "1.0"]
    ranges = [
        ">=0.1.10,<0.1.13",
        "==0.1.11",
        "!=0.1.12",
        "~=0.1.10",
        "~=0.1",
        ">0.1.12",
        "<=0.1.12",
        "<0.2",
        "==0.1.*",
        "",
    ]
    for spec in ranges:
        for version in versions:
            expected = SpecifierSet(spec).contains(version, prereleases=True)
            assert space["_within"](version, spec) == expected, (version, spec)  # type: ignore[operator]
