"""What a module has become, as text that two processes write alike when the same names hold the same values."""

import collections
import contextvars
import functools
import pathlib
import re
import sys
import types
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vendor_tool.rehearsal import reading
from vendor_tool.rehearsal.made_up import Made, stage
from vendor_tool.rehearsal.packages import MadeModule

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
_PLAIN = (type(None), bool, int, float, complex, bytes, bytearray, range, type(Ellipsis), type(NotImplemented))
_CHANGING = (list, dict, set, bytearray, collections.deque, types.FunctionType)
_EMPTY = (tuple, list, dict, set, frozenset)
_OF_CLASSES = frozenset(
    {"__doc__", "__dict__", "__weakref__", "__module__", "__qualname__", "__abstractmethods__", "_abc_impl"}
)
_OF_MODULES = {*vars(types.ModuleType("any")), "__builtins__", "__file__", "__cached__", "__path__"} - {"__doc__"}
_DEEP = 150  # levels
_LONG = 20_000  # characters


def of_module(module: types.ModuleType, folders: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each name of the module with what it holds. Functions and classes of files in `folders` are shown whole."""
    for name, value in list(vars(module).items()):
        of_stand_in = type(value) is types.FunctionType and "_MARKED" in value.__globals__  # gone after the first use
        if name not in _OF_MODULES and not of_stand_in:
            yield name, of(value, folders)


def of(value: Any, folders: tuple[str, ...]) -> str:
    """What one value is; of a long text its beginning, and a sum of all of it."""
    text = "".join(_Reader(folders).read(value, 0))
    return text if len(text) <= _LONG else f"{text[:_LONG]}... {zlib.crc32(text.encode(errors='replace'))}"


def lies_in(module: types.ModuleType | None, folders: tuple[str, ...]) -> bool:
    """Whether the module was loaded from a file in one of the folders."""
    place = vars(module).get("__file__") if module is not None else None
    return isinstance(place, str) and place.startswith(folders)


class _Reader:
    """Reads a value and what it holds; each object once, so that circles end."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []  # an id is one object's as long as it lives

    def read(self, value: Any, depth: int) -> Iterator[str]:
        kind = type(value)
        if (
            hasattr(kind, "_resolve_deferred_") and value._d.state == "done"
        ):  # where nothing can replace it, it forwards
            value = value._d.value
            kind = type(value)
        if hasattr(kind, "_resolve_deferred_"):
            yield value._d.state
        elif kind in _PLAIN:
            yield repr(value)
        elif kind is str:
            yield repr(_ADDRESS.sub("0x", value.replace(stage.place, "")))
        elif kind is Made and not value.made_parts:
            yield value.made_key
        elif isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
            yield value.__name__ if kind is MadeModule else f"module {value.__name__}"
        elif kind in _EMPTY and not value:
            yield f"{kind.__name__}()"
        elif depth > _DEEP:
            yield "..."
        elif kind.__module__ == "typing" or not (kind in _CHANGING or hasattr(value, "__dict__")):
            # two that are equal are as good as one
            yield from self.whole(value, kind, depth + 1)
        elif id(value) in self.seen:
            yield f"#{self.seen[id(value)]}"
        else:
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)
            yield from self.whole(value, kind, depth + 1)

    def whole(self, value: Any, kind: type, depth: int) -> Iterator[str]:
        if kind is Made:
            yield f"{value.made_key}{{"
            yield from self.all(value.made_parts, depth)
            yield "}"
        elif issubclass(kind, type):
            yield from self.of_class(value, depth)
        elif kind is types.FunctionType:
            yield from self.of_function(value, depth)
        else:
            yield f"{kind.__qualname__}("
            yield from self.named(_parts(value, kind), depth)
            yield ")"

    def all(self, values: Iterable[Any], depth: int) -> Iterator[str]:
        for item in values:
            yield from self.read(item, depth)
            yield ", "

    def named(self, parts: Mapping[str, Any], depth: int) -> Iterator[str]:
        for name, part in parts.items():
            yield f"{name}=" if name else ""
            yield from self.items(part, depth) if type(part) is _Items else self.read(part, depth)
            yield ", "

    def items(self, items: "_Items", depth: int) -> Iterator[str]:
        if items.ordered:
            yield from self.all(items.values, depth)
        else:
            # of equal values a set keeps any
            texts = {"" if _all_equal(item) else "".join(self.read(item, depth)) for item in items.values}
            yield ", ".join(sorted(texts))

    def of_class(self, value: type, depth: int) -> Iterator[str]:
        yield f"class {value.__module__}.{value.__qualname__}"
        home = sys.modules.get(value.__module__)
        # else it is shown with its own module
        if (depth == 1 and lies_in(home, self.folders)) or not _named_in(home, value):
            space = {name: part for name, part in sorted(vars(value).items()) if name not in _OF_CLASSES}
            yield "{"
            yield from self.named({"bases": value.__bases__, **space}, depth)
            yield "}"

    def of_function(self, value: types.FunctionType, depth: int) -> Iterator[str]:
        yield f"function {value.__module__}.{value.__qualname__}"
        code = value.__code__
        ours = code.co_filename.startswith((*self.folders, "<string"))
        if ours and (depth == 1 or not _named_in(sys.modules.get(value.__module__), value)):
            constants = [one for one in code.co_consts if not isinstance(one, types.CodeType)]
            yield f", line {code.co_firstlineno}, {zlib.crc32(code.co_code)}, {constants!r}{{"
            parts: dict[str, Any] = {"name": value.__name__, "doc": value.__doc__, "defaults": value.__defaults__}
            parts |= {"keywords": value.__kwdefaults__, "annotations": value.__annotations__}
            yield from self.named({**parts, "closure": reading.closure(value), "own": value.__dict__}, depth)
            yield "}"


def _named_in(home: types.ModuleType | None, value: Any) -> bool:
    """Whether the module has the function or class by its name."""
    found: Any = home
    for name in value.__qualname__.split("."):
        found = getattr(found, "__dict__", {}).get(name)
    return found is value


class _Items:
    """What a container holds, in its order if it has one."""

    def __init__(self, values: Iterable[Any], ordered: bool = True) -> None:
        self.values = values
        self.ordered = ordered


def _parts(value: Any, kind: type) -> dict[str, Any]:
    """What an object consists of, by name."""
    space = getattr(value, "__dict__", None)
    own = dict(space) if isinstance(space, dict) else {}
    own |= reading.slots(value)
    if isinstance(value, (dict, types.MappingProxyType)):
        lost = {"lost": True} if not all(_finds(value, key) for key in list(value)) else {}
        return {"": _Items(part for pair in list(value.items()) for part in pair), **lost, **own}
    if isinstance(value, (tuple, list, collections.deque)):
        return {"": _Items(list(value)), **own}
    if isinstance(value, (set, frozenset)):
        lost = {"lost": True} if not all(_finds(value, key) for key in list(value)) else {}
        return {"": _Items(list(value), ordered=False), **lost, **own}
    reader = next((reader for of, reader in _READERS if isinstance(value, of)), None)
    if reader is not None:
        return {**reader(value), **own}
    if callable(getattr(kind, "hexdigest", None)):
        return {"": value.copy().hexdigest()}
    return own or _copied(value)


def _all_equal(value: Any) -> bool:
    return type(value) is Made and value.made_late and stage.cast == 2


def _finds(holder: Any, key: Any) -> bool:
    """Whether a key is where its hash says: one that holds what was put off may have another hash by now."""
    try:
        return key in holder
    except Exception:  # noqa: BLE001 a hash or a comparison of the file's own
        return True


def _copied(value: Any) -> dict[str, Any]:
    """What a copy of an object of C would be made of; nothing for what cannot be copied."""
    if type(value).__module__ not in sys.stdlib_module_names | {"builtins"}:
        return {}
    try:
        reduced = value.__reduce_ex__(4)
    except (TypeError, AttributeError, ValueError, RuntimeError, OSError):  # it cannot be copied
        return {}
    return {"": reduced if isinstance(reduced, str) else _Items(reduced[1:])}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # still empty
        return None


def _current(variable: "contextvars.ContextVar[Any]") -> Any:
    try:
        return variable.get()
    except LookupError:  # it has no value
        return None


def _named(*names: str) -> Any:
    return lambda value: {name: getattr(value, name, None) for name in names}


_READERS: tuple[tuple[Any, Any], ...] = (
    (functools.partial, _named("func", "args", "keywords")),
    ((staticmethod, classmethod, types.MethodType), _named("__func__", "__self__")),
    (property, _named("fget", "fset", "fdel")),
    (types.BuiltinFunctionType, _named("__module__", "__qualname__")),
    (types.CellType, lambda cell: {"": _content(cell)}),
    (pathlib.PurePath, lambda path: {"": str(path)}),
    (types.ModuleType, lambda module: {name: part for name, part in vars(module).items() if name not in _OF_MODULES}),
    (BaseException, _named("args")),
    (types.GeneratorType, lambda generator: dict(generator.gi_frame.f_locals) if generator.gi_frame else {}),
    (contextvars.ContextVar, lambda variable: {"name": variable.name, "": _current(variable)}),
    (str, lambda text: {"": "".join(text)}),
    (bytes, lambda text: {"": bytes(text)}),
    (int, lambda number: {"": int.__index__(number)}),
    (float, lambda number: {"": float.__add__(number, 0.0)}),
    ((types.GenericAlias, types.UnionType), _named("__origin__", "__args__")),
)
