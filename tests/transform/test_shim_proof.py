from pathlib import Path

from vendor_tool.findings import Finding
from vendor_tool.model import At, Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim

AT = At(1, 1)
SPEC = ShimSpec("tilelang", "vendored/_tilelang.py", AT, names={"T": "tilelang.language"})


def vendored(spec: ShimSpec = SPEC, **texts: str) -> dict[str, bytes]:
    folder = spec.to.rpartition("/")[0]
    files = {spec.to: shim.render(spec)}
    for name, text in texts.items():
        path = f"{folder}/{name}.py"
        source = Source(f"{name}.py", path, "", text.encode())
        files[path] = shim.apply(source, Shim(("tilelang",)), Context("up", {}, frozenset(), {"tilelang": spec})).data
    return files


def prove(
    files: dict[str, bytes], spec: ShimSpec = SPEC, root: Path | None = None
) -> list[tuple[str, str, int | None, str]]:
    found = shim.prove(files, {"tilelang": spec}, root=root)
    return [(one.rule, one.path or "", one.line, one.message) for one in found]


def test_files_that_import_are_proven() -> None:
    files = vendored(
        a="import tilelang\n@tilelang.jit\ndef k(n): ...\n",
        b="import tilelang.language as T\nfrom .a import k\nX = [k, T.x]\n",
    )
    assert prove(files) == []


def test_a_branch_is_found_in_the_source_once() -> None:
    files = vendored(
        a="import tilelang\n\nif tilelang.__version__ > '1':\n    x = 1\n", b="import tilelang\nfrom .a import x\n"
    )
    assert prove(files) == [
        (
            "shim-import-time",
            "vendored/a.py",
            3,
            "the truth of `tilelang.__version__ > '1'` is needed while the file is imported, and cannot be put off "
            "until the first call",
        )
    ]


def test_what_only_running_shows_is_found_by_running() -> None:
    files = vendored(
        a="import tilelang.language as T\n\nclass Pick:\n    def __init__(self, d):\n        self.size = 1 if d else 2\n\n"
        "X = Pick(T.float32)\n"
    )
    assert prove(files) == [
        (
            "shim-import-time",
            "vendored/a.py",
            5,
            "the truth of `tilelang.language.float32` is needed while the file is imported, and cannot be put off "
            "until the first call",
        )
    ]


def test_another_missing_package_is_not_a_failure_of_the_file() -> None:
    files = vendored(a="import tilelang\nimport package_that_is_not_there.sub\n")
    (finding,) = shim.prove(files, {"tilelang": SPEC})
    assert finding == Finding(
        "shim-not-proven", "note", "not provable here: needs `package_that_is_not_there`", path="vendored/a.py"
    )


def test_a_failure_of_the_files_own_is_a_warning() -> None:
    files = vendored(a="import tilelang\n1 / 0\n")
    assert prove(files) == [
        (
            "shim-not-proven",
            "vendored/a.py",
            2,
            "importing it failed for a reason of its own: ZeroDivisionError: division by zero",
        )
    ]


def test_a_module_that_is_still_imported_by_its_name_is_an_error() -> None:
    files = vendored(a="import tilelang\n") | {"vendored/b.py": b"from . import _tilelang\nimport tilelang.math\n"}
    assert prove(files) == [
        (
            "shim-import-time",
            "vendored/b.py",
            2,
            "it cannot be imported without `tilelang`: ModuleNotFoundError: No module named 'tilelang'",
        )
    ]


def test_a_file_that_ends_the_process_does_not_hide_the_others() -> None:
    files = vendored(a="import tilelang, os\nos._exit(7)\n", b="import tilelang\nassert tilelang.x\n")
    assert [(rule, path, line) for rule, path, line, _ in prove(files)] == [
        ("shim-import-time", "vendored/b.py", 2),
        ("shim-import-time", "vendored/a.py", None),
    ]


def test_output_of_a_file_is_not_taken_for_an_answer() -> None:
    assert prove(vendored(a="import tilelang, sys\nprint('{}', flush=True)\nsys.stderr.write('x')\n")) == []


def test_absolute_stand_ins_and_modules_of_the_project(tmp_path: Path) -> None:
    spec = ShimSpec("tilelang", "src/pkg/kernels/_tilelang.py", AT, "pkg.kernels._tilelang")
    (tmp_path / "src/pkg/kernels").mkdir(parents=True)
    (tmp_path / "src/pkg/__init__.py").write_text("raise RuntimeError('packages of the project are not run')\n")
    (tmp_path / "src/pkg/shared.py").write_text("LIMIT = 4\n")
    files = vendored(spec, a="import tilelang\nfrom pkg.shared import LIMIT\nx = tilelang.cdiv(LIMIT, 2)\n")
    assert prove(files, spec, tmp_path) == []


def test_files_without_a_stand_in_are_not_run() -> None:
    assert prove({"vendored/a.py": b"raise SystemExit(1)\n", **vendored()}) == []


def test_a_signature_that_decides_something_is_found() -> None:
    text = "import inspect\nimport tilelang.language as T\nNEW = 'mask' in inspect.signature(T.shuffle).parameters\n"
    assert [(path, line) for _, path, line, _ in prove(vendored(a=text))] == [("vendored/a.py", 3)]


def test_a_decorator_that_looks_into_a_deferred_class_is_found() -> None:
    text = "import inspect\nimport tilelang\n\n@inspect.getmro\nclass P(tilelang.Profiler):\n    n: int = 1\n"
    ((_, path, line, message),) = prove(vendored(a=text))
    assert (path, line) in (("vendored/a.py", 4), ("vendored/a.py", 5))  # Python 3.10 has the line of the class
    assert message.startswith("the class of `P`")


def test_a_data_class_with_a_deferred_base_is_no_use() -> None:
    text = (
        "import dataclasses\nimport tilelang\n\n@dataclasses.dataclass\nclass P(tilelang.Profiler):\n    n: int = 1\n"
    )
    assert prove(vendored(a=text)) == []


def test_a_file_that_only_takes_values_from_another_is_read_and_imported() -> None:
    files = vendored(
        a="import tilelang\nimport tilelang.language as T\nDT = T.float32\nKINDS = (DT,)\n@tilelang.jit\ndef kern(n): ...\n",
        b="from .a import DT\nA = 1 if DT == 'float32' else 2\n",
        c="from . import a\nBUILT = a.kern(3)\n",
        d="from vendored.a import KINDS\nTABLE = {one: 1 for one in KINDS}\ndef get(one): return TABLE.get(one)\n",
        e="from .a import kern as step\ndef run(): return step(3)\n",
    )
    assert [(path, line, what.partition(" is needed")[0]) for _, path, line, what in prove(files)] == [
        ("vendored/b.py", 2, "the truth of `DT == 'float32'`"),
        ("vendored/c.py", 2, "building or running of `a.kern(3)`"),
        ("vendored/d.py", 2, "the keys of `{one: 1 for one in KINDS}`"),
    ]


def test_a_table_with_unknown_keys_is_not_looked_up_from_another_file() -> None:
    files = vendored(
        a="import tilelang.language as T\nBITS = {T.float16: 16}\n",
        b="from .a import BITS\ndef get(d): return BITS.get(d, 0)\n",
        c="from .a import BITS\nOTHERS = [BITS]\n",
    )
    assert [(path, line, what.partition(" is needed")[0]) for _, path, line, what in prove(files)] == [
        ("vendored/b.py", 1, "the keys of `BITS`, which another vendored file binds,")
    ]


def test_a_name_that_only_a_star_of_the_module_could_bring_to_another_file_is_refused() -> None:
    files = vendored(
        a="from tilelang.autotuner import *\n",
        b="from .a import autotune\n",
        c="BLOCK = 64\n",
        d="from .c import *\nfrom tilelang import *\n@jit\ndef k(): return BLOCK\n",
    )
    assert [(path, line, what.partition(" is needed")[0]) for rule, path, line, what in prove(files) if line] == [
        ("vendored/b.py", 1, "`autotune`, which only the star import of `tilelang` in `vendored/a.py` brings,"),
        ("vendored/d.py", 1, "which of two star imports brings `BLOCK`"),
    ]


def test_a_name_that_came_to_another_file_with_a_star_that_is_written_out_is_refused() -> None:
    files = vendored(
        a="from tilelang.language import *\n@prim_func\ndef k(): ...\n",
        b="from .a import k, gemm\n",
        c="from .a import *\ndef f(): return gemm(max(1, 2))\n",
        d="from . import a\ndef f():\n    a.note = 1\n    return a.copy, a.k, a.note\n",
        e="try:\n    from .a import fast\nexcept ImportError:\n    fast = None\n",
    )
    brings = "which only a star import of a shimmed module in `vendored/a.py` brings,"
    assert [(path, line, what.partition(" is needed")[0]) for _, path, line, what in prove(files)] == [
        ("vendored/b.py", 1, f"`gemm`, {brings}"),
        ("vendored/c.py", 1, f"`gemm`, {brings}"),
        ("vendored/d.py", 1, f"`copy`, {brings}"),
    ]


def test_a_failure_that_the_absence_or_a_mark_of_the_tool_causes_is_never_called_the_files_own() -> None:
    files = vendored(
        a="try:\n    import tilelang\nexcept ImportError:\n    KIND = 'none'\nelse:\n    KIND = 'x'\nassert KIND == 'x'\n",
        b="import importlib\nT = importlib.import_module('tilelang')\n",
        c="import types\nimport tilelang.language as T\nNS = types.SimpleNamespace(float32=1)\n"
        "CFG = {'d': f'{T.float32}'}\nX = getattr(NS, CFG['d'])\n",
        d="try:\n    import tilelang\nexcept ImportError as error:\n    if error:\n        raise ValueError('no') from error\n",
    )
    assert [(one.level, one.path, one.line) for one in shim.prove(files, {"tilelang": SPEC})] == [
        ("warning", "vendored/a.py", 7),
        ("error", "vendored/b.py", 2),
        ("error", "vendored/c.py", 5),
        ("error", "vendored/d.py", 5),
    ]


def test_an_import_that_must_succeed_is_put_off_and_one_that_is_suppressed_is_not() -> None:
    files = vendored(
        a="try:\n    import tilelang\nexcept ImportError as error:\n    raise ImportError('please install it') from error\n"
        "@tilelang.jit\ndef k(): ...\n",
        b="import contextlib\nHAVE = False\nwith contextlib.suppress(ImportError):\n    import tilelang\n    HAVE = True\n"
        "assert not HAVE\n",
        c="def k():\n    try:\n        import tilelang\n    except ImportError:\n        raise RuntimeError('no') from None\n",
    )
    assert b"from ._tilelang import tilelang\n" in files["vendored/a.py"]
    assert b"from ._tilelang._if_installed import tilelang\n" in files["vendored/b.py"]
    assert b"from ._tilelang._if_installed import tilelang\n" in files["vendored/c.py"]
    assert prove(files) == [
        (  # b means to fail where the module is
            "shim-not-proven",
            "vendored/b.py",
            None,
            "whether it becomes what the unmodified file is cannot be tried with made-up packages: AssertionError: ",
        )
    ]


def test_an_attempt_whose_failure_is_suppressed_is_refused() -> None:
    files = vendored(
        a="from contextlib import suppress\nimport tilelang.language as T\nX = 'none'\n"
        "with suppress(AttributeError):\n    X = T.gone\n"
    )
    assert [(path, line, what.partition(" is needed")[0]) for _, path, line, what in prove(files)] == [
        ("vendored/a.py", 5, "the success of `T.gone`")
    ]
