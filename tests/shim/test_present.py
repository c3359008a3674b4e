"""With the runtime: nothing is loaded before the first use, and everything is real from then on."""

from tests.shim.projects import Project

KERNELS = """
    import tilelang
    import tilelang.language as T

    FP32 = T.float32
    CONFIG = {tilelang.PassConfigKey.FAST: True}
    TABLE = {T.float32: [T.float16], "pair": (T.float32, {"deep": T.bfloat16})}

    def plain(x, d=T.float32, *, e=T.float16) -> T.dtype:
        return d, e

    class Config:
        kind = T.float32

        def method(self, d=T.bfloat16):
            return d

    @tilelang.jit(out_idx=[-1], pass_configs=CONFIG)
    def step(n: int, d=T.bfloat16):
        return T.float32(n), d, FP32

    def call(n, d=T.float16):
        first = step(n)
        return first, d is T.float16, type(d).__name__
    """

FORK = """
pid = os.fork()
if pid == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_nothing_is_loaded_before_the_first_call(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import vendored.k as k
            print("tilelang" in sys.modules, "tvm" in sys.modules)
            print(k.step(3))
            print("tilelang" in sys.modules)
            """
        )
        == "False False\n(('float32', 3), dtype('bfloat16'), dtype('float32'))\nTrue\n"
    )


def test_every_constant_that_escaped_is_the_real_object(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import vendored.k as k
            plain, config, function = k.plain, k.Config, k.Config.method
            k.step(1)
            import tilelang, tilelang.language as T
            print(k.tilelang is tilelang, k.T is T, k.FP32 is T.float32)
            print(type(k.step) is tilelang.Jitted, k.step.pass_configs is k.CONFIG, k.step.defaults == (T.bfloat16,))
            print(list(k.CONFIG) == [tilelang.PassConfigKey.FAST], k.TABLE[T.float32][0] is T.float16)
            print(k.TABLE["pair"][1]["deep"] is T.bfloat16)
            print(k.plain is plain, plain.__defaults__[0] is T.float32, plain.__kwdefaults__["e"] is T.float16)
            print(plain.__annotations__["return"] is T.dtype)
            print(k.Config is config, config.kind is T.float32, config.method is function)
            print(function.__defaults__[0] is T.bfloat16)
            print(k.call(2))
            """
        )
        == "True True True\nTrue True True\nTrue True\nTrue\nTrue True True\nTrue\nTrue True True\nTrue\n"
        "((('float32', 2), dtype('bfloat16'), dtype('float32')), True, 'dtype')\n"
    )


def test_a_default_in_a_running_function_is_real_after_the_first_call_in_it(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert project.run("import vendored.k as k; print(k.call(2)[1:])") == "(True, 'dtype')\n"


def test_the_real_decorator_sees_the_function_of_the_file_once(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import inspect
            import vendored.k as k
            wrapped = k.step.__wrapped__
            k.step(1), k.step(2)
            from tilelang import events
            print(k.step.func is wrapped, k.step.calls, events.seen())
            print(inspect.getsourcefile(k.step.func).endswith("vendored/k.py"), inspect.getsourcelines(k.step.func)[1])
            """
        )
        == "True 2 ['import tilelang', 'jit step']\nTrue 17\n"
    )


def test_what_a_kernel_raises_points_at_the_vendored_file(project: Project) -> None:
    project.runtime()
    project.vendor("k", "import tilelang\n\n@tilelang.jit\ndef step(n):\n    return 1 / n\n")
    done = project.start("import vendored.k as k; k.step(0)")
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert f'File "{project.root}/vendored/k.py", line 5, in step' in done.stderr


def test_an_attribute_of_the_kernel_is_a_first_use(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run("import vendored.k as k; print(k.step.compile(n=2), k.step.out_idx)")
        == "('compiled', 'step', {'n': 2}) [-1]\n"
    )


def test_a_dtype_that_is_called_in_a_function_is_a_first_use(project: Project) -> None:
    project.runtime()
    project.vendor("k", "import tilelang.language as T\n\ndef one():\n    return T.float32(1), T.float16.bits\n")
    assert project.run("import vendored.k as k; print(k.one())") == "(('float32', 1), 16)\n"


def test_side_effects_happen_once_in_the_order_of_the_program(project: Project) -> None:
    project.runtime()
    project.vendor(
        "a",
        """
        import tilelang
        import tilelang.testing
        tilelang.set_log_level("WARNING")
        tilelang.disable_cache()
        tilelang.math.next_power_of_2 = lambda n: -n
        @tilelang.jit
        def first(n): return tilelang.math.next_power_of_2(n)
        """,
    )
    project.vendor("b", "import tilelang.testing\ntilelang.testing.set_random_seed(7)\n")
    assert (
        project.run(
            """
            import vendored.a as a, vendored.b
            print(a.first(5))
            a.first(5)
            from tilelang import events
            print(events.seen())
            """
        )
        == "-5\n['import tilelang', 'log level WARNING', 'disable cache', 'jit first', 'seed 7']\n"
    )


def test_values_that_are_needed_at_import_by_a_builtin_are_put_off(project: Project) -> None:
    project.runtime()
    project.vendor(
        "k",
        """
        import tilelang
        import tilelang.language as T
        TOP = float(T.max_value(T.float16)) * 2
        NEW = tilelang.__version__ >= "0.1.10"
        NAME = f"kernel_{T.float32}_{T.bfloat16}"
        WIDE = {str(T.float16): int(T.float16.bits)}
        HAS = hasattr(tilelang.PassConfigKey, "GONE")

        def ref(x):
            return x / TOP, bool(NEW), bool(HAS), isinstance(x, float), float("2")
        """,
    )
    assert (
        project.run(
            """
            import vendored.k as k
            print(k.ref(448.0))
            print(k.TOP, k.NEW, k.NAME, k.WIDE, k.HAS, "float" in vars(k))
            """
        )
        == "(0.5, True, False, True, 2.0)\n896.0 True kernel_float32_bfloat16 {'float16': 16} False False\n"
    )


def test_a_class_with_a_deferred_base_is_made_by_the_real_metaclass(project: Project) -> None:
    project.runtime()
    project.vendor(
        "k",
        """
        import tilelang

        class Mine(tilelang.Profiler, tag=1):
            "A profiler."
            def run(self):
                return super().run() + "!"
        """,
    )
    assert (
        project.run(
            """
            import vendored.k as k
            print(k.Mine.__name__, k.Mine.__doc__, "tilelang" in sys.modules)
            print(k.Mine().run())
            import tilelang
            print(issubclass(k.Mine, tilelang.Profiler), tilelang.Profiler.registry, k.Mine.__module__)
            """
        )
        == "Mine A profiler. False\nprofiled!\nTrue [('Mine', {'tag': 1})] vendored.k\n"
    )


def test_macros_see_the_real_names_of_the_file(project: Project) -> None:
    project.runtime()
    project.vendor(
        "k",
        """
        import tilelang
        import tilelang.language as T
        SHAPE = [T.float32]

        @T.macro
        def inner(a):
            return T.float32(SHAPE)

        @T.prim_func
        def outer(a):
            inner(a)
        """,
    )
    assert (
        project.run(
            """
            import vendored.k as k
            k.outer.func
            import tilelang.language as T
            print(k.inner.names["T"] is T, k.inner.names["SHAPE"] == [T.float32], type(k.outer.names["inner"]).__name__)
            """
        )
        == "True True Macro\n"
    )


def test_kernels_that_others_hold_become_real_wherever_they_are(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    project.write(
        "vendored/user.py",
        """
        import dataclasses, functools
        from .k import FP32, step
        LIST, TUPLE, PART = [step], (FP32, (step,)), functools.partial(step, d=FP32)

        @dataclasses.dataclass(frozen=True)
        class C:
            d: object = FP32

        class Holder:
            __slots__ = ("kernel",)

        made, holder = C(), Holder()
        holder.kernel = step
        call = (lambda kernel: lambda n: kernel(n))(step)
        """,
    )
    assert (
        project.run(
            """
            import vendored.user as u
            u.call(1)
            import tilelang, tilelang.language as T
            print(u.step is u.LIST[0] is u.TUPLE[1][0] is u.PART.func is u.holder.kernel, type(u.step).__name__)
            print(u.FP32 is u.TUPLE[0] is u.PART.keywords["d"] is u.made.d is u.C().d is T.float32)
            print(u.call.__closure__[0].cell_contents is u.step)
            """
        )
        == "True Jitted\nTrue\nTrue\n"
    )


def test_a_flag_that_an_except_sets_is_true_and_loads_nothing(project: Project) -> None:
    project.runtime()
    project.vendor(
        "k",
        """
        try:
            import tilelang
            from tilelang.utils.target import determine
            HAVE = True
        except ImportError:
            HAVE = False
        try:
            from tilelang.gone import x
        except ImportError:
            x = "not in this version"
        try:
            from tilelang.utils.target import renamed
        except ImportError:
            renamed = "of another name"

        def f():
            return determine()
        """,
    )
    assert (
        project.run("import vendored.k as k; print(k.HAVE, k.x, k.renamed, 'tilelang' in sys.modules, k.f())")
        == "True not in this version of another name False cuda\n"
    )


def test_names_stars_and_the_bundled_module(project: Project) -> None:
    project.runtime()
    project.vendor(
        "k",
        """
        import tilelang
        import tvm
        from tvm.tir import PrimFunc
        from tilelang.autotuner import *

        @autotune(configs=[1])
        @tilelang.jit
        def step(n): return n

        def kind():
            return PrimFunc.__name__, tvm.__name__
        """,
    )
    assert (
        project.run("import vendored.k as k; print(k.kind(), k.step.configs, type(k.step).__name__)")
        == "('PrimFunc', 'tvm') [1] Jitted\n"
    )


def test_a_runtime_that_is_loaded_already_is_used_directly(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run("import tilelang; import vendored.k as k; print(k.tilelang is tilelang, type(k.step).__name__)")
        == "True Jitted\n"
    )


def test_isinstance_with_the_real_class_is_right_before_the_first_call(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run("import vendored.k as k; import tilelang; print(isinstance(k.step, tilelang.Jitted))") == "True\n"
    )


def test_copies_and_pickles_are_those_of_the_real_objects(project: Project) -> None:
    project.runtime()
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import copy, pickle
            import vendored.k as k
            print(pickle.loads(pickle.dumps(k.plain)) is k.plain, "tilelang" in sys.modules)
            print(type(copy.deepcopy({"d": k.FP32})["d"]).__name__, type(pickle.loads(pickle.dumps(k.FP32))).__name__)
            """
        )
        == "True False\ndtype dtype\n"
    )


def test_the_first_call_from_many_threads_loads_once(project: Project) -> None:
    project.runtime({"tilelang/math.py": "import threading\nthreading.Event().wait(0.2)\n"})
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import threading
            import vendored.k as k
            gate, out = threading.Barrier(8), []
            def work(n):
                gate.wait()
                out.append(k.step(n)[0][1])
            threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
            [t.start() for t in threads], [t.join() for t in threads]
            from tilelang import events
            print(sorted(out), events.seen(), k.step.calls)
            """
        )
        == "[0, 1, 2, 3, 4, 5, 6, 7] ['import tilelang', 'jit step'] 8\n"
    )


def test_forked_children_work_before_and_during_the_first_call(project: Project) -> None:
    project.runtime({"tilelang/math.py": "import threading\nthreading.Event().wait(0.2)\n"})
    project.vendor("k", KERNELS)
    assert (
        project.run(
            """
            import os, threading
            import vendored.k as k
            def child():
                pid = os.fork()
                if pid == 0:
                    os._exit(0 if k.step(5)[0] == ("float32", 5) else 1)
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            print(child(), "tilelang" in sys.modules)
            thread = threading.Thread(target=k.step, args=(1,))
            thread.start()
            print(child())
            thread.join()
            print(k.step.calls)
            """
        )
        == "0 False\n0\n1\n"
    )


def test_a_runtime_whose_import_waits_for_a_thread_that_forks_is_loaded(project: Project) -> None:
    fork = """
        import os, threading, warnings
        warnings.simplefilter("ignore")
        found = []
        def child():
            pid = os.fork()
            if pid == 0:
                os._exit(0 if threading._stand_ins.acquire(blocking=False) else 1)
            found.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        thread = threading.Thread(target=child)
        thread.start()
        thread.join()
        """
    project.runtime({"tilelang/math.py": fork})
    project.vendor("k", KERNELS)
    said = project.run(
        "import vendored.k as k\nk.step(1)\nimport os, tilelang.math\nprint(tilelang.math.found)\n" + FORK
    )
    assert said == "[0]\n0\n"


def test_a_private_name_of_the_runtime_is_not_one_of_the_stand_in(project: Project) -> None:
    project.runtime({"tilelang/_version.py": "TEXT = 'of the runtime'\n", "tilelang/_os.py": "TEXT = 'system'\n"})
    project.vendor(
        "k", "from tilelang import _version, _os\nimport tilelang\n\ndef texts(): return _version.TEXT, _os.TEXT\n"
    )
    assert project.run("import vendored.k as k\nprint(k.texts())") == "('of the runtime', 'system')\n"


def test_what_the_unmodified_file_would_raise_at_import_is_raised_by_every_call(project: Project) -> None:
    project.runtime()
    project.vendor(
        "bad", "import tilelang\nX = {tilelang.PassConfigKey.GONE: 1}\n\n@tilelang.jit\ndef step(n): return n\n"
    )
    project.vendor("good", "import tilelang\n\n@tilelang.jit\ndef step(n): return n\n")
    assert (
        project.run(
            """
            import vendored.bad as bad, vendored.good as good
            print(good.step(1))
            for _ in range(2):
                try:
                    bad.step(1)
                except AttributeError as error:
                    print("GONE" in str(error), sys.version_info < (3, 11) or error.__notes__[0].endswith("vendored/bad.py, line 2"))
            """
        )
        == "1\nTrue True\nTrue True\n"
    )


def test_a_name_that_the_installed_version_lacks_is_the_import_error_of_the_original(project: Project) -> None:
    project.runtime()
    project.vendor("k", "import tilelang\nfrom tilelang.utils import gone\n\n@tilelang.jit\ndef step(n): return n\n")
    done = project.start("import vendored.k as k; k.step(1)")
    assert "ImportError: cannot import name 'gone' from 'tilelang.utils'" in done.stderr


def test_two_stand_ins_in_one_file(project: Project) -> None:
    from vendor_tool.model import At, Context, Shim, ShimSpec, Source
    from vendor_tool.transform import shim

    project.runtime()
    project.write("site/triton/__init__.py", "def jit(f):\n    return ('triton', f)\n\n\nclass Config:\n    pass\n")
    specs = {name: ShimSpec(name, f"vendored/_{name}.py", At(1, 1)) for name in ("tilelang", "triton")}
    text = b"import tilelang, triton\n\n@triton.jit\n@tilelang.jit(out_idx=[triton.Config])\ndef step(n): return n\n"
    source = Source("k.py", "vendored/k.py", "", text)
    change = shim.apply(source, Shim(tuple(specs)), Context("up", {}, frozenset(), specs))
    project.write("vendored/k.py", change.data.decode())
    for spec in specs.values():
        project.write(spec.to, shim.render(spec).decode())
    assert (
        project.run(
            """
            import vendored.k as k
            print(sorted({"triton", "tilelang"} & sys.modules.keys()))
            kind, jitted = k.step[0], k.step[1]
            import triton
            print(kind, jitted(4), jitted.out_idx[0] is triton.Config)
            """
        )
        == "[]\ntriton 4 True\n"
    )


def test_attributes_that_a_library_looks_for_at_import_need_not_exist(project: Project) -> None:
    project.runtime()
    project.write("library.py", "def look(value):\n    return getattr(value, '_maybe', None)\n")
    project.vendor(
        "k", "import library\nimport tilelang\nlibrary.look(tilelang.jit)\n\n@tilelang.jit\ndef step(n): return n\n"
    )
    assert project.run("import vendored.k as k; print(k.step(1))") == "1\n"


def test_annotations_are_made_of_the_real_types_as_typing_would(project: Project) -> None:
    project.runtime(
        {
            "tilelang/language.py": "class dtype(str):\n    pass\n\n\nfloat32 = dtype('float32')\nclass Buffer:\n    pass\n"
        }
    )
    text = """
        import typing
        import tilelang.language as T
        from typing import Callable, Optional, Union

        def f(a: Optional[T.Buffer], b: Union[T.float32, int], c: list[T.Buffer], d: typing.List[T.Buffer],
              e: "T.Buffer", g: Callable[[T.Buffer], int], h: dict[str, Union[T.Buffer, None]]): ...
        """
    project.vendor("k", text)
    project.write("original.py", text)
    assert (
        project.run(
            """
            import vendored.k as k
            k.T.float32.upper()
            import original
            print(k.f.__annotations__ == original.f.__annotations__, k.f.__annotations__["b"])
            """
        )
        == "True typing.Union[ForwardRef('float32'), int]\n"
    )
