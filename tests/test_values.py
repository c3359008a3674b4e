"""The classes that `values` makes behave as those of `dataclasses` do."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vendor_tool import values

SOURCE = '''
@dataclass(frozen=True, slots=True)
class Item:
    """An item."""

    name: str
    size: int = 3
    tags: dict[str, int] = field(default_factory=dict)

    @property
    def double(self) -> int:
        return 2 * self.size


@dataclass(slots=True)
class Counter:
    count: int = 0


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Other:
    name: str
    size: int = 3
    tags: dict[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "other"
'''


def classes(kind: Any) -> dict[str, Any]:
    scope: dict[str, Any] = {
        "dataclass": kind.dataclass,
        "field": kind.field,
        "__name__": f"made_by_{kind.__name__.rpartition('.')[2]}",
    }
    exec(SOURCE, scope)
    module = type(sys)(scope["__name__"])
    module.__dict__.update(scope)
    sys.modules[scope["__name__"]] = module
    return scope


OURS, THEIRS = classes(values), classes(dataclasses)
CLAIMS: list[Callable[[dict[str, Any]], object]] = [
    lambda c: repr(c["Item"]("a", tags={"x": 1})),
    lambda c: repr(c["Empty"]()),
    lambda c: repr(c["Other"]("a")),
    lambda c: c["Item"]("a", 4).double,
    lambda c: (c["Item"]("a") == c["Item"]("a"), c["Item"]("a") == c["Item"]("b"), c["Item"]("a") == c["Other"]("a")),
    lambda c: c["Item"]("a").__eq__(3),
    lambda c: hash(c["Item"]("a", 1, ())) == hash(("a", 1, ())),
    lambda c: len({c["Empty"](), c["Empty"]()}),
    lambda c: c["Counter"].__hash__,
    lambda c: c["Item"]("a").tags is c["Item"]("a").tags,
    lambda c: repr(dataclasses.replace(c["Item"]("a"), size=5)),
    lambda c: dataclasses.asdict(c["Item"]("a", tags={"x": 1})),
    lambda c: [(one.name, one.type, one.default is dataclasses.MISSING) for one in dataclasses.fields(c["Item"])],
    lambda c: dataclasses.is_dataclass(c["Empty"]),
    lambda c: repr(pickle.loads(pickle.dumps(c["Item"]("a", 7)))),
    lambda c: copy.deepcopy(c["Item"]("a", 7)) == c["Item"]("a", 7),
    lambda c: (c["Item"].__match_args__, c["Item"].__slots__, c["Item"].__doc__, c["Item"].__qualname__),
    lambda c: hasattr(c["Item"]("a"), "__dict__"),
]  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_value_is_what_dataclasses_makes_of_it(claim: Callable[[dict[str, Any]], object]) -> None:
    assert claim(OURS) == claim(THEIRS)


def assign(c: dict[str, Any]) -> None:
    c["Item"]("a").size = 4


def delete(c: dict[str, Any]) -> None:
    del c["Item"]("a").size


WRONG: list[Callable[[dict[str, Any]], object]] = [
    assign,
    delete,
    lambda c: c["Item"](),
    lambda c: c["Item"]("a", nothing=1),
    lambda c: c["Item"]("a", 1, {}, 2),
    lambda c: hash(c["Item"]("a")),
    lambda c: hash(c["Counter"]()),
]


@pytest.mark.parametrize("claim", WRONG)
def test_what_dataclasses_refuses_is_refused_in_the_same_words(claim: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises((TypeError, AttributeError)) as theirs:
        claim(THEIRS)
    with pytest.raises(type(theirs.value)) as ours:
        claim(OURS)
    assert str(ours.value) == str(theirs.value)


def test_a_class_that_is_not_frozen_can_be_changed() -> None:
    counter = OURS["Counter"]()
    counter.count += 2
    assert counter == OURS["Counter"](2)


def test_replace_changes_what_is_named_and_keeps_the_rest() -> None:
    replaced: Any = values.replace(OURS["Item"]("a", 4), name="b")
    assert replaced == OURS["Item"]("b", 4)


def test_neither_values_nor_the_model_load_dataclasses() -> None:
    code = "import sys, vendor_tool.model; assert not {'dataclasses', 'inspect'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)
