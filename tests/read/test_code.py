"""Source code is cut between its statements, under the names of what it defines."""

from __future__ import annotations

import argparse
import ast
import asyncio.tasks
import dataclasses
import email.message
import inspect
import itertools
import re
import statistics
import subprocess
import sys
import tarfile
from importlib.util import find_spec

import pytest

from clew import Index, Splitter
from clew.document import Document
from clew.graph import heading_of
from clew.read import load_documents
from clew.read.formats import file_format, python
from clew.text.estimate import estimate_tokens

MODULES = (argparse, asyncio.tasks, dataclasses, email.message, statistics, tarfile)


def pieces_of(text, most=256, format="python"):
    return Splitter(most)(Document("m.py", text, format=format))


def paths_of(pieces):
    """Each passage with the headings above it."""
    for piece in pieces:
        if piece.kind == "passage":
            above, path = piece.parent, []
            while above is not None:
                path.insert(0, pieces[above].text)
                above = pieces[above].parent
            yield piece, path


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.parametrize("most", [64, 256])
def test_passages_of_real_modules_are_exact_small_and_leave_out_no_word(module, most):
    text = inspect.getsource(module)
    pieces = pieces_of(text, most)
    at = 0
    for piece in pieces:
        if piece.kind == "passage":
            assert piece.text == text[piece.start : piece.end]
            assert estimate_tokens(piece.text) <= most
            assert not re.search(r"[^\W_]", text[at : piece.start])
            assert re.search(r"[^\W_]", piece.text)
            at = piece.end
        if piece.parent is not None:
            assert (
                pieces[piece.parent].start <= piece.start <= piece.end <= pieces[piece.parent].end
            )
    assert not re.search(r"[^\W_]", text[at:])


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_no_function_that_fits_is_cut_and_every_part_of_a_longer_one_stands_under_its_name(module):
    text = inspect.getsource(module)
    starts = [0, *(i + 1 for i, sign in enumerate(text) if sign == "\n")]
    passages = list(paths_of(pieces_of(text)))
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert len(functions) > 10
    for node in functions:
        first, last = starts[node.lineno - 1], starts[node.end_lineno] - 1
        holding = [
            (piece, path) for piece, path in passages if piece.start < last and piece.end > first
        ]
        if estimate_tokens(f"- {text[first:last]}\n") <= 256:  # as it is printed
            assert len(holding) == 1, node.name
        for piece, path in holding:
            assert f"def {node.name}(" in piece.text or any(
                f"def {node.name}(" in heading for heading in path
            ), node.name


SOURCE = '''"""What this is about."""
import os
LIMIT = 3  # and why

# Above it.
@cache
def outer(a, /, b: int = 1, *rest, key="é", **more) -> str:
    """Say it."""
    before = 1

    async def inner():
        return 2
    after = 2

class Box(Base, metaclass=Meta):
    """A box."""
    size = 1

    @property
    def full(self): return True

    if LIMIT:
        def guarded(self):
            return "long enough to stand alone, with a few more words than its neighbours have in them"
    else:
        def guarded(self): return None

if __name__ == "__main__":
    outer(1)
'''


def test_headings_are_signatures_and_what_follows_a_definition_is_not_under_it():
    passages = [
        (" > ".join(path), piece.text.split("\n"))
        for piece, path in paths_of(pieces_of(SOURCE, 24))
    ]
    where = {line.strip(): path for path, lines in passages for line in lines}
    outer = "def outer(a, /, b: int=1, *rest, key='é', **more) -> str"
    assert where["LIMIT = 3  # and why"] == where['if __name__ == "__main__":'] == ""
    assert (
        where["# Above it."]
        == where["@cache"]
        == where["before = 1"]
        == where["after = 2"]
        == outer
    )
    assert where["return 2"] in (outer, f"{outer} > async def inner()")
    assert (
        where["size = 1"]
        == where["def full(self): return True"][: len("class Box(Base, metaclass=Meta)")]
        == "class Box(Base, metaclass=Meta)"
    )
    assert where["def guarded(self):"] == "class Box(Base, metaclass=Meta) > def guarded(self)"
    assert any(lines[0].startswith("    ") for _, lines in passages), (
        "code keeps the indentation of its first line"
    )


def test_heads_stay_with_their_documentation_and_little_statements_go_with_what_follows():
    long = "\n".join(f"        step_{i} = prepare(step_{i - 1}, {i})" for i in range(1, 30))
    text = f'''"""About boxes."""
import os

def first():
    step_0 = 1
{long.replace("        ", "    ")}

logger = 1

@final
class Box(Base):
    """A box of wood."""
    def open(self):
        """Lift the lid.

        Slowly.
        """
{long}
        def inner():
            return 1
        return inner

    def shut(self):
{long}
'''
    single = text.partition("    def shut")[0]
    assert len(
        Index.from_documents([Document("a", single, format="python")], splitter=Splitter(99))
    )
    passages = [(" > ".join(path), piece.text) for piece, path in paths_of(pieces_of(text, 200))]
    holding = {
        words: next(i for i, (_, piece) in enumerate(passages) if words in piece)
        for words in ("logger", "@final", "A box of", "def open", "Slowly", "step_2 =", "def inner")
    }
    heads = {holding[words] for words in ("logger", "@final", "A box of", "def open", "Slowly")}
    assert len(heads) == 1, "the class is read with its decorator, its documentation and a member"
    assert passages[heads.pop()][0] == "class Box(Base) > def open(self)"
    assert passages[holding["def inner"]][0] == "class Box(Base) > def open(self)"
    assert "return inner" in passages[holding["def inner"]][1], "an inner function is a step"


def test_a_module_is_called_by_its_path_from_its_outermost_package_on(tmp_path):
    for name in ("src/kit/__init__.py", "src/kit/deep/nail.py", "scripts/run.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    titles = {d.id: d.metadata["title"] for d in load_documents(tmp_path).documents}
    assert titles == {
        "scripts/run.py": "module scripts.run",
        "src/kit/__init__.py": "module kit",
        "src/kit/deep/nail.py": "module kit.deep.nail",
    }
    below = load_documents(tmp_path / "src/kit").documents
    assert {d.metadata["module"] for d in below} == {"kit", "kit.deep.nail"}


def test_what_parses_of_a_broken_module_is_cut_by_its_syntax(tmp_path):
    long = "\n".join(f"    step_{i} = {i}" for i in range(60))
    text = f"def good():\n{long}\n\ndef bad(:\n{long}\n\n@mark\ndef late():\n{long}\n"
    (tmp_path / "a.py").write_text(text)
    (document,), ((_, reason),), _ = load_documents(tmp_path)
    assert document.format == "python"
    assert reason.startswith("read in parts")
    headings = {" > ".join(path) for _, path in paths_of(Splitter(100)(document))}
    assert headings == {"def good()", "", "def late()"}


def test_a_module_that_fits_and_a_text_that_is_no_module_are_read():
    assert [piece.text for piece in pieces_of(SOURCE, 500)] == [SOURCE]
    assert {piece.kind for piece in pieces_of("def broken(:\n    x = 1\n\n" * 20, 16)} == {
        "passage"
    }
    assert [piece.text for piece in pieces_of("# only said\n" * 3, 500)] == ["# only said\n" * 3]
    assert (
        " ".join(piece.text for piece in pieces_of("# only said\n" * 9, 4)).split()
        == ["#", "only", "said"] * 9
    )


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_places_hold_with_every_line_end_and_script(end):
    text = SOURCE.replace("\n", end)
    assert [piece.text.replace(end, "\n") for piece in pieces_of(text, 24)] == [
        piece.text for piece in pieces_of(SOURCE, 24)
    ]


def test_modules_of_a_folder_refer_to_those_they_use(tmp_path):
    long = "\n    ".join(f"step_{i} = {i} + {i}" for i in range(60))
    files = {
        "kit/__init__.py": "from .tools import saw",
        "kit/tools.py": "def saw(): pass",
        "kit/wood.py": f"from kit import tools\nimport json\n\n\ndef plain():\n    {long}\n\n\ndef cut():\n    {long}\n    tools.saw()\n",
        "kit/deep/nail.py": "from ..tools import saw\nfrom . import glue",
        "kit/deep/glue.py": "x = 1",
        "main.py": "import kit.wood",
        "odd.py": "print 'two'",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    index = Index.from_documents(tmp_path, splitter=Splitter())
    graph, edges = index.graph, index.graph.edges
    mask = edges.kinds.mask("hyperlink")
    linked = {
        (graph.ids[a], graph.ids[b])
        for a, b in zip(edges.tails[mask], edges.heads[mask], strict=True)
    }
    assert {(a.partition("#")[0], b) for a, b in linked} == {
        ("kit/__init__.py", "kit/tools.py"),
        ("kit/wood.py", "kit/tools.py"),
        ("kit/wood.py", "kit/__init__.py"),
        ("kit/deep/nail.py", "kit/tools.py"),
        ("kit/deep/nail.py", "kit/deep/glue.py"),
        ("main.py", "kit/wood.py"),
    }
    users = {
        heading_of(graph, graph.ids.index(a))
        for a, b in linked
        if a.startswith("kit/wood.py#") and b == "kit/tools.py"
    }
    assert users == {"module kit.wood", "module kit.wood > def cut()"}, (
        "the import, and the function that uses it"
    )
    assert [
        (path.rpartition("/")[2], reason.partition(":")[0]) for path, reason in index.skipped
    ] == [("odd.py", "read as text")]
    assert next(d.format for d in index.documents if d.id == "odd.py") == "text"


SOURCES = {
    "a.js": (
        "// Add.\nexport function add(a, b) {\n  return a + b;\n}\nclass Box {\n  open(x) { FILL }\n}\nconst half = (x) => { FILL };\n",
        ["export function add(a, b)", "class Box > open(x)", "const half = (x)"],
    ),
    "a.ts": (
        "export interface Shape { area(): number; FILLT }\nclass Box<T> { open(x: T): void { FILL } }\n",
        ["export interface Shape", "class Box<T> > open(x: T): void"],
    ),
    "a.tsx": (
        "export function App(p: P) { FILL; return <b>x</b>; }\n",
        ["export function App(p: P)"],
    ),
    "A.java": (
        "package p;\nclass Box { int open(int x) { FILL } }\ninterface Lid { int lift(); FILLI }\n",
        ["class Box > int open(int x)", "interface Lid"],
    ),
    "a.go": (
        "package p\ntype Box struct {\n a int\n}\nfunc (b *Box) Open(x int) int { FILLG }\n",
        ["func (b *Box) Open(x int) int"],
    ),
    "a.rs": (
        "/// Doc.\nimpl Lid for Box { fn open(&self) -> i32 { FILLR } }\n",
        ["impl Lid for Box > fn open(&self) -> i32"],
    ),
    "a.c": (
        '#include "b.h"\nstatic int add(int a, int b) { FILL }\n',
        ["static int add(int a, int b)"],
    ),
    "a.cpp": (
        "namespace n { template <class T> class Box { public: int open(T x) { FILL } }; }\n",
        ["namespace n > template <class T> class Box > int open(T x)"],
    ),
}
FILLS = {
    "FILLT": "b{i}: number;",
    "FILLI": "int b{i}();",
    "FILLG": "b{i} := {i};",
    "FILLR": "let é{i} = {i};",
    "FILL": "b{i} = {i};",
}


@pytest.mark.skipif(find_spec("tree_sitter") is None, reason="needs the extra code")
@pytest.mark.parametrize("name", SOURCES)
def test_other_languages_are_cut_by_their_syntax(name, tmp_path):
    text, wanted = SOURCES[name]
    for mark, statement in FILLS.items():
        text = text.replace(mark, " ".join(statement.replace("{i}", str(i)) for i in range(40)))
    text += "" if name == "a.tsx" else "".join(f"\n// remark {i} about nothing" for i in range(20))
    (tmp_path / name).write_text(text, encoding="utf-8")
    (document,), skipped, _ = load_documents(tmp_path)
    pieces = Splitter(60)(document)
    found = {" > ".join(path) for _, path in paths_of(pieces)}
    assert set(wanted) <= found, found
    assert "".join(
        "".join(piece.text for piece in pieces if piece.kind == "passage").split()
    ) == "".join(text.split())
    assert skipped == []
    assert name != "a.c" or pieces[0].references == ("b.h",)


def test_code_without_its_grammar_is_read_as_text_and_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(file_format, "find_spec", lambda name: None)
    (tmp_path / "a.js").write_text("function add() {}")
    (document,), ((_, reason),), _ = load_documents(tmp_path)
    assert document.format == "text"
    assert reason == "read as text, not by its syntax (pip install 'clew[code]')"


def test_a_format_that_nobody_knows_is_refused_by_name():
    with pytest.raises(ValueError, match=r"unknown format 'klingon'.*known: text, markdown"):
        Splitter()(Document("a", "text", format="klingon"))


HIDDEN = """import os, re as regex
from . import tides
@regex.compile(
    "x"
)
def sail(): return 1
match sail():
    case os.sep if ﬁle: pass
    case _: f"{os.name!r:{tides}}"
try:
    import ﬁle
except regex.error: osmosis = re = [os for _ in ()]
class Box:
    import os.path as re
    é = tides; re
"""


@pytest.mark.parametrize(
    "source", [HIDDEN, HIDDEN.replace("ﬁ", "fi"), HIDDEN.replace("\n", "\r\n"), *MODULES]
)
def test_uses_of_imported_names_are_those_of_the_whole_tree(source):
    text = source if isinstance(source, str) else inspect.getsource(source)
    lines = re.split(r"(?<=\n)", text)
    starts = [0, *itertools.accumulate(map(len, lines))]

    def place(node):
        before = lines[node.lineno - 1].encode()[: node.col_offset]
        return starts[node.lineno - 1] + len(before.decode())

    wanted, targets_of = set(), {}
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            targets_of |= dict(python._imported_names(node))
            wanted |= {(place(node), t) for _, own in python._imported_names(node) for t in own}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    wanted |= {(place(node), t) for node in names for t in targets_of.get(node.id, ())}
    assert python.outline(text, lambda start, end: 0.0).links == tuple(sorted(wanted))
    assert len(wanted) > 12


PARSED_AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from clew.read.formats.source_code import parse_source

def names(number):
    root = parse_source(b"int tide_%d(int sea) { return sea; }\\n" % number * 300, "c")
    return [node.end_byte - node.start_byte for node in root.named_children]

alone = list(map(names, range(8)))
with ThreadPoolExecutor(8) as threads:
    for _ in range(10):
        assert list(threads.map(names, range(8))) == alone
"""


@pytest.mark.skipif(not find_spec("tree_sitter_c"), reason="there is no grammar of C")
def test_threads_that_parse_at_once_have_parsers_of_their_own():
    """In a process of their own, which ended by a signal where they shared one."""
    subprocess.run([sys.executable, "-c", PARSED_AT_ONCE], check=True)
