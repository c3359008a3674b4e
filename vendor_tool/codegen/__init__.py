"""`check --codegen`: the same code from the upstream file and from the vendored one, without a GPU.

TileLang traces kernels to TIR and lowers them to CUDA text for a named architecture on any machine. Both sides are
traced in processes of their own, which execute the files: equal TIR is proof that rewriting changed nothing.
"""

import difflib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeAlias

from vendor_tool.codegen import trace
from vendor_tool.errors import ParityNotRun, UsageError
from vendor_tool.findings import Finding, RuleInfo
from vendor_tool.model import BuiltFile
from vendor_tool.values import dataclass

RULES: Mapping[str, RuleInfo] = {
    "codegen-differs": RuleInfo(
        "codegen-differs",
        "warning",
        "A vendored kernel compiles to other code than the upstream's.",
        "A patch changes what the compiler makes of the kernel. Where no patch is meant to, a rule changed the file's "
        "meaning: look at `vendor-tool diff`.",
    ),
    "codegen-failed": RuleInfo(
        "codegen-failed",
        "error",
        "A kernel could not be traced or lowered.",
        "The arguments under `codegen:` do not fit the kernel, or the installed runtime cannot compile it.",
    ),
}

Value: TypeAlias = None | bool | int | float | str | list["Value"] | dict[str, "Value"]
Verdict: TypeAlias = Literal["equal", "different", "failed"]

_SECONDS = 1800
_WORKSPACE = re.compile(r"\bworkspace(?:_\d+)?\b")


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel and the arguments that it is traced with."""

    path: str  # upstream path
    kernel: str
    args: Mapping[str, Value]

    @property
    def label(self) -> str:
        """The call, as source text."""
        return f"{self.kernel}({', '.join(f'{name}={value!r}' for name, value in self.args.items())})"


@dataclass(frozen=True, slots=True)
class Spec:
    """`codegen:` of an upstream's entry."""

    cases: tuple[Case, ...]
    archs: tuple[str, ...] = ("sm_90",)


@dataclass(frozen=True, slots=True)
class Result:
    """One kernel compared."""

    case: Case
    to: str  # local path
    tir: Verdict
    cuda: Mapping[str, Verdict]  # by architecture
    detail: str = ""  # the first difference, or why it failed

    @property
    def equal(self) -> bool:
        """Whether both sides give the same TIR, and the same CUDA text for every architecture."""
        return self.tir == "equal" and all(verdict == "equal" for verdict in self.cuda.values())

    @property
    def failed(self) -> bool:
        """Whether something could not be compared, and nothing that could was different."""
        verdicts = (self.tir, *self.cuda.values())
        return "failed" in verdicts and "different" not in verdicts


def read(codegen: Mapping[str, Any], prefix: str) -> Spec:
    """The spec that `lockfile` has read; `prefix` is the entry's `from`."""
    cases = tuple(
        Case(f"{prefix}/{item['file']}" if prefix else item["file"], item["kernel"], dict(item.get("args", {})))
        for item in codegen["kernels"]
    )
    return Spec(cases, tuple(codegen.get("archs", ("sm_90",))))


def compare(
    files: Sequence[BuiltFile], stand_ins: Mapping[str, bytes], spec: Spec, *, python: str = sys.executable
) -> tuple[Result, ...]:
    """Traces and lowers each case from the pristine and from the final files, and compares.

    `stand_ins` maps local paths to the generated stand-ins. `python` needs torch and TileLang. Takes about 4 s, and
    some tenths of a second for each kernel and architecture.

    Raises ParityNotRun where that Python has no TileLang that loads, and UsageError where a case names no file.
    """
    local = {file.path: file.to for file in files}
    if unknown := [case.path for case in spec.cases if case.path not in local]:
        raise UsageError(
            f"`codegen:` names `{unknown[0]}`, which is not vendored", hint="take it out, or vendor the file"
        )
    upstream = {file.path: file.pristine for file in files if file.blob}
    vendored = {file.to: file.final for file in files} | dict(stand_ins)
    with ThreadPoolExecutor(2) as pool:
        sides = pool.map(
            lambda side: _traced(side[0], side[1], spec, python),
            [(upstream, {case.path: case.path for case in spec.cases}), (vendored, local)],
        )
        first, second = sides
    return tuple(
        _result(case, local[case.path], spec, first[number], second[number]) for number, case in enumerate(spec.cases)
    )


def findings(results: Sequence[Result]) -> tuple[Finding, ...]:
    """A finding for each kernel that differs or could not be compared as a whole."""
    found = []
    for result in results:
        if result.failed:
            message = f"`{result.case.label}` cannot be compared: {result.detail}"
            found.append(Finding("codegen-failed", "error", message, path=result.to))
        elif not result.equal:
            message = f"`{result.case.label}` compiles to other code than upstream's: {result.detail}"
            found.append(Finding("codegen-differs", "warning", message, path=result.to, side="local"))
    return tuple(found)


def told(results: Sequence[Result]) -> tuple[str, ...]:
    """A line for each kernel that was proven equal."""
    return tuple(
        f"codegen: {result.to}: `{result.case.label}` is upstream's: {', '.join(('TIR', *result.cuda))}"
        for result in results
        if result.equal
    )


def _traced(
    files: Mapping[str, bytes], places: Mapping[str, str], spec: Spec, python: str
) -> list[Mapping[str, Mapping[str, str]]]:
    """What the child process made of each case: `{"code": {"tir": ..., "sm_90": ...}}` or `{"error": {...}}`."""
    with tempfile.TemporaryDirectory(prefix="vendor-tool-") as folder:
        tree = Path(folder).resolve() / "tree"
        for path, data in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes(data)
        asked, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        cases = [{"path": places[case.path], "kernel": case.kernel, "args": case.args} for case in spec.cases]
        request = {"tree": str(tree), "cases": cases, "archs": spec.archs, "answer": str(answer)}
        asked.write_text(json.dumps(request), encoding="utf-8")
        done = subprocess.run(
            [python, "-I", "-B", trace.__file__, str(asked)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            cwd=folder,
            check=False,
        )
        if not answer.exists():
            last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise ParityNotRun(
                f"kernels cannot be traced with `{python}`: {last}",
                hint="install the runtime with `pip install 'vendor-tool[gpu]'`; it needs no GPU for this",
            )
        made: list[Mapping[str, Mapping[str, str]]] = json.loads(answer.read_text(encoding="utf-8"))
        return made


def _result(
    case: Case, to: str, spec: Spec, first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> Result:
    failed = [f"{side}: {made['error'][what]}" for side, made, what in _errors(first, second)]
    if "tir" not in first["code"] or "tir" not in second["code"]:
        return Result(case, to, "failed", {}, "; ".join(failed))
    verdicts: dict[str, Verdict] = {}
    detail = "; ".join(failed)
    for what in ("tir", *spec.archs):
        one, two = first["code"].get(what), second["code"].get(what)
        if one is None or two is None:
            verdicts[what] = "failed"  # where both fail alike, too: what was not made was not compared
            continue
        if what != "tir":
            one, two = normalised(one), normalised(two)
        verdicts[what] = "equal" if one == two else "different"
        if one != two:
            detail = detail or _difference(one, two)
    return Result(case, to, verdicts.pop("tir"), verdicts, detail)


def _errors(
    first: Mapping[str, Mapping[str, str]], second: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, Mapping[str, Mapping[str, str]], str]]:
    for side, made in (("upstream", first), ("vendored", second)):
        for what in made["error"]:
            yield side, made, what


def normalised(code: str) -> str:
    """CUDA text with its workspaces numbered as they appear: two lowerings of one file can number them differently."""
    numbers: dict[str, int] = {}
    return _WORKSPACE.sub(lambda found: f"workspace_{numbers.setdefault(found[0], len(numbers))}", code)


def _difference(one: str, two: str) -> str:
    lines = difflib.unified_diff(one.splitlines(), two.splitlines(), lineterm="", n=0)
    changed = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    return f"{len(changed)} lines differ, first `{changed[0][1:].strip()}`" if changed else "line ends differ"
