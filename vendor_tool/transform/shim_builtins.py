"""What the built-in functions of Python ask of a value that is not known yet."""

from collections.abc import Mapping

RECORDABLE = frozenset({"float", "int", "abs", "round", "max", "min", "len", "bool", "hasattr", "getattr"})
"""Built-in functions whose stand-ins write the call down."""

LOADED = "_loaded"
"""What a statement that is put off asks first."""

KEYED = "_keyed"
"""What makes a deferred value of a table whose keys are not known yet."""

KEEPS_TEXT = frozenset({"str", "dict", "list", "tuple", "append", "add", "extend", "setdefault", "update", "insert"})
"""Functions and methods that only store the text that they get."""

LOOKS: Mapping[str, tuple[str, ...]] = {"dataclasses": ("dataclass",), "functools": ("total_ordering",)}
"""Decorators by module that look into the class that they get; their stand-ins write the call down as well."""

PURE = frozenset(
    {*RECORDABLE, "str", "isinstance", "tuple", "list", "dict", "set", "frozenset", "any", "all", "sorted", "sum"}
)
"""Built-in functions that give the same whenever they are called."""

NEED_VALUES: Mapping[str, str] = {
    "float": "the number",
    "int": "the number",
    "bool": "the truth",
    "len": "the length",
    "iter": "the items",
    "list": "the items",
    "tuple": "the items",
    "set": "the items",
    "dict": "the items",
    "sorted": "the items",
    "sum": "the items",
    "any": "the items",
    "all": "the items",
    "enumerate": "the items",
    "zip": "the items",
    "map": "the items",
    "range": "the number",
    "isinstance": "the type",
    "issubclass": "the type",
    "type": "the type",
    "callable": "the type",
    "vars": "the attributes",
    "dir": "the attributes",
}
"""Built-in functions that cannot answer without the value, and what of it they need."""
