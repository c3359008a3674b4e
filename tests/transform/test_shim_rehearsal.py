"""What only shows when a file is imported twice: with the runtime there already, and with one that is caught up with.

torch, numpy and the runtime are not installed where these run: the rehearsal makes them up.
"""

import os
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.transform.test_shim_proof import AT, SPEC, vendored
from vendor_tool.findings import Finding
from vendor_tool.model import Context, Shim, ShimSpec, Source
from vendor_tool.transform import shim, shim_rehearsal

HEAD = "import tilelang\nimport tilelang.language as T\nimport torch\n"
KNOWN_LATE = "what that is made of is needed while the file is imported, and known at the first call only"


def rehearsed(root: Path | None = None, spec: ShimSpec = SPEC, **texts: str) -> list[tuple[str, int | None, str]]:
    """Findings but for the note that torch is not there, of files that import the modules in three lines of their own."""
    files = vendored(spec, **{name: HEAD + textwrap.dedent(text).lstrip("\n") for name, text in texts.items()})
    found: list[Finding] = [
        one for one in shim.prove(files, {"tilelang": spec}, root=root) if "needs `torch`" not in one.message
    ]
    assert {one.rule for one in found} <= {"shim-import-time"}
    return [((one.path or "").rpartition("/")[2], one.line, one.message) for one in found]


SAME = {
    "kernels, tables, texts and classes": """
        @tilelang.jit(out_idx=[-1], pass_configs={tilelang.PassConfigKey.TL_X: True})
        def kernel(n, dtype=T.float32, name=None):
            @T.prim_func
            def main(a: T.Tensor((n,), dtype)):
                pass
            return main

        BITS = {"half": T.float16, "single": T.float32}
        TITLE = f"kernel_{T.float32}"
        SIZES = [T.float16, (T.float32, 4), {"d": T.bfloat16}]

        class Function(torch.autograd.Function):
            scale = T.max_value(T.float16)

            @staticmethod
            def forward(ctx, x: torch.Tensor, d=T.float16):
                return kernel(4)(x)

        apply = Function.apply
        """,
    "a class with a base of the runtime's": """
        class Pass(T.PyMutator, torch.nn.Module):
            dtype = T.float32

            def visit(self, node: T.Node) -> T.Node:
                return node

        register = torch.register(Pass)
        """,
    "what the standard library keeps of a function": """
        import dataclasses
        import enum
        import functools
        import logging
        import typing

        logger = logging.getLogger(__name__)

        @functools.lru_cache(maxsize=None)
        @tilelang.jit
        def kernel(n: int, d: typing.Optional[T.dtype] = None): ...

        run = functools.partial(kernel, 4, d=T.float32)

        @dataclasses.dataclass
        class Config:
            block: int = 64
            dtype: T.dtype = T.float16

        class Mode(enum.Enum):
            FAST = "fast"

        DEFAULT = Config()
        """,
    "calls that are replayed, and changes of the runtime": """
        tilelang.set_log_level("INFO")
        T.extra = 4
        tilelang.registry["x"] = T.float32
        tilelang.register(DEFAULT := [T.float16])
        with torch.no_grad():
            ZERO = torch.zeros(4)
        torch.backends.flag = True
        """,
    "the clock, the process and chance": """
        import os
        import random
        import time

        NOW, PID, DICE, PLACE = time.time(), os.getpid(), random.random(), object()
        KEPT = [T.float32, NOW]
        """,
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_files_that_become_what_the_unmodified_ones_would_be(text: str) -> None:
    assert rehearsed(a=text) == []


# what a file does, the line and the name or the place that is told, and what it would be instead of what
OTHER = {
    "a table as JSON": (
        """
        import json
        CFG = dict(d=f"{T.float32}")
        TEXT = json.dumps(CFG)
        """,
        (6, "TEXT", r"'\{\"d\": \"\\\\u27e8tilelang:0\\\\u27e9\"\}'", r"'\{\"d\": \"float32\"\}'"),
    ),
    "texts of a list in capitals": (
        """
        NAMES = [f"k_{T.float32}"]
        LOUD = [name.upper() for name in NAMES]
        """,
        (5, "LOUD", r"list\('K_⟨TILELANG:0⟩', , \)", r"list\('K_FLOAT32', , \)"),
    ),
    "texts of a list asked for a prefix": (
        """
        NAMES = [f"{T.float32}"]
        FLOATS = [name.startswith("float") for name in NAMES]
        """,
        (5, "FLOATS", r"list\(False, , \)", r"list\(True, , \)"),
    ),
    "texts of a list through an expression": (
        """
        import re
        NAMES = [f"{T.float32}"]
        SHORT = [re.sub("float", "f", name) for name in NAMES]
        """,
        (6, "SHORT", r"list\('float32', , \)", r"list\('f32', , \)"),
    ),
    "an attribute that is looked up": (
        """
        class Config:
            def __init__(self, d):
                self.d = d

        SIZE = {"float32": 4}.get(Config(f"{T.float32}").d, 0)
        """,
        (8, "SIZE", "0", "4"),
    ),
    "how many there are": ("COUNT = len({T.float, T.float32})\n", (4, "COUNT", "2", "1")),
    "a test in a constructor": (
        """
        class Config:
            def __init__(self, d):
                self.wide = "32" in str(d)

        CONFIG = Config(T.float32)
        """,
        (8, "CONFIG", r"Config\(wide=False, \)", r"Config\(wide=True, \)"),
    ),
    "a table of pairs": (
        """
        PAIRS = [(T.float16, 2)]
        SIZE = dict(PAIRS).get("float16", 0)
        """,
        (5, "SIZE", "0", "2"),
    ),
    "a text of a class of its own": (
        """
        class Tag(str): ...

        class Spec:
            def __init__(self, d):
                self.tag = Tag(d)

        SPEC = Spec(str(T.float32))
        """,
        (10, "SPEC", r"Spec\(tag=Tag\('⟨tilelang:0⟩', \), \)", r"Spec\(tag=Tag\('float32', \), \)"),
    ),
    "the text of an exception": (
        """
        class Spec:
            def __init__(self, d):
                self.error = ValueError(f"{d} is not supported")

        SPEC = Spec(T.float32)
        """,
        (8, "SPEC", r".*tuple\('⟨tilelang:0⟩ is .*", r".*tuple\('float32 is .*"),
    ),
    "what a generator goes on with": (
        """
        def names(d):
            name = f"k_{d}"
            while True:
                yield name

        NAMES = names(T.float32)
        next(NAMES)
        """,
        (9, "NAMES", r".*name='k_⟨tilelang:0⟩.*", r".*name='k_float32.*"),
    ),
    "a name that is made": (
        """
        for size in (1,):
            globals()[f"copy_{T.float32}"] = size
        """,
        (None, "copy_float32", "not there", "1"),
    ),
    "keys whose hash changes": (
        """
        import dataclasses

        @dataclasses.dataclass(frozen=True)
        class Key:
            dtype: object
            block: int

        TABLE = {Key(T.float16, 64): "fast"}
        """,
        (11, "TABLE", r".*lost=True, \)", r".*'fast', , \)"),
    ),
    "keys that are identities": (
        """
        def number(x): return id(x)

        SIZES = {number(d): n for d, n in ((T.float16, 16),)}
        """,
        (6, "SIZES", r"dict\(\d+, 16, , \)", r"dict\(\d+, 16, , \)"),
    ),
    "a text beside the clock": (
        """
        import time

        class Spec:
            def __init__(self, d):
                self.loud = d.upper()

        RUN = {"started": time.time(), "spec": Spec(str(T.float32))}
        """,
        (10, "RUN", ".*", ".*"),
    ),
    "what is done in the end": (
        """
        import atexit

        class Spec:
            def __init__(self, d):
                atexit.register(print, d.upper())

        SPEC = Spec(str(T.float32))
        """,
        (8, "atexit", ".*⟨TILELANG:0⟩.*", ".*FLOAT32.*"),
    ),
    "text that another package gets in a list": (
        """
        NAMES = [f"{T.float32}"]
        torch.register(NAMES[0])
        """,
        (5, "torch", r"torch.register\(\) '⟨tilelang:0⟩'", r"torch.register\(\) 'float32'"),
    ),
}


@pytest.mark.parametrize(("text", "told"), OTHER.values(), ids=OTHER)
def test_files_that_become_something_else(text: str, told: tuple[int, str, str, str]) -> None:
    line, name, late, first = told
    told_of = [one for one in rehearsed(a=text) if f"`{name}` would be" in one[2]]
    ((path, where, message),) = told_of
    verb = "given " if name in ("torch", "atexit") else ""
    wanted = rf"`{name}` would be {verb}`{late}` instead of `{first}`: {KNOWN_LATE}"
    assert (path, where) == ("a.py", line)
    assert re.fullmatch(wanted, message), message


KERNELS = {
    "a helper": ("def halve(c):\n    c['block'] //= 2", "CFG = {'block': 32}", "CFG['block']", "halve(CFG)"),
    "a method": (
        "class Config:\n    def __init__(self, block):\n        self.block = block\n"
        "    def halve(self):\n        self.block //= 2",
        "CFG = Config(32)",
        "CFG.block",
        "CFG.halve()",
    ),
    "another name": ("", "CFG = OTHER = {'block': 32}", "CFG['block']", "OTHER['block'] = 16"),
    "the module's names": ("", "CFG = 32", "CFG", "globals().update(CFG=16)"),
}


@pytest.mark.parametrize(("before", "bound", "read", "after"), KERNELS.values(), ids=KERNELS)
def test_a_kernel_that_would_read_what_is_changed_later(before: str, bound: str, read: str, after: str) -> None:
    kernel = f"@T.prim_func\ndef body(a: T.Buffer):\n    for i in T.serial({read}):\n        a[i] = 0"
    found = rehearsed(a="\n".join([before, bound, kernel, after, ""]))
    ((path, _, message),) = [one for one in found if "as `body` finds it" in one[2]]
    assert path == "a.py"
    assert re.fullmatch(rf"`CFG` as `body` finds it would be `.*16.*` instead of `.*32.*`: {KNOWN_LATE}", message)


def test_a_kernel_that_names_what_is_bound_after_it_is_the_same() -> None:
    text = """
        @T.macro
        def both(a):
            one(a)

        @T.macro
        def one(a):
            a[0] = 0
        """
    assert rehearsed(a=text) == []


def test_a_file_that_replaces_what_the_rehearsal_uses() -> None:
    text = """
        import builtins
        import json
        import os
        json.dumps = lambda *a, **k: "x"
        os.replace = os._exit = builtins.open = None
        """
    assert rehearsed(a=text) == []


READERS = {
    "a table that a method fills": (
        """
        SIZES = {}
        SIZES.setdefault(T.float16, 2)

        def size(d):
            return SIZES.get(d, 0)
        """,
        (7, "`size` may be called before anything else is, and `SIZES` cannot be looked up rightly until then"),
    ),
    "a table in an object": (
        """
        class Table:
            def __init__(self, pairs):
                self.sizes = dict(pairs)

            def size(self, d):
                return self.sizes[d]

        TABLE = Table([(T.float16, 2)])
        """,
        (8, "`Table.size` may be called before anything else is, and `sizes` cannot be looked up rightly until then"),
    ),
    "the name of a function": (
        """
        def run(x): ...
        run.__name__ += f"_{T.float32}"
        """,
        (
            4,
            "`run` may be called before anything else is, and `__name__` is text with a deferred value in it until then",
        ),
    ),
    "an attribute of an object": (
        """
        class Spec:
            def __init__(self, d):
                self.name = f"{d}_64"

        SPEC = Spec(T.float32)

        def key(n):
            return SPEC.name + str(n)
        """,
        (10, "`key` may be called before anything else is, and `SPEC` is text with a deferred value in it until then"),
    ),
    "keys of several parts": (
        """
        KERNELS = {}

        def keep(*key):
            KERNELS[key] = 1

        keep(T.float16, 64)
        """,
        (6, "`keep` may be called before anything else is, and `KERNELS` cannot be looked up rightly until then"),
    ),
    "a variable around a function": (
        """
        def made(names):
            def title(): return names[0]
            return title

        title = made([f"k_{T.float32}"])
        """,
        (
            5,
            "`made.<locals>.title` may be called before anything else is, and `names` is text with a deferred value in it "
            "until then",
        ),
    ),
}


@pytest.mark.parametrize(("text", "told"), READERS.values(), ids=READERS)
def test_functions_that_may_be_called_too_early(text: str, told: tuple[int, str]) -> None:
    assert rehearsed(a=text) == [("a.py", *told)]


def test_a_table_that_only_a_kernel_reads_is_in_time() -> None:
    text = """
        SIZES = {}
        SIZES.setdefault(T.float16, 2)

        @tilelang.jit
        def kernel(d):
            return SIZES[d]
        """
    assert rehearsed(a=text) == []


def test_a_function_of_another_vendored_file() -> None:
    files = vendored(
        helpers="def title(d): return str(d).title()\n",
        a="import tilelang.language as T\nfrom .helpers import title\n\nTITLE = title(T.float32)\n",
    )
    ((message),) = [(one.path, one.line, one.message) for one in shim.prove(files, {"tilelang": SPEC})]
    wanted = f"`TITLE` would be `'⟨Tilelang:0⟩'` instead of `'Float32'`: {KNOWN_LATE}"
    assert message == ("vendored/a.py", 4, wanted)


def test_a_registry_of_the_projects_own(tmp_path: Path) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj/registry.py").write_text("SIZES = {}\n\ndef register(d, size):\n    SIZES[d] = size\n")
    (tmp_path / "proj/look.py").write_text("from proj.registry import SIZES\n\ndef size(d): return SIZES.get(d)\n")
    spec = ShimSpec("tilelang", "proj/vendored/_tilelang.py", AT, names={"T": "tilelang.language"})
    text = """
        from proj import look, registry
        registry.register(T.float16, 2)
        """
    assert rehearsed(tmp_path, spec, a=text) == [
        (
            "look.py",
            3,
            "`size` may be called before anything else is, and `SIZES` cannot be looked up rightly until then",
        ),
        (
            "registry.py",
            3,
            "`register` may be called before anything else is, and `SIZES` cannot be looked up rightly until then",
        ),
    ]


def test_two_stand_ins_in_one_file() -> None:
    specs = {
        "tilelang": ShimSpec(
            "tilelang", "proj/vendored/_tilelang.py", AT, "proj.vendored._tilelang", {"T": "tilelang.language"}
        ),
        "triton": ShimSpec(
            "triton", "proj/vendored/_triton.py", AT, "proj.vendored._triton", {"tl": "triton.language"}
        ),
    }
    text = """
        import tilelang
        import tilelang.language as T
        import triton
        import triton.language as tl

        @triton.autotune(configs=[triton.Config({"BLOCK": size}) for size in (1, 2)], key=["n"])
        @triton.jit
        def copy(x, BLOCK: tl.constexpr): ...

        @tilelang.jit
        def kernel(n, d=T.float32): ...

        BOTH = {"t": T.float32, "l": tl.float32, "k": (copy, kernel)}
        TITLE = f"{T.float32}_{tl.float32}"
        TITLES = [f"{tl.float16}_{T.float16}", {"d": TITLE}]
        """
    source = Source("a.py", "proj/vendored/k/a.py", "", textwrap.dedent(text).encode())
    context = Context("up", {}, frozenset(), specs)
    files = {spec.to: shim.render(spec) for spec in specs.values()}
    files[source.path] = shim.apply(source, Shim(("tilelang", "triton")), context).data
    assert shim.prove(files, specs) == ()


def test_what_is_printed() -> None:
    text = """
        CFG = [T.float32]
        print(CFG)
        """
    wanted = (
        rf"it would print `[<deferred tilelang.language.float32>]{os.linesep}` instead of `[<float32>]{os.linesep}`: "
        f"{KNOWN_LATE}"
    )
    assert rehearsed(a=text) == [("a.py", None, wanted)]


def test_what_is_needed_at_import_is_found_without_torch() -> None:
    text = """
        class Pick:
            def __init__(self, d):
                self.size = 1 if d else 2

        PICK = Pick(T.float32)
        """
    wanted = (
        "the truth of `tilelang.language.float32` is needed while the file is imported, and cannot be put off until "
    )
    assert rehearsed(a=text) == [("a.py", 6, f"{wanted}the first call")]


def test_a_file_that_ends_its_process_does_not_hide_the_others() -> None:
    files = vendored(
        a="import tilelang\nimport os\nif 'VENDOR' not in os.environ:\n    os._exit(3)\n",
        b="import tilelang.language as T\nCOUNT = len({T.float, T.float32})\n",
    )
    found = [(one.rule, one.path, one.line, one.message) for one in shim.prove(files, {"tilelang": SPEC})]
    assert ("shim-import-time", "vendored/b.py", 2, f"`COUNT` would be `2` instead of `1`: {KNOWN_LATE}") in found
    assert [path for rule, path, _, _ in found if path == "vendored/a.py"] == ["vendored/a.py"]


def test_nothing_that_a_file_starts_is_left(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    text = f"""
        import subprocess
        import sys
        import threading

        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        with open({str(pids)!r}, "a") as file:
            print(subprocess.Popen(sleep).pid, file=file)
        threading.Thread(target=threading.Event().wait).start()
        """
    assert rehearsed(a=text) == []
    numbers = [int(line) for line in pids.read_text().split()]
    assert len(numbers) >= 5
    assert [number for number in numbers if alive(number)] == []


def test_nothing_is_left_when_the_program_is_asked_to_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pids")
    text = f"""
        import os

        with open({str(tmp_path / "pids")!r}, "w") as pipe:
            print(os.getpid(), file=pipe)
        while True:
            pass
        """
    script = "import pickle, sys; from vendor_tool.transform import shim; shim.prove(*pickle.load(sys.stdin.buffer))"
    root = Path(__file__).parent.parent.parent
    proving = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root)
    assert proving.stdin is not None
    pickle.dump((vendored(a=HEAD + textwrap.dedent(text)), {"tilelang": SPEC}), proving.stdin)
    proving.stdin.close()
    numbers = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert all(map(alive, numbers))
    proving.terminate()
    assert proving.stderr is not None
    with proving.stderr as said:
        assert said.read().decode().strip().endswith("KeyboardInterrupt")
    proving.wait()
    assert not any(map(alive, numbers))


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_a_file_that_never_comes_to_an_end_with_made_up_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shim_rehearsal, "SECONDS", 2)
    files = vendored(a="import tilelang\nimport torch\nwhile torch.busy() or True:\n    pass\n")
    found = [(one.rule, one.level, one.message) for one in shim.prove(files, {"tilelang": SPEC})]
    assert found == [
        ("shim-not-proven", "note", "not provable here: needs `torch`"),
        (
            "shim-not-proven",
            "note",
            "whether it becomes what the unmodified file is cannot be tried with made-up packages: its process ended, or "
            "took more than 2 seconds",
        ),
    ]


def test_what_no_made_up_package_can_answer_is_said() -> None:
    files = vendored(a="import tilelang\nimport torch\nX = getattr(tilelang, torch.name)\n")
    notes = {(one.rule, one.level, one.message) for one in shim.prove(files, {"tilelang": SPEC})}
    assert notes == {
        ("shim-not-proven", "note", "not provable here: needs `torch`"),
        (
            "shim-not-proven",
            "note",
            "whether it becomes what the unmodified file is cannot be tried with made-up packages: TypeError: "
            + ("attribute name must be string, not 'Made'" if sys.version_info >= (3, 11) else NAME_OLD),
        ),
    }


NAME_OLD = "getattr(): attribute name must be string"
