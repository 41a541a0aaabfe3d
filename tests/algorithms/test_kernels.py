"""Compiled loops: both forms agree, nobody waits for small inputs, and what is stored is sound."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from clew import deadline
from clew.algorithms.kernels import bags, compiled, compiler, machine_code, postings, sums
from clew.algorithms.kernels.compiled import Kernel, compile_first, finish_compiling

HERE = Path(__file__).parents[2]


def count_pairs(n, found):
    """A loop that takes a while as plain Python."""
    total = 0
    for i in range(n):
        found[0] = i
        for j in range(n):
            if (i * j) % 7 == 3:
                total += 1
    return total


def new_kernel(**options):
    """A kernel that no other test has called."""
    return Kernel(count_pairs, None, options)


def test_products_and_totals_are_the_same_both_ways_and_right(folder):
    rng = np.random.default_rng(0)
    for d in (1, 3, 24, 384):
        vectors = rng.standard_normal((20, d))
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        one, other = vectors[0], vectors[1]
        plain, loop = sums.product.plain(one, other), sums.product.function(one, other)
        with compile_first():
            by_machine = sums.product(one, other)
        assert plain == loop == by_machine
        assert plain == pytest.approx(one.astype(float) @ other.astype(float), abs=1e-7)
    values = rng.standard_normal(1000)
    with compile_first():
        assert sums.total_of(values) == sums.total_of.plain(values) == np.cumsum(values)[-1]


def test_the_compiler_leaves_the_filters_of_warnings_alone(folder, monkeypatch):
    monkeypatch.setattr(compiled, "PATIENCE", 0.1)
    kernel, seen = new_kernel(), set()
    filters, show = warnings.filters, warnings.showwarning
    waiting = threading.Thread(target=lambda: kernel(3000, np.zeros(1, np.int64)))
    waiting.start()
    while waiting.is_alive():
        seen.add(warnings.filters is filters and warnings.showwarning is show)
    assert kernel.dispatcher is not None
    assert seen == {True}


class Named(NamedTuple):
    """What a loop returns by name."""

    count: int
    total: float


def named(n):
    return Named(n, n * 0.5)


def test_a_named_result_stays_named_both_ways(folder):
    kernel = Kernel(named, None, {})
    plain = kernel.call_unprepared(3)
    with compile_first():
        by_machine = kernel(3)
    assert plain._asdict() == by_machine._asdict() == {"count": 3, "total": 1.5}


def sums_by_row(starts, values, problem, order):
    """A loop in the form that lists run as well."""
    n = len(starts) - 1
    totals, largest, before = np.zeros(n), np.full(n, -1), np.zeros((2, n), np.bool_)
    for row in order:
        before[1][:] = before[0]
        for value in values[starts[row] : starts[row + 1]]:
            totals[row] += value * problem.total
            largest[row] = max(largest[row], int(value))
        before[0][row] = True
    return totals, largest, before[1], problem.count


def test_a_loop_on_lists_gives_what_arrays_give(folder):
    kernel = Kernel(sums_by_row, None, {}, (np.float64, np.int64, np.bool_, None))
    starts, values = np.array([0, 2, 2, 5]), np.array([0.1, 7.3, 1.1, 2.2, 3.3])
    arguments = starts, values, Named(3, 0.7), np.array([2, 0, 1])
    plain, by_arrays = kernel.call_unprepared(*arguments), sums_by_row(*arguments)
    with compile_first():
        by_machine = kernel(*arguments)
    for results in (plain, by_machine):
        assert [np.asarray(one).tobytes() for one in results] == [
            np.asarray(one).tobytes() for one in by_arrays
        ]
        assert [one.dtype for one in results[:3]] == [one.dtype for one in by_arrays[:3]]
    with pytest.raises(TypeError, match="float32"):
        kernel.plain(starts, values.astype(np.float32), Named(3, 0.7), starts)


def test_machine_code_of_several_processes_is_right_in_one(tmp_path):
    """numba sorts by value and by place with functions of one name, and counts them.

    Those of two processes must not have the same numbers. These would have, in numba 0.68, where
    three other loops are made before that which sorts by value.
    """
    (tmp_path / "sorts.py").write_text("""
import sys
import numpy as np
from clew.algorithms.kernels.compiled import compile_first, compiled

@compiled
def first(values):
    return values[0]

@compiled
def last(values):
    return values[-1]

@compiled
def count(values):
    return len(values)

@compiled
def by_value(values):
    return np.sort(values)

@compiled
def by_place(values):
    return np.argsort(values)

values = np.random.default_rng(0).permutation(1000)
with compile_first():
    for name in sys.argv[1:]:
        found, right = globals()[name](values), globals()[name].function(values)
        print(name, bool(np.all(found == right)))
""")
    several = ["first", "last", "count", "by_value"]
    for names in (several, ["by_place"], ["by_value", "by_place"], ["by_place", "by_value"]):
        done = subprocess.run(
            [sys.executable, tmp_path / "sorts.py", *names],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        assert done.stdout == "".join(f"{name} True\n" for name in names)
    assert len([*tmp_path.glob("clew/*.machine-code")]) == 5, "what was stored was loaded"


def test_a_small_call_waits_for_nobody_and_imports_no_compiler(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from clew.algorithms.kernels.heap import find_root\n"
        "print(find_root(np.array([0, 0, 1]), 2), 'numba' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert done.stdout == "0 False\n"


def test_machine_code_that_is_stored_is_loaded_when_loops_have_taken_a_while(tmp_path):
    """A process that asks one small question does not import numba, which takes longer."""
    code = """
import sys, time
import numpy as np
from clew.algorithms.kernels import compiler
from clew.algorithms.kernels.compiled import compile_first
from clew.algorithms.kernels.heap import find_root
parents = np.array([0, 0, 1])
if "store" in sys.argv:
    with compile_first():
        find_root(parents, 2)
else:
    find_root(parents, 2)
    (request,) = compiler._COMPILER.requests.values()
    thread = compiler._COMPILER.thread
    thread.join(0.5)
    print(request.is_stored, thread.is_alive(), "numba" in sys.modules)
    compiler.count(request, 2 * compiler.LOAD_AFTER)
    deadline = time.monotonic() + 60
    while not request.is_ready and time.monotonic() < deadline:
        thread.join(0.05)
    print(request.is_ready)
"""
    for argument in ("store", "load"):
        done = subprocess.run(
            [sys.executable, "-c", code, argument],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        )
    assert done.stdout == "True True False\nTrue\n"


def test_short_calls_do_not_wait_for_machine_code_that_is_stored_and_long_ones_do(
    folder, monkeypatch
):
    waits = []

    def wait(request, _):
        waits.append(request.kernel)
        request.failed = True  # so the call is done as plain Python

    monkeypatch.setattr(compiler, "wait", wait)
    short, long = Kernel(named, None, {}), new_kernel()
    for kernel, arguments in ((short, (3,)), (long, (3000, np.zeros(1, np.int64)))):
        request = compiler.request(kernel, arguments)
        request.is_stored = True
        request.plain_seconds = 0.0 if kernel is long else 0.9 * compiled.PATIENCE_IF_STORED
        assert kernel.call_unprepared(*arguments)
    assert waits == [long]
    compiler.request(short, (3,)).plain_seconds = 1.1 * compiled.PATIENCE_IF_STORED
    short.call_unprepared(3)
    assert waits == [long, short], "by now it would have been loaded"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for machine code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for memory in (machine_code.find_folder, machine_code._stored_prefixes):
        memory.cache_clear()
    yield tmp_path / "clew"
    monkeypatch.undo()
    for memory in (machine_code.find_folder, machine_code._stored_prefixes):
        memory.cache_clear()


def test_a_version_is_known_where_packages_have_no_metadata(monkeypatch):
    """As in a frozen program."""
    packages = ("numba", "llvmlite")
    known = [version(package) for package in packages]

    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(machine_code, "version", missing)
    assert [machine_code._version_of(package) for package in packages] == known


def test_a_call_that_goes_on_is_begun_anew_as_machine_code(folder, monkeypatch):
    monkeypatch.setattr(compiled, "PATIENCE", 0.1)
    kernel, found = new_kernel(), np.zeros(1, np.int64)
    n = 3000  # nine million steps: most of a second as plain Python
    expected = sum((i * j) % 7 == 3 for i in range(7) for j in range(7)) * (n // 7) ** 2
    rest = n - n // 7 * 7
    expected += 2 * (n // 7) * sum((i * j) % 7 == 3 for i in range(7) for j in range(rest))
    expected += sum((i * j) % 7 == 3 for i in range(rest) for j in range(rest))
    assert kernel(n, found) == expected
    assert kernel.dispatcher is not None
    assert found.tolist() == [n - 1]


def test_at_the_deadline_a_call_ends_and_its_arguments_are_as_before(folder):
    kernel, found = new_kernel(nogil=True), np.array([-5])
    with deadline.within(0.2), pytest.raises(deadline.OutOfTime):
        kernel(100_000, found)
    assert found.tolist() == [-5]
    assert kernel(10, found) == kernel.function(10, found)


def test_a_keyboard_interrupt_leaves_the_arguments_as_before_and_the_next_call_works(
    folder, monkeypatch
):
    kernel, found = new_kernel(boundscheck=True), np.array([-5])

    here = threading.current_thread()

    def interrupt():
        if found[0] > 100 and threading.current_thread() is here:  # the compiler asks, too
            raise KeyboardInterrupt
        return time.monotonic_ns() * 1e-9

    monkeypatch.setattr(compiled.time, "monotonic", interrupt)
    with pytest.raises(KeyboardInterrupt):
        kernel(1000, found)
    monkeypatch.undo()
    assert found.tolist() == [-5]
    assert kernel(4, found) == 2  # 1 * 3 and 3 * 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_call_gets_its_machine_code_where_the_thread_of_the_compiler_has_died(monkeypatch):
    take, died = compiler._Compiler.take, []

    def die_once(self):
        if not died:
            died.append(threading.current_thread())
            raise MemoryError
        return take(self)

    finish_compiling()
    while compiler._COMPILER.thread is not None:
        time.sleep(0.01)
    monkeypatch.setattr(compiler._Compiler, "take", die_once)
    kernel, found = new_kernel(), np.zeros(1, np.int64)
    with compile_first():
        assert kernel(9, found) == kernel.function(9, found)
    assert len(died) == 1
    assert kernel.dispatcher is not None


def test_what_is_stored_is_loaded_and_what_is_damaged_is_made_anew(folder):
    finish_compiling()  # what other tests have asked for is not stored while this looks
    found = np.zeros(1, np.int64)
    kernel = new_kernel(error_model="numpy")
    assert machine_code.has_some(kernel) is False
    with compile_first():
        assert kernel(9, found) == kernel.function(9, found)
    (file,) = folder.glob(f"{machine_code._prefix(kernel)}*")
    assert machine_code.has_some(kernel) is False  # as of the start of the process
    stored = file.read_bytes()
    for content in (stored[:-1], stored[:40], b"", b"\0" * len(stored)):
        file.write_bytes(content)
        again = new_kernel(error_model="numpy")
        with compile_first():
            assert again(9, found) == kernel.function(9, found)
        assert abs(len(file.read_bytes()) - len(stored)) < 100  # names in it are numbered
        assert [one.suffix for one in folder.iterdir()] == [".machine-code"] * len(
            [*folder.iterdir()]
        )


def test_every_change_of_a_loop_changes_the_name_of_its_file():
    kernels = [
        new_kernel(),
        new_kernel(nogil=True),
        Kernel(lambda n, found: n, None, {}),
        Kernel(lambda n, found: n + 1, None, {}),
        Kernel(lambda n, found: n + machine_code.DIGEST_BYTES, None, {}),
    ]
    assert len({machine_code._digest(kernel) for kernel in kernels}) == len(kernels)
    assert machine_code._digest(new_kernel()) == machine_code._digest(kernels[0])


def test_a_folder_that_cannot_be_written_is_passed_over(tmp_path, monkeypatch, caplog):
    file = tmp_path / "file"
    file.write_text("no folder")
    cache = tmp_path / "cache"
    monkeypatch.setattr(machine_code, "_folders", lambda: iter([file / "a", cache]))
    machine_code.find_folder.cache_clear()
    assert machine_code.find_folder() == cache
    monkeypatch.setattr(machine_code, "_folders", lambda: iter([file / "a"]))
    machine_code.find_folder.cache_clear()
    assert machine_code.find_folder() is None
    assert "NUMBA_CACHE_DIR" in caplog.text
    machine_code.find_folder.cache_clear()


def test_a_file_that_another_process_reads_on_windows_stays_and_nothing_is_left_over(
    tmp_path, monkeypatch, caplog
):
    def refuse(file, target):
        raise PermissionError(errno.EACCES, "it is open", str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    file = tmp_path / "loop.machine-code"
    file.write_bytes(b"the same")
    machine_code._write(file, b"the same")
    assert caplog.messages == []
    machine_code._write(tmp_path / "other.machine-code", b"more")
    assert len(caplog.messages) == 1
    assert [one.name for one in tmp_path.iterdir()] == [file.name]


def test_a_loop_that_does_not_compile_says_so_and_runs_on(folder, caplog):
    def mixed(text):
        return [text, 1]

    with compile_first():
        assert Kernel(mixed, None, {})("a") == ["a", 1]
    assert "stays uncompiled" in caplog.text


def test_other_types_are_answered_as_well_once_there_is_machine_code(folder):
    kernel = new_kernel(boundscheck=False)
    with compile_first():
        first = kernel(9, np.zeros(1, np.int64))
    assert kernel(9, np.zeros(1)) == kernel(9, np.zeros(2)[::2]) == first
    with compile_first():
        assert kernel(9, np.zeros(1)) == first
    assert len(kernel.dispatcher.signatures) == 2


def test_threads_that_call_at_once_get_the_same_answers(folder):
    kernel = new_kernel(fastmath=False, nogil=True)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: kernel(n, np.zeros(1, np.int64)), [50] * 40))
    finish_compiling()
    assert {*answers, kernel(50, np.zeros(1, np.int64))} == {kernel.function(50, np.zeros(1))}


def test_work_that_nobody_waits_for_may_never_start(folder, monkeypatch):
    finish_compiling()
    while any(thread.name == "clew compiler" for thread in threading.enumerate()):
        time.sleep(0.01)
    monkeypatch.setattr(compiler, "START_DELAY", float("inf"))
    kernel = new_kernel(nogil=True, fastmath=False, error_model="numpy")
    kernel(3, np.zeros(1, np.int64))
    thread = compiler._COMPILER.thread
    thread.join(0.2)
    assert thread.is_alive()
    finish_compiling()
    assert kernel.is_ready(3, np.zeros(1, np.int64))


def test_the_compiler_s_thread_ends_when_nothing_is_left(folder):
    kernel = new_kernel(nogil=True, error_model="numpy")
    kernel(3, np.zeros(1, np.int64))
    finish_compiling()
    until = time.monotonic() + 30
    while any(thread.name == "clew compiler" for thread in threading.enumerate()):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert compiler._COMPILER.thread is None


OUTPUT = """
import sys, types
class Watched(types.ModuleType):
    def __setattr__(self, name, value):
        if name == "stdout":
            raise AssertionError("the compiler replaced sys.stdout")
        super().__setattr__(name, value)
sys.__class__ = Watched
import numpy as np
from clew.algorithms.kernels.heap import find_root
from clew.algorithms.kernels.compiled import compile_first
with compile_first():
    print(find_root(np.array([0, 0, 1]), 2), "numba" in sys.modules, find_root.dispatcher is not None)
"""


def test_the_compiler_leaves_the_output_of_others_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OUTPUT],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
    )
    assert done.stdout == "0 True True\n"


@pytest.mark.slow
def test_all_loops_agree_bit_by_bit_on_the_inputs_of_all_tests_of_algorithms():
    """The tests of algorithms and selectors, with every call of a loop made both ways."""
    tests = [str(HERE / "tests" / folder) for folder in ("algorithms", "select", "methods")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.both_ways", *tests]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
    assert done.returncode == 0, done.stdout[-5000:]


def test_numba_is_imported_again_where_another_thread_was_importing_it(monkeypatch):
    def seen_in_part(name):
        tried.append(name)
        if len(tried) < 3:
            raise ImportError("cannot import name 'a' from partially initialized module 'numba.b'")

    tried = []
    monkeypatch.setattr(compiler, "IMPORT_PAUSES", (0.0,) * 4)
    monkeypatch.setattr(compiler.importlib, "import_module", seen_in_part)
    compiler._import_numba()
    assert len(tried) == 3
    monkeypatch.setattr(
        compiler.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name))
    )
    with pytest.raises(ImportError, match="numba"):
        compiler._import_numba()


def test_a_loop_changes_the_arrays_alone_that_it_names():
    texts, counts = np.array([0, 2, 3], np.int32), np.array([1, 2, 1], np.float32)
    scores, sums_of = np.full(5, 0.5), np.zeros(5)
    near, norms, shares = np.array([0, 1, 1, 1, 1], np.int32), np.full(5, 1.5), np.array([0.25])
    arguments = {
        postings.add_term: (scores, texts, counts, 0, 3, norms, np.float32(2)),
        postings.add_constant: (sums_of, texts, 0, 3, 2.0),
        postings.add_to_groups: (
            *(np.zeros(3, np.float32), np.array([2, 0, 1, 2, 0]), texts, counts, 0, 3),
        ),
        postings.add_term_around: (
            *(scores, sums_of, texts, counts.astype(np.float64)),
            *(near, near[::-1].copy(), shares, norms, 0.5),
        ),
        bags.bag_sums: (
            *(np.array([0, 2], np.int32), np.array([2, 3], np.int32)),
            *(texts.astype(np.uint16), np.array([1, 2, 1], np.uint8)),
            *(np.arange(256.0), np.array([0.5, 0.25, 4.0, 1.0])),
        ),
    }
    kernels = [one for room in (postings, bags) for one in vars(room).values()]
    assert {one for one in kernels if isinstance(one, Kernel) and one.changes is not None} == {
        *arguments
    }
    for kernel, own in arguments.items():
        names = kernel.function.__code__.co_varnames[: len(own)]
        results = []
        for run in (kernel.plain, kernel.function):
            copies = [one.copy() if isinstance(one, np.ndarray) else one for one in own]
            for name, one in zip(names, copies, strict=True):
                if isinstance(one, np.ndarray) and name not in kernel.changes:
                    one.setflags(write=False)  # whoever writes there raises ValueError
            found = run(*copies)
            results.append([found, *(copies[names.index(name)] for name in kernel.changes)])
        for plain, loop in zip(*results, strict=True):
            assert np.array_equal(plain, loop) if plain is not None else loop is None
