"""`codegen:` of an entry: the kernels to trace, their arguments and the architectures, read as strictly as the rest."""

from __future__ import annotations

from typing import Any

from vendor_tool.lockfile.place import Place, plain
from vendor_tool.patterns import pattern

ARCH = pattern(r"sm_[1-9]\d{1,2}[af]?")
_NAME = pattern(r"[A-Za-z_]\w*")


def codegen(place: Place) -> dict[str, Any]:
    """The spec as plain data. UsageError, with the line, for another form: what is misread would prove nothing."""
    fields = place.fields("archs", "kernels")
    if "kernels" not in fields or not fields["kernels"].items():
        place.fail("no `kernels:`", "write `kernels: [{file: k.py, kernel: name, args: {heads: 64}}]`")
    spec: dict[str, Any] = {"kernels": [_kernel(item) for item in fields["kernels"].items()]}
    if "archs" in fields:
        spec["archs"] = [_arch(item) for item in fields["archs"].items()]
    return spec


def _arch(place: Place) -> str:
    name = place.line_of_text()
    if not ARCH.fullmatch(name):
        place.fail(f"`{name}` is no architecture", "write it as nvcc does, such as `sm_90` or `sm_90a`")
    return name


def _kernel(place: Place) -> dict[str, Any]:
    fields = place.fields("file", "kernel", "args")
    for key in ("file", "kernel"):
        if key not in fields:
            place.fail(f"no `{key}:`", "write `{file: k.py, kernel: name, args: {heads: 64}}`")
    name = fields["kernel"].line_of_text()
    if not _NAME.fullmatch(name):
        fields["kernel"].fail(f"`{name}` is not a name", "write the name that the file gives the kernel")
    args = {key: _value(value) for key, value in fields["args"].fields().items()} if "args" in fields else {}
    return {"file": fields["file"].local(), "kernel": name, "args": args}


def _value(place: Place) -> Any:
    if place.node.kind == "list":
        return [_value(item) for item in place.items()]
    if place.node.kind != "map":
        return plain(place.node)
    fields = place.fields("tensor", "dtype")
    if "tensor" not in fields:
        if "dtype" not in fields:
            place.fail("is empty", "write `{dtype: bfloat16}` or `{tensor: [4, 8], dtype: bfloat16}`")
        return {"dtype": fields["dtype"].line_of_text()}
    sizes = [_size(item) for item in fields["tensor"].items()]
    return {"tensor": sizes, **({"dtype": fields["dtype"].line_of_text()} if "dtype" in fields else {})}


def _size(place: Place) -> int:
    size = plain(place.node)
    if type(size) is not int or size < 0:
        place.fail("must be a size", "write a whole number")
    return size
