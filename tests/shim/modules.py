"""Small modules, each with one way to use a runtime; `probe` tells what it finds, before the first use and after it.

Texts and `type` ask nobody: where `probe` is about them, it makes the first use itself.
"""

HEAD = """
import tilelang
import tilelang.language as T
from tilelang import PassConfigKey as K
"""

MODULES = {
    "many threads first": """
        import threading
        @tilelang.jit
        def k(n): return n, T.float16
        def probe():
            out=[]
            ts=[threading.Thread(target=lambda i=i: out.append(k(i))) for i in range(20)]
            [t.start() for t in ts]; [t.join() for t in ts]
            return sorted(map(str,out)), k.calls
        """,
    "getattr of a module": """
        __all__ = ["k", "F"]
        F = T.float16
        @tilelang.jit
        def k(n): return n
        def __getattr__(name):
            if name == "dyn": return T.bfloat16
            raise AttributeError(name)
        def probe():
            import importlib; m = importlib.import_module(__name__)
            return m.dyn, F("x"), k(1)
        """,
    "a generator": """
        def gen(d=T.float16):
            yield d.bits
            yield d
            yield d == T.float16
        def probe(): return list(gen())
        """,
    "a closure": """
        def outer(d=T.float16):
            x = d
            def inner():
                nonlocal x
                y = x("v"); x = T.float32
                return y, x, x == d
            return inner
        I = outer()
        def probe(): return I(), I()
        """,
    "data classes": """
        import dataclasses
        from dataclasses import dataclass, field
        @dataclass
        class Cfg:
            d: T.dtype = T.float16
            keys: dict = field(default_factory=lambda: {K.FAST: 1})
            n: int = T.float16.bits
        @dataclass(frozen=True)
        class Fz:
            d: object = T.float32
            t: tuple = (T.float16, [T.float32])
        INST = Fz(); INST2 = Fz(T.bfloat16)
        REP = dataclasses.replace(INST, d=T.float16)
        def probe(): return Cfg(), dataclasses.asdict(Cfg()), INST, REP, hash(INST2) == hash(Fz(T.bfloat16)) if False else 1, Cfg() == Cfg(), [f.default for f in dataclasses.fields(Fz)], Cfg.__init__.__defaults__
        """,
    "a kernel with a name of text": """
        def make(d=T.float16):
            @tilelang.jit
            def k(n): return n
            k.__name__ = f"k_{d}"
            return k
        def plain(n): return n
        plain.__name__ = f"p_{T.float16}"; plain.__qualname__ = f"Q.{T.float32}"
        KK = make()
        def probe(): return KK.__name__, plain.__name__, plain.__qualname__, KK(2)
        """,
    "a number beside other uses of its type": """
        TOP = int(T.float16.bits)
        def kind(x):
            match x:
                case int(): return "int"
                case _: return "other"
        def early(x: int | None = None): return x
        SEEN = kind(3), isinstance(3, int | float), type(3) is int, str(early.__annotations__)
        def probe(): return T.float16.bits, TOP, type(TOP) is int, SEEN, kind("x")
        """,
    "a tuple of a class with another constructor": """
        class Shape(tuple):
            def __new__(cls, *dims):
                return super().__new__(cls, dims)
        S = Shape(T.float32, 4)
        S.note = "kept"
        def probe(): return S, len(S), type(S).__name__, S.note
        """,
    "a union of a list": """
        def typed(x: list[T.dtype] | None = None): return x
        def probe(): return typed.__annotations__["x"] == (list[T.dtype] | None)
        """,
    "a dict that cannot be cleared": """
        class Table(dict):
            def clear(self): raise TypeError("read only")
            def __setitem__(self, key, value): raise TypeError("read only")
        @tilelang.jit
        def k(n): return n
        BY = Table({k: T.float32})
        LISTS = [Table(a=T.float16)]
        def probe(): return k(1), BY[k], list(BY) == [k], LISTS[0]["a"]
        """,
    "tables with weak keys and values": """
        import weakref
        @tilelang.jit
        def k(n): return n
        KEYS = weakref.WeakKeyDictionary({k: "key"}); VALUES = weakref.WeakValueDictionary({"v": k}); SET = weakref.WeakSet([k])
        def probe(): return k(1), KEYS[k], VALUES["v"] is k, k in SET, len(KEYS), len(VALUES), len(SET)
        """,
    "names made by getattr": """
        for d in ("float16", "float32"):
            globals()[f"X_{d}"] = getattr(T, d)
        def probe(): return X_float16, X_float32.bits
        """,
    "text in attributes": """
        class S:
            def __init__(self, n): self.n = n; self.d = {"x": [n]}
        A = S(f"a {T.float16}")
        B = {"k": S(f"b {T.float32}"), f"key {T.float16}": 1}
        def probe(): T.float16.bits; return A.n, A.d, B["k"].n, [x for x in B if isinstance(x, str)]
        """,
    "slots": """
        class S:
            __slots__ = ("d", "t")
            def __init__(self, d=T.float16): self.d = d; self.t = (d, f"{d}")
        A = S(); B = [S(T.float32)]
        def probe(): T.float16.bits; return A.d, A.t, B[0].d, B[0].t
        """,
    "slots that are read before the first use": """
        class S:
            __slots__ = ("d", "t")
            def __init__(self, d=T.float16): self.d = d; self.t = [d]
        A = S(); B = [S(T.float32)]
        def probe(): return A.d, A.t, B[0].d == "float32", A.d == B[0].d
        """,
    "built-in names that a star replaces": """
        from tilelang.language import *
        SIZE = len([1, 2])
        WIDE = float(4)
        TOP = max(1, 2)
        @tilelang.jit
        def k(n: float, d=min(3, 4)): return max(n, d), int(n), len("ab")
        def probe(): return SIZE, WIDE, TOP, k(5), max_value(float16), k.defaults
        """,
    "two stars, where one brings all": """
        from tilelang.autotuner import *
        from tilelang.language import *
        def probe(): return max(1, 2), len("ab")
        """,
    "flags that other names of suppress answer": """
        import contextlib as c
        from contextlib import suppress as quiet
        HAVE = GONE = OLD = False
        with quiet(ImportError):
            from tilelang.utils.target import determine
            HAVE = True
        NOTHING = c.suppress(ImportError)
        with NOTHING:
            from tilelang.gone import x
            GONE = True
        ERRORS = (ImportError, KeyError)
        try:
            from tilelang.utils.target import renamed
            OLD = True
        except ERRORS: pass
        def probe(): return HAVE, GONE, OLD, determine()
        """,
    "the identity of attributes of the runtime": """
        def same(n):
            from tilelang import language as L
            d = L.float16 if n else L.float32
            return L.float16 is T.float16, d is T.float16, T.float is T.float32
        def probe(): return same(0), same(1)
        """,
    "a bounded type variable": """
        from typing import Generic, TypeVar
        D = TypeVar("D", T.dtype, str)
        class Box(Generic[D]):
            def __init__(self, d: D): self.d = d
        BOX = Box(T.float16)
        def probe(): return BOX.d == "float16", Box("x").d, D.__constraints__[1]
        """,
    "a test that a mark decorates": """
        import tilelang.testing
        N = 8
        @tilelang.testing.requires_cuda
        def test(): return N
        N = 4
        def probe(): return test(), test.needs_cuda
        """,
    "registries": """
        REG = {}
        def register(name):
            def deco(fn):
                REG[name] = fn; return fn
            return deco
        @register("a")
        @tilelang.jit
        def a(n): return n
        @register("b")
        class B(tilelang.Profiler): x = T.float16
        LIST = [a, B]; T2 = (a, (B, [a])); FS = frozenset([T.float16])
        def probe(): a(1); return REG["a"] is a, REG["b"] is B, LIST[0] is a, T2[1][1][0] is a, type(a).__name__, B().x, issubclass(B, tilelang.Profiler), FS
        """,
    "a class with keywords and super": """
        class P(tilelang.Profiler, fast=True):
            '''doc'''
            n = T.float16
            def run(self): return "p" + super().run()
            def __repr__(self): return f"P({self.n})"
        class Q(P):
            def run(self): return "q" + super().run()
            class Inner: d = T.float32
        INST = Q()
        RUN = INST.run
        def probe(): return INST, RUN(), Q.Inner.d, P.__doc__, Q.__mro__, P.__module__, tilelang.Profiler.registry
        """,
    "a class with two bases": """
        import abc
        class Mixin:
            def hi(self): return "hi"
        class P(Mixin, tilelang.Profiler): pass
        class G(tilelang.Profiler, Mixin): pass
        def probe(): return P().hi(), G().run(), P.__bases__, isinstance(G(), Mixin)
        """,
    "an abstract class": """
        import abc
        class P(tilelang.Profiler, abc.ABC):
            @abc.abstractmethod
            def f(self): ...
        def probe(): return P.__abstractmethods__
        """,
    "a class that is ordered": """
        import functools
        @functools.total_ordering
        class P(tilelang.Profiler):
            def __init__(self, n): self.n = n
            def __eq__(self, o): return self.n == o.n
            def __lt__(self, o): return self.n < o.n
        def probe(): return P(1) >= P(0), P(1) <= P(0)
        """,
    "a data class with a deferred base": """
        from dataclasses import dataclass as dc, field, fields
        @dc(order=True)
        class P(tilelang.Profiler):
            a: int = 1
            b: list = field(default_factory=list)
        def names(): return [f.name for f in fields(P)]
        def probe(): return names(), P(2, [1]), P(1) < P(2)
        """,
    "branches that choose definitions": """
        if hasattr(K, "NOPE"):
            PASS = {K.NOPE: True}
        else:
            # a comment: else
            PASS = {K.SAFE: T.float16}
        if getattr(tilelang, "flag", None) is None: tilelang.flag = T.float16
        @tilelang.jit(pass_configs=PASS)
        def k(n): return n
        def probe(): return k.pass_configs, PASS, tilelang.flag
        """,
    "branches that import": """
        if tilelang.__version__ >= "0.1.11":
            from tilelang.math import next_power_of_2 as np2
            ALIAS = T.float16
        else:
            from tilelang.utils.target import determine as np2
            ALIAS = T.float32
        NP = np2
        def probe(): return np2(5), ALIAS, NP(9)
        """,
    "text that is joined": """
        J = "-".join([str(T.float16), str(T.float32)])
        J2 = "%s/%s" % (T.float16, T.float32)
        J3 = "{}:{}".format(T.float16, 3)
        J4 = "a" "b" + str(T.float16)
        def probe(): T.float16.bits; return J, J2, J3, J4
        """,
    "augmented assignment": """
        N = 1
        N += T.float16.bits
        N *= 2
        LST = [T.float16]; LST += [T.float32]
        E = tilelang.events.seen()
        E += [1]
        def probe(): return N, LST, E[-1]
        """,
    "deletion": """
        tilelang.tmp = 1
        del tilelang.tmp
        X = T.float16
        del X
        def probe(): return hasattr(tilelang, "tmp"), "X" in globals()
        """,
    "items of the runtime": """
        tilelang.TABLE = {}
        tilelang.TABLE["a"] = T.float16
        tilelang.TABLE["b"] = tilelang.TABLE["a"].bits + 1
        del tilelang.TABLE["a"]
        def probe(): return tilelang.TABLE
        """,
    "a patched decorator": """
        OLD = tilelang.jit
        def jit(*a, **k):
            tilelang.events.append("patched"); return OLD(*a, **k)
        tilelang.jit = jit
        @tilelang.jit
        def k(n): return n
        def probe(): return k(1), "patched" in tilelang.events.seen(), tilelang.jit is jit
        """,
    "lambdas": """
        f = lambda d=T.float16, *, e=T.float32: (d, e)
        g = [lambda d=d: d for d in (T.float16, T.float32)]
        def probe(): return f(), [x() for x in g]
        """,
    "comprehensions": """
        A = [T.float16 for _ in range(2)]
        B = {n: getattr(T, n) for n in ("float16", "float32")}
        C2 = {getattr(T, n) for n in ("float16", "float32")}
        G = tuple(getattr(T, n).bits for n in ("float16",))
        def probe(): return A, B, sorted(map(str, C2)), G
        """,
    "imports in functions": """
        def f():
            from tilelang import jit, language as L
            import tilelang.utils.target as tgt
            import tilelang.testing
            from tilelang.autotuner import autotune
            return L.float16, tgt.determine(), jit.__name__, autotune.__name__, tilelang.testing.requires_cuda.__name__
        def probe(): return f()
        """,
    "a context manager": """
        import contextlib
        @contextlib.contextmanager
        def cm(d=T.float16): yield d.bits
        def probe():
            with cm() as b: return b
        """,
    "function tools": """
        import functools, operator
        @functools.lru_cache(None)
        def c(d=T.float16): return d.bits
        @functools.singledispatch
        def sd(x): return "obj"
        @sd.register(int)
        def _(x): return "int"
        PP = functools.partial(c, T.float32)
        PM = functools.reduce(operator.add, [T.float16.bits, 1])
        cp = property(lambda self: T.float16)
        class Z:
            p = cp
            @functools.cached_property
            def q(self): return T.float32
        def probe(): return c(), PP(), PM, Z().p, Z().q, sd(3)
        """,
    "enumerations": """
        import enum
        class E(enum.Enum):
            A = 1
            @property
            def d(self): return T.float16
        MAP = {E.A: T.float32}
        def probe(): return E.A.d, MAP[E.A]
        """,
    "equality": """
        def f(d=T.float16):
            return d == "float16", d != T.float32, d in ("float16", 1), [d].index("float16"), {d: 1}.get("float16")
        def probe(): return f()
        """,
    "a table that is looked up by text": """
        TB = {T.float16: 1}
        def probe(): return TB.get("float16"), "float16" in TB
        """,
    "a table that is looked up by a real value": """
        TB = {T.float16: 1}
        def look(d): return TB[d]
        def probe():
            import sys
            from importlib import import_module
            return look(import_module("tilelang.language").float16)
        """,
    "attributes of a kernel": """
        @tilelang.jit
        def k(n): return n
        k.tag = T.float16
        k.fn = lambda: k.tag
        setattr(k, "other", 5)
        def probe(): return k.tag, k.fn(), k.other
        """,
    "what inspect shows": """
        import inspect
        @tilelang.jit(out_idx=[0])
        def k(n: int, d=T.float16) -> int:
            "the doc"
            return n
        def probe(): return str(inspect.signature(k.func)), inspect.getdoc(k.func), inspect.getsource(k.func)
        """,
    "copies at import": """
        import copy
        tilelang.DEFAULTS = {"a": [1]}
        MINE = copy.deepcopy(tilelang.DEFAULTS)
        MINE["a"] = 2
        SH = copy.copy(tilelang.DEFAULTS); SH["z"] = 1
        NEST = copy.deepcopy({"x": {K.FAST: T.float16}})
        NEST["x"].pop(K.FAST)
        def probe(): return tilelang.DEFAULTS, MINE, SH, NEST
        """,
    "objects that answer for every name": """
        import types
        class Lazy(types.ModuleType):
            def __getattr__(self, name): raise ModuleNotFoundError(self.__name__, name=self.__name__)
        class Options(dict):
            __getattr__ = dict.__getitem__
        flash = Lazy("flash")
        OPTIONS = Options(block=64, dtype=T.float16)
        @tilelang.jit
        def k(n): return n
        def probe(): return k(1), OPTIONS.block, OPTIONS.dtype
        """,
    "text of what holds a value": """
        import dataclasses
        @dataclasses.dataclass
        class Config:
            dtype: object = T.float16
        CONFIG, PAIR = Config(), (T.float32, 64)
        def probe(): return repr(CONFIG), f"{PAIR}", "%r" % (T.bfloat16,), "float16" in dir(T)
        """,
}
