"""Run by path in a process of its own, with TileLang: traces kernels to TIR and lowers them to CUDA text.

Uses nothing of vendor-tool, so that the Python of a GPU environment runs it. Arguments of kernels are plain values;
`{dtype: float32}` stands for a TileLang type and `{tensor: [4, 8], dtype: bfloat16}` for a torch tensor on the CPU.
"""

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any


def main(request_path: str) -> None:
    """Answers the request in the JSON file at `request_path`."""
    import tilelang

    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    tree = Path(request["tree"])
    sys.path.insert(0, str(tree))
    _bare_packages(tree)
    answer = [_case(tilelang, case, request["archs"]) for case in request["cases"]]
    Path(request["answer"]).write_text(json.dumps(answer), encoding="utf-8")


def _bare_packages(tree: Path) -> None:
    """Makes the packages on the way to the files without running them: an upstream's own would load all of it."""
    for path in sorted(tree.rglob("*")):
        if path.is_dir():
            name = ".".join(path.relative_to(tree).parts)
            module = types.ModuleType(name)
            module.__path__ = [str(path)]
            sys.modules[name] = module


def _case(tilelang: Any, case: dict[str, Any], archs: list[str]) -> dict[str, dict[str, str]]:
    code: dict[str, str] = {}
    errors: dict[str, str] = {}
    try:
        kernel = getattr(importlib.import_module(case["path"].removesuffix(".py").replace("/", ".")), case["kernel"])
        arguments = {name: _value(value) for name, value in case["args"].items()}
        traced = _traced(kernel, arguments)
        code["tir"] = traced.script(show_meta=True)
    except Exception as error:  # noqa: BLE001 whatever the compiler raises is the case's result
        errors["tir"] = f"{type(error).__name__}: {error}"[:500]
        return {"code": code, "error": errors}
    for arch in archs:
        try:
            code[arch] = _cuda(tilelang, traced, kernel, arch)
        except Exception as error:  # noqa: BLE001 as above
            errors[arch] = f"{type(error).__name__}: {error}"[:500]
    return {"code": code, "error": errors}


def _traced(kernel: Any, arguments: dict[str, Any]) -> Any:
    if hasattr(kernel, "get_tir"):
        return kernel.get_tir(**arguments)
    if not callable(kernel) and hasattr(kernel, "script") and not arguments:
        return kernel  # a PrimFunc of the module
    return kernel(**arguments)


def _cuda(tilelang: Any, traced: Any, kernel: Any, arch: str) -> str:
    from tilelang import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    options = {
        str(getattr(key, "value", key)): value for key, value in (getattr(kernel, "pass_configs", None) or {}).items()
    }
    with tvm.transform.PassContext(opt_level=3, config=options), target:
        return str(tilelang.lower(traced, target=target).kernel_source)


def _value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        import torch

        return torch.empty(value["tensor"], dtype=getattr(torch, value.get("dtype", "float32")))
    import tilelang.language

    return getattr(tilelang.language, value["dtype"])


if __name__ == "__main__":
    main(sys.argv[1])
