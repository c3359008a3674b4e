"""pytest plugin for parity tests of vendored kernels: `pytest -p vendor_tool.parity.plugin`, in any project.

Fixtures: `vendored`, `upstream`, `reference`, `tolerance`, `device`. Markers: `gpu`, `kernel`, `timing`. torch loads
only for tests with one of these markers, and a kernel only when its versions are known to go together.
"""

from __future__ import annotations

import json
import os
import random
import zlib
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from vendor_tool import evidence, lockfile
from vendor_tool.errors import ParityNotRun, VendorError
from vendor_tool.model import Lock
from vendor_tool.parity import kernel as kernels
from vendor_tool.parity import machine
from vendor_tool.parity import reference as references
from vendor_tool.parity.kernel import Kernel
from vendor_tool.parity.report import KERNEL, MACHINE, NOTE, Report, outcome
from vendor_tool.parity.tolerance import Note, Tolerance

if TYPE_CHECKING:
    import torch

_T = TypeVar("_T")
_LOCK = pytest.StashKey[Lock]()  # read when first asked for: most runs of pytest have no use for it
_SEED = pytest.StashKey[int]()
_MARKED = pytest.StashKey[dict[str, str]]()  # test to upstream, of all that were collected
_REPORT = pytest.StashKey[Report]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("parity", "parity of vendored kernels")
    group.addoption(
        "--require-gpu", action="store_true", help="fail instead of skipping where GPU or runtime is missing"
    )
    group.addoption("--parity-lock", type=Path, help="lockfile (default: vendor.lock.yaml in pytest's root folder)")
    group.addoption("--parity-pristine", type=Path, help="folder of unmodified upstream files, one folder an upstream")
    group.addoption("--parity-only", default="", help="upstreams whose tests run, separated by commas")
    group.addoption("--parity-report", type=Path, help="write what was measured to this JSON file")
    group.addoption("--parity-seed", type=int, help="seed of an earlier run, to repeat its inputs")
    group.addoption("--parity-gpus", type=int, default=0, help="spread pytest-xdist's workers over this many GPUs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gpu: needs a GPU and the kernel runtime")
    config.addinivalue_line(
        "markers", "kernel(upstream, file, reference=None): the vendored kernel that a test is about"
    )
    config.addinivalue_line("markers", "timing: measures time, so nothing else may run beside it")
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    chosen = config.getoption("--parity-seed")
    # xdist's workers must collect the same tests and draw the same inputs as one process would
    fresh = random.SystemRandom().randrange(2**31) if chosen is None else chosen
    config.stash[_SEED] = worker.get("parity_seed", fresh)
    config.stash[_MARKED] = {}
    if worker and config.getoption("--parity-gpus"):
        mine = machine.devices(config.getoption("--parity-gpus"))
        os.environ["CUDA_VISIBLE_DEVICES"] = mine[int(worker["workerid"].removeprefix("gw")) % len(mine)]
    if not worker:
        config.stash[_REPORT] = Report(config.stash[_SEED], datetime.now(timezone.utc).date().isoformat())


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["parity_seed"] = node.config.stash[_SEED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told: dict[str, Any] = getattr(node, "workeroutput", {})
    config: pytest.Config = node.config
    config.stash[_REPORT].marked.update(told.get("parity_marked", {}))


def pytest_report_header(config: pytest.Config) -> str:
    seed = config.stash[_SEED]
    return f"parity: seed {seed} (repeat with --parity-seed {seed})"


@pytest.hookimpl(tryfirst=True)  # before `-k` and `-m` take any away
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only = {name for name in config.getoption("--parity-only").split(",") if name}
    mine = [item for item in items if not only or (_marker(item) or ("",))[0] in only]
    marked = config.stash[_MARKED]
    for item in mine:
        if _marker(item) is not None:
            # at once, so that a test which never begins is known by its kernel
            named = _identity(item)
            marked[item.nodeid] = named["upstream"]
            item.user_properties.append((KERNEL, json.dumps(named)))
    if len(mine) < len(items):
        kept = set(mine)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = mine


def pytest_runtest_setup(item: pytest.Item) -> None:
    reason = _missing(item)
    if reason and item.config.getoption("--require-gpu"):
        pytest.fail(f"parity is required: {reason}", pytrace=False)
    if reason:
        pytest.skip(reason)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    # teardowns fail as well, and a worker that crashed reports its test as failed "when" nobody knows
    if _CONTROLLER and (report.failed or report.when == "call" or (report.when == "setup" and report.skipped)):
        tests = _CONTROLLER[-1].tests
        if report.failed and any(test.id == report.nodeid and test.outcome == "failed" for test in tests):
            return  # the first failure is the cause
        if report.failed:
            tests[:] = [test for test in tests if test.id != report.nodeid]
        tests.append(outcome(report))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if _CONTROLLER and report.failed:
        _CONTROLLER[-1].broken.append(report.nodeid)


def pytest_sessionstart(session: pytest.Session) -> None:
    if _REPORT in session.config.stash:
        _CONTROLLER.append(session.config.stash[_REPORT])


_CONTROLLER: list[Report] = []  # logreport is the one hook that gets no config


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if _REPORT not in config.stash:
        config.workeroutput["parity_marked"] = config.stash[_MARKED]  # type: ignore[attr-defined]  # by xdist
        return
    _CONTROLLER.remove(config.stash[_REPORT])
    path = config.getoption("--parity-report")
    if path is not None:
        lock, measured = _lock(config), config.stash[_REPORT]
        collected: dict[str, str] = config.stash[_MARKED]
        measured.marked.update(collected)
        for name, entry in lock.upstreams.items():
            if entry.resolved is not None:
                measured.files[name] = kernels.local_hashes(lock, entry.resolved)
                measured.entries[name] = evidence.inputs(entry)
        measured.write(path)


# ---- fixtures ---------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _parity_seed(request: pytest.FixtureRequest) -> None:
    """Random inputs of their own for each test, the same ones for the same seed and test."""
    if _marker(request.node) is not None:
        import torch

        torch.manual_seed(request.config.stash[_SEED] ^ zlib.crc32(request.node.nodeid.encode()))
        request.node.user_properties.append((MACHINE, json.dumps(_facts(_kernel(request.node)))))


@pytest.fixture
def device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture
def vendored(request: pytest.FixtureRequest) -> ModuleType:
    """The vendored module that the test's `kernel` marker names, imported from the project."""
    lock, kernel = _lock(request.config), _kernel(request.node)
    return _or_fail(lambda: kernels.load_vendored(lock, kernel))


@pytest.fixture
def upstream(request: pytest.FixtureRequest) -> ModuleType:
    """The unmodified upstream module of the same file. Skips, or fails under --require-gpu, where it is not at hand."""
    folder = request.config.getoption("--parity-pristine")
    try:
        return kernels.load_upstream(folder, _kernel(request.node))
    except ParityNotRun as missing:
        reason = missing.message
    if request.config.getoption("--require-gpu"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """The function that the marker's `reference="module:function"` names; the test's own folder goes first."""
    marker = request.node.get_closest_marker("kernel")
    module, _, name = marker.kwargs["reference"].partition(":")
    found = _or_fail(lambda: references.load(request.path.parent, module))
    return getattr(found, name)  # type: ignore[no-any-return]


@pytest.fixture
def tolerance(request: pytest.FixtureRequest) -> Tolerance:
    """Claims about the kernel; what they measure goes into the report and the evidence."""

    def note(claim: Note) -> None:
        request.node.user_properties.append((NOTE, json.dumps(asdict(claim))))

    uses = "vendored" in request.fixturenames
    return Tolerance(note, _kernel(request.node).upstream.slower_than, vendored=uses)


# ---- inside -----------------------------------------------------------------------------------------------


def _lock(config: pytest.Config) -> Lock:
    if _LOCK not in config.stash:
        path = config.getoption("--parity-lock") or config.rootpath / lockfile.NAME
        config.stash[_LOCK] = _or_fail(lambda: lockfile.load(path))
    return config.stash[_LOCK]


def _marker(item: pytest.Item) -> tuple[str, str] | None:
    marker = item.get_closest_marker("kernel")
    if marker is None:
        return None
    named = {**dict(zip(("upstream", "file", "reference"), marker.args, strict=False)), **marker.kwargs}
    return str(named.get("upstream", "")), str(named.get("file", ""))


def _kernel(item: pytest.Item) -> Kernel:
    named = _marker(item)
    if named is None:
        pytest.fail("the test has no `kernel(upstream, file)` marker", pytrace=False)
    lock, (upstream, path) = _lock(item.config), named
    return _or_fail(lambda: kernels.find(lock, upstream, path))


def _or_fail(load: Callable[[], _T]) -> _T:
    try:
        return load()
    except VendorError as error:
        message = f"{error.message}; {error.hint}"
    pytest.fail(message, pytrace=False)


def _missing(item: pytest.Item) -> str | None:
    """Why a marked test cannot run here; None for one that can, and for every other test."""
    gpu = item.get_closest_marker("gpu") is not None
    if not gpu and _marker(item) is None:
        return None
    if not machine.versions(["torch"]):
        return "torch not installed"
    if gpu:
        import torch

        if not torch.cuda.is_available():
            return f"no CUDA device (torch {torch.__version__})"
    return kernels.missing_runtime(_kernel(item)) if _marker(item) else machine.refusal(machine.facts().versions)


def _facts(kernel: Kernel) -> dict[str, Any]:
    import torch

    installed = machine.versions((*machine.RUNTIME, *kernel.upstream.requires))
    # torch's own word for its version names the CUDA that it was built for
    found: dict[str, Any] = {"versions": installed | {"torch": torch.__version__}}
    if torch.cuda.is_available():
        driver = next((gpu.driver for gpu in machine.gpus()), "unknown")
        return found | {"gpu": torch.cuda.get_device_name(), "driver": driver}
    return found | {"gpu": "none", "driver": "none"}


def _identity(item: pytest.Item) -> dict[str, str]:
    """Upstream and name of a test's kernel; the marker's own words where the lock has none such."""
    upstream, path = _marker(item) or ("", "")
    try:
        return {"upstream": upstream, "name": kernels.find(_lock(item.config), upstream, path).name}
    except (VendorError, pytest.fail.Exception):
        return {"upstream": upstream, "name": path}
