"""Values of packages that are not there, made up: they answer every question and leave a trace of what is done to them.

Each cast answers differently, so that what a file makes of the answers shows.
"""

import abc
import sys
import types
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from vendor_tool.rehearsal import reading

CASTS = (1, 2)
"""How values answer. 1: true, and as a data type does, which equals its own name; 2: false, and equal to one whose name
begins as its own does, as `float` and `float32` may be."""

PLACE = "made-up:"
"""Where made-up modules lie."""

_DEFERRED = "_resolve_deferred_"  # what a stand-in's values, and no others, have
_VERSION = "2.9.0"
_LENT = frozenset(
    {"__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__defaults__", "__kwdefaults__"}
)


class Deed(NamedTuple):
    """Something that was done to made-up values: a call, or a change of an attribute or an item."""

    top: str  # the top-level module
    text: str
    parts: tuple[Any, ...]
    file: str | None
    line: int


class Stage:
    """What the made-up values of one process share."""

    def __init__(self) -> None:
        self.cast = 1
        self.runtime: frozenset[str] = frozenset()  # top-level modules whose values a stand-in puts off
        self.place = ""  # the folder that the process is in
        self.folders: tuple[str, ...] = ()  # of the files that are imported, each with a slash
        self.deeds: list[Deed] = []
        self.decorated: dict[types.CodeType, int] = {}  # how often
        self.read: dict[str, tuple[str, int, str, str, str]] = {}  # file, line, function, name and what that held
        self.patient: tuple[str, ...] = ()  # how decorators begin that read a function's globals at its calls only
        self.tell: Callable[[Any], str] = repr  # what a value is, in full


stage = Stage()


def top(key: str) -> str:
    """The top-level module that a key or a dotted name begins with."""
    return key.partition(".")[0]


class Made:
    """A made-up value. Its key says how it came about, and whether a stand-in would put it off."""

    __slots__ = ("__weakref__", "made_base", "made_kept", "made_key", "made_late", "made_parts", "made_shown")
    if TYPE_CHECKING:  # a class has its annotations' names as an attribute, whatever its instances say
        made_base: Any
        made_key: str
        made_kept: dict[str, Any]
        made_late: bool
        made_parts: tuple[Any, ...]
        made_shown: Any  # the function or class that it was made of, whose name it has

    def __init__(self, key: str, late: bool, parts: tuple[Any, ...] = ()) -> None:
        kept: dict[str, Any] = {}
        values = {"made_key": key, "made_late": late, "made_parts": parts, "made_kept": kept}
        for name, value in {**values, "made_base": None, "made_shown": None}.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, wanted: str) -> Any:
        if wanted == "__signature__":
            import inspect  # few files ask, and it costs time

            return inspect.signature(_any if self.made_shown is None else self.made_shown)
        if self.made_shown is not None and wanted in _LENT:
            return getattr(self.made_shown, wanted)
        return attribute(self.made_key, self.made_late, self.made_kept, wanted)

    def __setattr__(self, name: str, value: Any) -> None:
        change(f"{self.made_key}.{name} =", value)
        self.made_kept[name] = value

    def __delattr__(self, name: str) -> None:
        change(f"del {self.made_key}.{name}")
        self.made_kept.pop(name, None)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if self.made_shown is not None and not self.made_late:
            return self.made_shown(*args, **keywords)
        parts = (*args, *(part for pair in keywords.items() for part in pair))
        if self.made_late and args and not _top_name(self).startswith(stage.patient):
            _read(args[0])
        made = _derived(f"{self.made_key}()", self.made_late, parts)
        # what a stand-in puts off is told as it is now
        change(f"{self.made_key}()", *((", ".join(map(stage.tell, parts)),) if self.made_late else parts))
        if len(parts) == 1 and not self.made_late and _known_class(args[0]):
            return args[0]
        # most decorators give back what behaves like the function that they got
        if args and _lends(args[0]) and (self.made_late or len(parts) == 1):
            object.__setattr__(made, "made_shown", args[0])
        return made

    def __get__(self, instance: object, owner: object = None) -> Any:
        bound = instance is not None and self.made_shown is not None and not self.made_late
        return types.MethodType(self, instance) if bound else self

    def __getitem__(self, item: Any) -> Any:
        if type(item) in (int, str):
            return attribute(self.made_key, self.made_late, self.made_kept, f"[{item!r}]")
        return _derived(f"{self.made_key}[]", self.made_late, (item,))

    def __setitem__(self, item: Any, value: Any) -> None:
        change(f"{self.made_key}[] =", item, value)

    def __delitem__(self, item: Any) -> None:
        change(f"del {self.made_key}[]", item)

    def __eq__(self, another: object) -> bool:
        if _put_off(another):
            return NotImplemented
        if self is another:
            return True
        typing = _asked_by_typing()
        if type(another) is not Made:
            return isinstance(another, str) and stage.cast == 1 and not typing and another == str(self)
        if stage.cast == 2 and self.made_late and another.made_late and not typing:
            one, other = sorted((self.made_key, another.made_key), key=len)
            return other.startswith(one)
        return not self.made_parts and not another.made_parts and self.made_key == another.made_key

    def __ne__(self, other: object) -> bool:
        return NotImplemented if _put_off(other) else not self == other

    def __hash__(self) -> int:
        return 7 if stage.cast == 2 and self.made_late and not _asked_by_typing() else hash(_shown(self.made_key))

    def __repr__(self) -> str:
        return f"<{_shown(self.made_key)}>"

    def __str__(self) -> str:
        return _shown(self.made_key) if stage.cast == 1 else f"{_shown(self.made_key)}_{stage.cast}"

    def __format__(self, spec: str) -> str:
        try:
            return format(str(self), spec)
        except ValueError:  # of a number
            return format(float(self), spec)

    def __bool__(self) -> bool:
        return stage.cast == 1

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter([self[0], self[1]])

    def __contains__(self, item: object) -> bool:
        return stage.cast == 1

    def __int__(self) -> int:
        return 8 * stage.cast

    __index__ = __int__

    def __float__(self) -> float:
        return 8.0 * stage.cast

    def __fspath__(self) -> str:
        return f"{stage.place}/{PLACE}/{_shown(self.made_key)}"

    def __set_name__(self, owner: type, name: str) -> None:
        if self.made_late:
            change(f"{self.made_key}.__set_name__()", name)

    def __enter__(self) -> Any:
        return self.enter()

    def __exit__(self, *error: object) -> None:
        self.leave()

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: object) -> Any:
        return self

    def __instancecheck__(self, instance: object) -> bool:
        return self.made_base in type(instance).__mro__ or (stage.cast == 2 and self.made_late)

    def __subclasscheck__(self, subclass: type) -> bool:
        return self.made_base in subclass.__mro__ or (stage.cast == 2 and self.made_late)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type]:
        if any(map(_put_off, bases)):  # the class is made when these are caught up with
            return (type(_shown(self.made_key), (), {}),)
        if self.made_base is None:
            space = {"__module__": self.made_key, "made_origin": self}
            object.__setattr__(self, "made_base", _Meta(_shown(self.made_key), (_Base,), space))
        return (self.made_base,)


def _operation(name: str, *, reflected: bool) -> None:
    def forward(self: Made, *others: Any) -> Any:
        if any(map(_put_off, others)):
            return NotImplemented
        late = any(one.made_late for one in (self, *others) if type(one) is Made)
        return _derived(f"{name}()", late, (self, *others))

    def backward(self: Made, other: Any) -> Any:
        return NotImplemented if _put_off(other) else _derived(f"{name}()", self.made_late, (other, self))

    setattr(Made, f"__{name}__", forward)
    if reflected:
        setattr(Made, f"__r{name}__", backward)


def _any(*_: object, **__: object) -> None:
    """What can be said of the arguments of anything made up."""


def _order(*compared: object) -> bool:
    return stage.cast == 1 and bool(compared)


def _shown_by(name: str) -> property:
    return property(lambda self: Made.__getattr__(self, name))


for _name in "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor".split():
    _operation(_name, reflected=True)
for _name in ("neg", "pos", "invert", "abs", "round"):
    _operation(_name, reflected=False)
for _name in ("lt", "le", "gt", "ge"):
    setattr(Made, f"__{_name}__", _order)
for _name in ("__module__", "__doc__", "__annotations__"):  # a class has these, whatever its instances say
    setattr(Made, _name, _shown_by(_name))


class _Meta(abc.ABCMeta):
    """Of classes with a made-up base: what they do not define, their base does."""

    def __getattr__(cls, name: str) -> Any:
        made = next((vars(base)["made_origin"] for base in cls.__mro__ if "made_origin" in vars(base)), None)
        if name[:2] == "__" or name == _DEFERRED or made is None:
            raise AttributeError(name)
        return getattr(made, name)


class _Base(metaclass=_Meta):
    """The made-up part of a class with a made-up base."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        pass

    def __init_subclass__(cls, **keywords: Any) -> None:
        pass

    def __getattr__(self, wanted: str) -> Any:
        if wanted[:2] == "__":
            raise AttributeError(wanted)
        return getattr(type(self), wanted)


def attribute(key: str, late: bool, kept: dict[str, Any], name: str) -> Any:
    """The attribute of a made-up value or module with the key; `kept` are those that were asked for or set before."""
    if name in kept:
        return kept[name]
    if name[:2] == "__" and name[-2:] == "__":
        facts = {"__version__": _VERSION, "__name__": _shown(key), "__qualname__": _shown(key), "__doc__": None}
        facts |= {"__module__": key.rpartition(".")[0], "__file__": f"{stage.place}/{PLACE}/{key}/__init__.py"}
        if name not in facts:
            raise AttributeError(name)
        return facts[name]
    kept[name] = Made(f"{key}{name}" if name[0] == "[" else f"{key}.{name}", late)
    return kept[name]


def _derived(key: str, late: bool, parts: tuple[Any, ...]) -> Made:
    """The value of a call or an operation. One that can be put off is told at once: its parts are real then."""
    if not late:
        return Made(key, late, parts)
    told = ", ".join(map(stage.tell, parts))
    short = told if len(told) < 80 else f"{told[:40]}... {zlib.crc32(told.encode(errors='replace'))}"
    return Made(f"{key[:-1]}{short}{key[-1]}", late)


def change(text: str, *parts: Any) -> None:
    """Keeps in mind what is done, and which file and line does it."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and not (frame.f_code.co_filename.startswith(stage.folders) and _is_file(frame)):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else (None, 0)
    stage.deeds.append(Deed(top(text.removeprefix("del ")), text, parts, *place))


def _is_file(frame: types.FrameType) -> bool:
    """Whether it is a file's own code, and not a stand-in's."""
    return "_Deferred" not in frame.f_globals


def _put_off(value: object) -> bool:
    """Whether it is a deferred value of a stand-in, which answers for both."""
    return hasattr(type(value), _DEFERRED)


def _top_name(made: Made) -> str:
    """What a function, or one that it gave, is called: `jit` of `tilelang.jit(out_idx=[0])`."""
    return made.made_key.partition("(")[0].rpartition(".")[2]


def _read(function: Any) -> None:
    """Keeps in mind what a decorator finds that reads the function at once, as it is now."""
    found = reading.reads(function, stage.folders)
    if found:
        code = function.__code__
        times = stage.decorated[code] = stage.decorated.get(code, 0) + 1
        place = code.co_filename, code.co_firstlineno
        for name, value in found.items():
            stage.read[f"{place}, {times}, {name}"] = (*place, function.__name__, name, stage.tell(value))


def _lends(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, type)) or (type(value) is Made and value.made_shown is not None)


def _known_class(value: Any) -> bool:
    """Whether it is a class whose bases are all known at once."""
    bases = getattr(value, "__mro__", ()) if issubclass(type(value), type) else ()
    known = not any("made_origin" in vars(base) and vars(base)["made_origin"].made_late for base in bases)
    return bool(bases) and known


def _shown(key: str) -> str:
    return key.rpartition(".")[2] if "(" not in key and "[" not in key else key


def _asked_by_typing() -> bool:
    """Its caches and unions take equal arguments for one: that is not a use."""
    return sys._getframe(2).f_globals.get("__name__") == "typing"
