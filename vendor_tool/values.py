"""Frozen classes of named values: what `dataclasses` makes, made in a tenth of the time.

`dataclasses` loads `inspect` and compiles six methods for each class before anything runs: importing `model` alone took
84 ms of CPU time with it and takes 44 ms without, of which Python itself is 15 (one machine, best of 15). Here methods
are closures, and only `__init__` is compiled, when a class is first called. Type checkers see `dataclasses` itself; so
does code that asks a class for `__dataclass_fields__`, as `dataclasses.replace` and `dataclasses.asdict` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NONE = object()


class _Field:
    """What `field` says of one value: its default comes from a factory."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


class _Fields:
    """`__dataclass_fields__` of a class, made by `dataclasses` for whoever asks."""

    def __init__(self, names: tuple[str, ...], defaults: Mapping[str, Any]) -> None:
        self.names, self.defaults = names, defaults

    def __get__(self, _instance: object, owner: type) -> Any:
        import dataclasses

        body: dict[str, Any] = {"__annotations__": {name: owner.__annotations__[name] for name in self.names}}
        for name, value in self.defaults.items():
            body[name] = dataclasses.field(default_factory=value.factory) if isinstance(value, _Field) else value
        twin = type(owner.__name__, (), {**body, "__module__": owner.__module__})
        return {one.name: one for one in dataclasses.fields(dataclasses.dataclass(twin))}


def _field(*, default_factory: Callable[[], Any]) -> Any:
    return _Field(default_factory)


def _dataclass(*, slots: bool, frozen: bool = False) -> Callable[[type[Any]], type[Any]]:
    assert slots, "classes without slots are not made here"
    return lambda cls: _made(cls, frozen=frozen)


def _made(cls: type[Any], *, frozen: bool) -> type[Any]:
    names = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    body = {key: value for key, value in cls.__dict__.items() if key not in (*names, "__dict__", "__weakref__")}
    body |= {"__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields(names, defaults)}
    body |= {key: value for key, value in _methods(names, frozen=frozen).items() if key not in body}
    kind: Any = type(cls)
    made: Any = kind(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__

    def first(self: object, /, *arguments: object, **named: object) -> None:
        made.__init__ = _init(made, names, defaults)
        made.__init__(self, *arguments, **named)

    made.__init__ = first
    return made  # type: ignore[no-any-return]  # a class that was made at run time


def _init(made: Any, names: tuple[str, ...], defaults: Mapping[str, Any]) -> Any:
    scope: dict[str, Any] = {"_none": _NONE}
    head, body = [], []
    for name in names:
        scope[f"_set_{name}"] = getattr(made, name).__set__
        value = defaults.get(name, _NONE)
        if isinstance(value, _Field):
            scope[f"_make_{name}"] = value.factory
            head.append(f"{name}=_none")
            body.append(f" _set_{name}(self, _make_{name}() if {name} is _none else {name})")
        else:
            scope[f"_default_{name}"] = value
            head.append(name if value is _NONE else f"{name}=_default_{name}")
            body.append(f" _set_{name}(self, {name})")
    exec(f"def __init__({', '.join(('self', *head))}):\n" + "\n".join(body or [" pass"]), scope)
    found = scope["__init__"]
    found.__qualname__ = f"{made.__qualname__}.__init__"
    return found


def _methods(names: tuple[str, ...], *, frozen: bool) -> dict[str, Any]:
    one = attrgetter(*names) if names else lambda _self: ()
    values: Callable[[object], tuple[object, ...]] = one if len(names) != 1 else lambda self: (one(self),)

    def show(self: object) -> str:
        pairs = zip(names, values(self), strict=True)
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    methods: dict[str, Any] = {
        "__repr__": show,
        "__eq__": equal,
        "__hash__": (lambda self: hash(values(self))) if frozen else None,
        "__reduce__": lambda self: (type(self), values(self)),
    }
    return {**methods, "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete} if frozen else methods


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _replace(value: Any, /, **changes: Any) -> Any:
    kind = type(value)
    return kind(**{**{name: getattr(value, name) for name in kind.__match_args__}, **changes})


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    dataclass, field, replace = _dataclass, _field, _replace
