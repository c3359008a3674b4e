"""`imports:` makes an upstream's imports of itself relative imports of the local copies."""

import subprocess
import sys
from pathlib import Path

import pytest

from vendor_tool.errors import UsageError
from vendor_tool.model import At, Context, Imports, ShimSpec, Source
from vendor_tool.transform import imports

CASES = sorted((Path(__file__).parent.parent / "cases" / "imports").glob("*.txt"))

FILES = {
    "demo/ops/__init__.py": "vendored/demo/ops/__init__.py",
    "demo/ops/run.py": "vendored/demo/run.py",
    "demo/ops/fwd.py": "vendored/demo/fwd.py",
    "demo/ops/bwd.py": "vendored/demo/backward.py",
    "demo/ops/kernel/step.py": "vendored/demo/step.py",
    "demo/config.py": "vendored/demo/shared/config.py",
    "scripts/tool.py": "vendored/scripts/tool.py",
    "scripts/shared.py": "vendored/scripts/shared.py",
    "python/srt/a.py": "vendored/srt/a.py",
    "python/srt/b.py": "vendored/srt/b.py",
}
LISTING = {
    *FILES,
    "demo/__init__.py",
    "demo/ops/kernel/__init__.py",
    "demo/extra.py",
    "python/srt/__init__.py",
    "README.md",
}
CONTEXT = Context("demo", FILES, frozenset(LISTING), {})


def source(data: str | bytes, path: str = "demo/ops/run.py") -> Source:
    return Source(path, FILES.get(path, path), "0" * 40, data.encode() if isinstance(data, str) else data)


def rewritten(data: str | bytes, path: str = "demo/ops/run.py", **rename: str) -> bytes:
    renames = {old.replace("__", "."): new for old, new in rename.items()}
    return imports.apply(source(data, path), Imports(renames), CONTEXT).data


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case(case: Path) -> None:
    given, expected = case.read_text(encoding="utf-8").split("---- becomes ----\n")
    result = rewritten(given)
    assert result.decode() == expected
    compile(result, "run.py", "exec")


@pytest.mark.parametrize(
    "statement", ["from demo import config as c, ops, ops as ops", "from .bwd import a as a, b as c"]
)
def test_a_statement_without_layout_comes_out_as_one_with_layout(statement: str) -> None:
    start, names = statement.split(" import ")
    plain, wide = rewritten(statement), rewritten(f"{start}  import {names}")
    assert wide.replace(b"  ", b" ") == plain
    assert b" as ops" in plain or b"a as a" in plain


def test_there_are_cases() -> None:
    assert len(CASES) >= 14


# ---- nothing to do ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("import os\nimport numpy.demo as d\n", id="other packages"),
        pytest.param('"""from demo.ops import fwd"""\nx = "import demo.ops.fwd"\n', id="names in strings"),
        pytest.param("# import demo.ops.fwd\n", id="names in comments"),
        pytest.param("", id="an empty file"),
        pytest.param("from .fwd import step\n", id="a relative import that is right"),
        pytest.param("import types, json\n", id="the standard library"),
    ],
)
def test_bytes_stay_the_same_object(data: str) -> None:
    given = source(data)
    assert imports.apply(given, Imports(), CONTEXT).data is given.data


def test_a_right_import_counts_as_found() -> None:
    assert imports.apply(source("from .fwd import step\n"), Imports(), CONTEXT).matched
    assert not imports.apply(source("import os\n"), Imports(), CONTEXT).matched


def test_a_file_that_is_not_python_passes() -> None:
    given = source("import demo.ops.fwd\n", "README.md")
    assert imports.apply(given, Imports(), CONTEXT).data is given.data


def test_a_file_without_such_imports_is_never_parsed() -> None:
    assert (
        rewritten("this is ( not Python, and names demo.ops.fwd\n") == b"this is ( not Python, and names demo.ops.fwd\n"
    )


def test_libcst_stays_away_until_there_is_layout_to_keep() -> None:
    program = (
        "import sys\n"
        "from vendor_tool.model import *\n"
        "from vendor_tool.transform import imports\n"
        "context = Context('d', {'a/x.py': 'v/x.py', 'a/y.py': 'v/y.py'}, frozenset({'a/x.py', 'a/y.py'}), {})\n"
        "imports.apply(Source('a/x.py', 'v/x.py', '', b'from .y import z\\n'), Imports(), context)\n"
        "print('libcst' in sys.modules)\n"
        "imports.apply(Source('a/x.py', 'v/x.py', '', b'from a.y import z as z\\n'), Imports(), context)\n"
        "print('libcst' in sys.modules)\n"
        "imports.apply(Source('a/x.py', 'v/x.py', '', b'from a.y import (z)\\n'), Imports(), context)\n"
        "print('libcst' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


# ---- bytes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            b"import os, demo.ops.fwd as f\r\nx = '''a\r\n'''\r\n",
            b"import os\r\nfrom . import fwd as f\r\nx = '''a\r\n'''\r\n",
            id="CRLF",
        ),
        pytest.param(
            b"if 1:\r\n    from demo import (\r\n        config,\r\n        ops,\r\n    )\r\n",
            b"if 1:\r\n    from .shared import (\r\n        config,\r\n    )\r\n    from . import (\r\n        ops,\r\n    )\r\n",
            id="CRLF in brackets",
        ),
        pytest.param(
            b"# -*- coding: latin-1 -*-\n# caf\xe9\nx = '\xe9'; import demo.ops.fwd as f\n",
            b"# -*- coding: latin-1 -*-\n# caf\xe9\nx = '\xe9'; from . import fwd as f\n",
            id="latin-1",
        ),
        pytest.param(b"\xef\xbb\xbfimport demo.ops.fwd as f\n", b"\xef\xbb\xbffrom . import fwd as f\n", id="BOM"),
        pytest.param(b"\x0cimport demo.ops.fwd as f\n\x0c\n", b"\x0cfrom . import fwd as f\n\x0c\n", id="form feed"),
        pytest.param(
            b"x = 1\rimport demo.ops.fwd as f\ry = 2\r", b"x = 1\rfrom . import fwd as f\ry = 2\r", id="lone CR"
        ),
        pytest.param(b"import demo.ops.fwd as f", b"from . import fwd as f", id="no newline at the end"),
        pytest.param(b"if 1:\n\timport demo.ops.fwd as f \n", b"if 1:\n\tfrom . import fwd as f \n", id="tabs"),
        pytest.param(
            b"from \\\r\n  demo.ops.fwd \\\r\n  import step\r\n",
            b"from \\\r\n  .fwd \\\r\n  import step\r\n",
            id="continued lines",
        ),
        pytest.param(b"import \\\n  demo.ops.fwd as f\n", b"from . import fwd as f\n", id="continued import"),
        pytest.param(
            'é = "ü"; import demo.ops.fwd; demo.ops.fwd.é(é)\n'.encode(),
            'é = "ü"; from . import fwd; fwd.é(é)\n'.encode(),
            id="letters that are wide in UTF-8",
        ),
    ],
)
def test_every_other_byte_is_kept(given: bytes, expected: bytes) -> None:
    assert rewritten(given) == expected


# ---- where modules are ------------------------------------------------------------------------------------


def test_a_script_imports_the_files_beside_it() -> None:
    assert rewritten("import shared\nfrom shared import x\n", "scripts/tool.py") == (
        b"from . import shared\nfrom .shared import x\n"
    )


def test_a_script_that_is_called_like_a_package_keeps_importing_the_package() -> None:
    assert rewritten("import tool\nimport shared\n", "scripts/tool.py") == b"import tool\nfrom . import shared\n"


def test_packages_are_found_below_a_source_folder() -> None:
    assert rewritten("from srt.b import x\n", "python/srt/a.py") == b"from .b import x\n"
    assert rewritten("from srt.b import x\n", "scripts/tool.py") == b"from ..srt.b import x\n"


def test_an_import_climbs_as_far_as_the_local_tree_needs() -> None:
    assert rewritten("import demo.ops.fwd as f\n", "demo/config.py") == b"from .. import fwd as f\n"


def test_a_shimmed_module_is_left_to_the_shim_even_in_its_own_repository() -> None:
    context = Context("demo", FILES, frozenset(LISTING), {"demo": ShimSpec("demo", "vendored/_demo.py", At(1, 1))})
    given = source("import demo.ops.fwd\n")
    assert imports.apply(given, Imports(), context).data is given.data


def test_names_that_changed_are_told_as_they_stood() -> None:
    change = imports.apply(
        source("import os, demo.ops.fwd as f\nfrom .bwd import s\nfrom . import fwd\n"), Imports(), CONTEXT
    )
    assert change.names == ("demo.ops.fwd", ".bwd")


# ---- rename -----------------------------------------------------------------------------------------------


def test_rename_covers_a_module_and_the_modules_below_it() -> None:
    given = "import helpers.deep as h\nfrom helpers import deep, x\nfrom helpers.deep import y\nimport helpers_too\n"
    assert rewritten(given, helpers="mine.tools") == (
        b"from mine.tools import deep as h\nfrom mine.tools import deep, x\nfrom mine.tools.deep import y\nimport helpers_too\n"
    )


def test_rename_reaches_relative_imports_by_their_full_name() -> None:
    given = "from ..extra import x\nfrom .. import extra\nimport demo.extra\nprint(demo.extra.x)\n"
    assert rewritten(given, demo__extra="mine.extras") == (
        b"from mine.extras import x\nfrom mine import extras as extra\nfrom mine import extras as demo_extra\n"
        b"print(demo_extra.x)\n"
    )


def test_rename_to_a_name_with_a_dot_before_it_is_a_relative_import_of_the_projects_own_module() -> None:
    given = "import runtime\nfrom runtime import language as T\nfrom runtime.math import log\n"
    place = "/".join(FILES["demo/ops/run.py"].split("/")[:-1]).replace("/", ".")
    assert rewritten(given, runtime=f".{place}._made.runtime", runtime__language=f".{place}._made.T") == (
        b"from ._made import runtime\nfrom ._made import T\nfrom ._made.runtime.math import log\n"
    )
    assert rewritten("import runtime as r\n", runtime=".own") == (
        f"from {'.' * (place.count('.') + 2)} import own as r\n".encode()
    )


def test_rename_to_itself_leaves_the_import_for_a_patch() -> None:
    given = "from ..extra import x\nimport demo.extra\nprint(demo)\n"
    assert rewritten(given, demo__extra="demo.extra") == given.encode()


# ---- refusals ---------------------------------------------------------------------------------------------


def test_an_import_that_is_not_vendored_names_every_file_to_add() -> None:
    with pytest.raises(UsageError) as caught:
        rewritten("from demo import extra\ndef f():\n    from .kernel import nothing\n    import demo.gone\n")
    assert caught.value.message == (
        "`demo/ops/run.py:1`: `from demo import extra` needs `demo/extra.py`, which is not vendored\n"
        "`demo/ops/run.py:3`: `from .kernel import nothing` needs `demo/ops/kernel/__init__.py`, which is not vendored\n"
        "`demo/ops/run.py:4`: `import demo.gone` needs `demo.gone`, which the upstream does not hold at this revision"
    )
    assert caught.value.hint == (
        "run `vendor-tool add demo --file demo/extra.py --file demo/ops/kernel/__init__.py`, or add to its `files:` in "
        "the lockfile; to leave an import as it stands (for a patch to change, or because the module is installed) "
        "write `imports: {rename: {demo.extra: demo.extra}}`"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("import demo.ops.fwd\nprint(demo)\n", "`demo/ops/run.py:2`: `demo` is used on its own"),
        (
            "import demo.ops.fwd\ndemo.other()\n",
            "`demo/ops/run.py:2`: `demo.other` is reached through an import of another",
        ),
        ("import demo.ops.fwd\ndemo = 1\n", "`demo/ops/run.py:2`: `demo` gets another meaning"),
        ("class A:\n    import demo.ops.fwd\n", "`demo/ops/run.py:1`: `demo` gets a meaning of its own in this class"),
    ],
)
def test_a_use_that_cannot_be_told_apart_is_refused(data: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        rewritten(data)
    assert message in caught.value.message
    assert "`import demo.ops.fwd`" in caught.value.message


def test_a_local_name_that_python_cannot_import_is_refused() -> None:
    context = Context("demo", {**FILES, "demo/ops/fwd.py": "vendored/demo/my-fwd.py"}, frozenset(LISTING), {})
    with pytest.raises(UsageError, match="`my-fwd` is not a Python name"):
        imports.apply(source("from .fwd import x\n"), Imports(), context)


def test_python_that_cannot_be_read_is_refused_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"`demo/ops/run\.py:2`: not Python that can be parsed"):
        rewritten("import demo.ops.fwd\nprint 1\n")


# ---- needs ------------------------------------------------------------------------------------------------


def test_needs_lists_what_the_imports_ask_of_the_upstream() -> None:
    data = "import os\nfrom .fwd import a, b\nfrom demo import extra, config\nfrom .nowhere import c\n"
    assert imports.needs(source(data), CONTEXT) == (
        imports.Need("demo/ops/fwd.py", 2, "from .fwd import a, b", vendored=True),
        imports.Need("demo/extra.py", 3, "from demo import extra, config", vendored=False),
        imports.Need("demo/config.py", 3, "from demo import extra, config", vendored=True),
    )


def test_needs_leaves_out_what_is_renamed() -> None:
    assert imports.needs(source("from demo import extra\n"), CONTEXT, Imports({"demo.extra": "mine"})) == ()


# ---- and it runs ------------------------------------------------------------------------------------------


def test_the_local_package_runs_without_the_upstream(tmp_path: Path) -> None:
    upstream = {
        "demo/ops/fwd.py": "def step(x):\n    return x + 1\n",
        "demo/ops/bwd.py": "from demo.config import SCALE\ndef step(x):\n    return x * SCALE\n",
        "demo/config.py": "SCALE = 2\n",
        "demo/ops/run.py": (
            "import demo.ops.fwd\nimport demo.ops.bwd as back\nfrom . import fwd as same\n\n"
            "def run(x):\n    assert same is demo.ops.fwd\n    return back.step(demo.ops.fwd.step(x))\n"
        ),
    }
    for path, data in upstream.items():
        place = tmp_path / FILES[path]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(rewritten(data, path))
    program = "import vendored.demo.run as r; print(r.run(3))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("8\n", "")
