"""Facts about source code: who defines, calls and inherits from what, wherever names lead."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from clew import Index, Names, NamesAndSymbols, Splitter, Symbols
from clew.read import Passage, read_passages
from clew.read.extract import symbol_reading

PYTHON = {
    "kit/__init__.py": "from kit.wood import carve as cut\nfrom kit.tools import *\n",
    "kit/tools.py": "class Tool:\n    def use(self): raise NotImplementedError\n"
    "    def sharpen_well(self): self.use()\n\nLIMIT = 3\nlogger = 1\n",
    "kit/wood.py": "from . import tools\nfrom .tools import Tool as Base\nimport json\n\n"
    "class Saw(Base):\n    def __init__(self, box: 'Box'):\n        self.box = box\n"
    "    def use(self):\n        super().use()\n        self.sharpen_well()\n"
    "        self.box.open()\n        json.dumps({}).encode()\n        return tools.LIMIT\n"
    "class Box:\n    def open(self) -> 'Saw': return carve()\n    @property\n"
    "    def lid(self) -> Saw: ...\n    def shut(self): self.lid.use(); self.open().use()\n"
    "def carve(log=None):\n    log.append(1)\n    log.sharpen_well()\n    print(1)\n"
    "    return Saw(Box())\n",
    "main.py": "import kit\nfrom kit import cut, Tool\n\ndef run(tool):\n    cut()\n    kit.cut()\n"
    "    tool.use()\n\nclass Own(Tool):\n    pass\n\n@cut\ndef carve(): raise Lost\n\n"
    "class Lost(Exception): pass\n",
    "broken.py": "from kit import cut\n\ndef good():\n    cut()\n\ndef bad(:\n    cut()\n\n"
    "@cut\ndef late(): pass\n",
}


def facts_of(files, tmp_path, extractor=None, **options):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    passages = read_passages(tmp_path, splitter=Splitter(**options))
    triples = (extractor or Symbols()).triples(passages)
    return list(zip(passages, triples, strict=True))


def relations(read, *kinds):
    return {fact for _, facts in read for fact in facts if fact[1] in kinds}


@pytest.mark.parametrize("tokens", [16, 256])
def test_names_of_python_are_followed_through_imports_bases_and_types(tmp_path, tokens):
    read = facts_of(PYTHON, tmp_path, tokens=tokens)
    assert relations(read, "calls") == {
        ("Tool.sharpen_well", "calls", "Tool.use"),
        ("Saw.use", "calls", "Tool.use"),
        ("Saw.use", "calls", "Tool.sharpen_well"),
        ("Saw.use", "calls", "Box.open"),
        ("Box.open", "calls", "kit.wood.carve"),
        ("Box.shut", "calls", "Saw.use"),
        ("Box.shut", "calls", "Box.open"),
        ("kit.wood.carve", "calls", "Tool.sharpen_well"),
        ("kit.wood.carve", "calls", "Saw"),
        ("kit.wood.carve", "calls", "Box"),
        ("run", "calls", "kit.wood.carve"),
        ("good", "calls", "kit.wood.carve"),
    }, "neither tool.use(), which two classes define, nor what Python brings"
    assert relations(read, "inherits from") == {
        ("Saw", "inherits from", "Tool"),
        ("Own", "inherits from", "Tool"),
    }
    assert relations(read, "overrides", "requires", "raises", "is decorated by", "uses") == {
        ("Saw.use", "overrides", "Tool.use"),
        ("Tool", "requires", "Tool.use"),
        ("main.carve", "raises", "Lost"),
        ("main.carve", "is decorated by", "kit.wood.carve"),
        ("late", "is decorated by", "kit.wood.carve"),
    }
    assert ("kit.tools", "defines", "LIMIT") in relations(read, "defines")
    assert ("main", "imports", "Tool") in relations(read, "imports")


@pytest.mark.parametrize("tokens", [16, 256])
def test_a_fact_is_read_from_the_passage_in_which_it_is_written(tmp_path, tokens):
    places = {
        (passage.document, fact): passage.text
        for passage, facts in facts_of(PYTHON, tmp_path, tokens=tokens)
        for fact in facts
    }
    for (_, (_, relation, object)), text in places.items():
        written = {"kit.wood.carve": ("carve", "cut"), "Tool": ("Tool", "Base")}.get(
            object, (object.rpartition(".")[2],)
        )
        assert any(name in text for name in written), (relation, object, text)


def test_prose_names_symbols_and_each_extractor_leaves_the_other_its_files(tmp_path):
    files = {
        "guide.md": "# Guide\n\nAnna Bell calls `Box.open`, sharpen_well() and an open Box.\n",
        "wood.py": PYTHON["kit/tools.py"]
        + "class Box:\n    'Anna Bell made it.'\n    def open(self): ...\n",
    }
    read = facts_of(files, tmp_path, NamesAndSymbols())
    assert relations(read, "mentions") == {
        ("Guide", "mentions", "Box.open"),
        ("Guide", "mentions", "Tool.sharpen_well"),
    } | relations(facts_of(files, tmp_path, Names()), "mentions")
    assert not [
        f for p, facts in facts_of(files, tmp_path, Names()) for f in facts if p.format == "python"
    ]
    assert any("Anna Bell" in fact for _, facts in read for fact in facts)


OTHERS = {
    "src/a.js": "import {cut as c, saw} from './wood';\n"
    "export class Box extends Base { open(){ this.shut(); saw(); other(); } shut(){} }\n"
    "class Base { openBox(){} }\nconst run = () => { new Box(); x.openBox(); x.shut(); };",
    "src/wood.js": "export function saw(){ return parseInt(1) }\nfunction other(){}",
    "src/old.js": "const {saw} = require('./wood');\nfunction old(){ saw(); }",
    "lib/wood.js": "export function saw(){}",
    "src/t.ts": "import {Box} from './a';\nabstract class Shape implements Area "
    "{ abstract size(): number; draw(): void { this.size(); } }\n"
    "interface Area {}\nclass Square extends Shape { side() { return new Box(); } }",
    "p/A.java": "package p;\nclass A extends B implements C { void m(){ x(); B.y(); new D().z(); }"
    " void x(){} }\nclass B { static void y(){} }\ninterface C { void need(); }\n"
    "class D { void z(){} }\nclass E { void z(){} }",
    "go/b.go": "package box\ntype Chest struct{}\ntype Opener interface { Lift() }\n"
    "func (b *Chest) Open() { chop(); wood.Plane(); b.Close(); fmt.Println() }\n"
    "func (b *Chest) Close() {}\nfunc chop() {}",
    "wood/w.go": "package wood\nfunc Plane() {}",
    "r/l.rs": "trait T { fn need_it(&self); }\nstruct S;\nimpl T for S { fn need_it(&self)"
    "{ self.b_c(); call_me(); println!(); } }\nimpl S { fn b_c(&self){} }\nfn call_me() { }",
    "c/a.h": "int add(int a);\nstruct P { int x; };",
    "c/a.c": '#include "a.h"\nint add(int a){ printf("é"); return sub(a); }\n'
    "static int sub(int a){ return a; }",
    "c/b.cpp": "class K { public: virtual void m(); };\nclass L : public K { void m(); };\n"
    "void L::m(){ helper(); add(1); }\nvoid helper(){}",
}


@pytest.mark.skipif(find_spec("tree_sitter") is None, reason="needs the extra code")
def test_the_other_languages_are_read_by_the_tags_of_their_grammars(tmp_path):
    read = facts_of(OTHERS, tmp_path, tokens=32)
    assert relations(read, "calls") == {
        ("Box.open", "calls", "Box.shut"),
        ("Box.open", "calls", "src/wood.js:saw"),
        ("run", "calls", "Box"),
        ("run", "calls", "Base.openBox"),
        ("old", "calls", "src/wood.js:saw"),
        ("Shape.draw", "calls", "Shape.size"),
        ("Square.side", "calls", "Box"),
        ("A.m", "calls", "A.x"),
        ("A.m", "calls", "B.y"),
        ("A.m", "calls", "D"),
        ("Chest.Open", "calls", "chop"),
        ("Chest.Open", "calls", "Plane"),
        ("Chest.Open", "calls", "Chest.Close"),
        ("S.need_it", "calls", "S.b_c"),
        ("S.need_it", "calls", "call_me"),
        ("add", "calls", "sub"),
        ("L.m", "calls", "helper"),
        ("L.m", "calls", "add"),
    }, "neither x.shut() on who knows what, z() of two classes, nor other() that nobody imports"
    assert relations(read, "inherits from") == {
        (pair.split()[0], "inherits from", pair.split()[1])
        for pair in ("Box Base", "Shape Area", "Square Shape", "A B", "A C", "S T", "L K")
    }
    assert {fact[2] for fact in relations(read, "requires")} == {
        "Shape.size", "C.need", "Opener.Lift", "T.need_it",
    }  # fmt: skip


GENERIC = {
    "p/A.java": "package p;\nclass A extends B<String> implements C<Integer, D<A>>, F {\n"
    "void m(){ new D<A>(); Arrays.asWooden(1); } }\nclass B<T> {}\ninterface C<T, U> {}\n"
    "class D<T> { void asWooden(){} }\ninterface F {}\n"
    "enum E implements C<E, E> { ONE { public int n() { return 1; } } }\nrecord R(int n) implements F {}",
    "t/t.ts": "interface Area<T> {}\ninterface Field<T> extends Area<T> {}\nclass Base<T> {}\n"
    "class Box extends Base<string> implements Area<number> {}",
    "r/l.rs": "trait From2<T> {}\nstruct S<T> { t: T }\nimpl<T> From2<u8> for S<T> {}",
    "c/b.cpp": "template <class T> class K {};\nclass L : public K<int> {};",
}


@pytest.mark.skipif(find_spec("tree_sitter") is None, reason="needs the extra code")
def test_types_with_parameters_are_inherited_from_and_those_of_others_have_no_members_here(
    tmp_path,
):
    read = facts_of(GENERIC, tmp_path, tokens=64)
    assert relations(read, "inherits from") == {
        (pair.split()[0], "inherits from", pair.split()[1])
        for pair in (
            *("A B", "A C", "A F", "E C", "R F"),
            *("Field Area", "Box Base", "Box Area", "S From2", "L K"),
        )
    }
    assert relations(read, "calls") == {("A.m", "calls", "D")}


EMBEDDED = {
    "c/shape.hpp": "namespace geo {\nclass Shape {\n public:\n  virtual ~Shape() = default;\n"
    "  virtual double area() const = 0;\n  virtual int* corners() = 0;\n  void hide();\n"
    "  int (*hook)(int) = 0;\n  int size = 0;\n};\n}\n",
    "c/circle.hpp": '#include "shape.hpp"\nclass Circle : public Shape { public: Circle(int r);\n'
    "  double area() const override; };\n",
    "c/circle.cpp": '#include "circle.hpp"\nCircle::Circle(int r) {}\n'
    "double Circle::area() const { return 1; }\n",
    "go/a.go": "package a\ntype Reader interface { Read() }\ntype Box[T any] struct{}\n"
    "type ReadCloser interface {\n Reader\n Box[int]\n Close()\n}\n"
    "type Number interface { ~int | Reader }\ntype base struct{}\nfunc (b *base) logAll() {}\n"
    "type Server struct {\n *base\n Box[int]\n reader Reader\n}\n"
    "func (s *Server) Run() { s.logAll() }\n",
}


@pytest.mark.skipif(find_spec("tree_sitter") is None, reason="needs the extra code")
def test_pure_functions_are_required_and_what_go_embeds_is_inherited_from(tmp_path):
    read = facts_of(EMBEDDED, tmp_path, tokens=64)
    assert {fact[2] for fact in relations(read, "requires")} == {
        "Shape.area", "Shape.corners", "Reader.Read", "ReadCloser.Close",
    }  # fmt: skip
    assert relations(read, "inherits from") == {
        (pair.split()[0], "inherits from", pair.split()[1])
        for pair in ("Circle Shape", "ReadCloser Reader", "ReadCloser Box", "Server base")
    } | {("Server", "inherits from", "Box")}
    assert relations(read, "calls") == {("Server.Run", "calls", "base.logAll")}
    assert {fact[:1] + fact[2:] for fact in relations(read, "defines") if "C" in fact[2]} >= {
        ("Circle", "Circle.Circle"),
        ("Circle", "Circle.area"),
    }, "what a constructor has the name of is no container"


@pytest.mark.skipif(find_spec("tree_sitter") is None, reason="needs the extra code")
@pytest.mark.parametrize("format", ["javascript", "typescript", "java", "go", "rust", "c", "cpp"])
@pytest.mark.parametrize(
    "text",
    ["f(" * 3000, "{" * 3000, "// remark\n" * 5000, "class A { void m() {", "a.b().c();\n" * 2000],
    ids=["calls", "braces", "remarks", "broken", "chain"],
)
def test_no_program_is_too_deep_or_too_broken(format, text):
    passage = Passage("a", text, document="a", format=format)
    assert len(Symbols().triples([passage])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "f(" * 5000 + ")" * 5000,
        "x" + ".a()" * 20000,
        "\n".join(f"{' ' * i}class A{i}:" for i in range(90)) + "\n" + " " * 90 + "x = 1",
        "a = b\nb = a\na.c()\nclass A(A): pass\nclass B(C): pass\nclass C(B): pass\nC().x()",
        "from a import x\nx()\nfrom a import *\ny.z()",
        "def f(:\n" * 2000,
        "x = lambda: " * 2000 + "1",
    ],
    ids=["calls", "chain", "classes", "circle", "itself", "broken", "lambdas"],
)
def test_no_code_is_too_deep_or_goes_round_in_circles(text):
    passage = Passage("a", text, document="a.py", format="python")
    assert len(Symbols().triples([passage])) == 1


def test_an_index_with_symbols_is_saved_changed_and_asked(tmp_path):
    (tmp_path / "code").mkdir()
    facts_of(PYTHON, tmp_path / "code")
    index = Index.from_documents(
        tmp_path / "code", splitter=Splitter(), extractor=NamesAndSymbols()
    )
    index.save(tmp_path / "saved")
    again = Index.load(tmp_path / "saved")
    assert again.extractor == NamesAndSymbols()
    less = again.delete("main.py")
    assert "run calls kit.wood.carve" in index.graph.facts.texts
    assert "good calls carve" in less.graph.facts.texts, "one file alone defines it now"


@pytest.mark.parametrize("tokens", [16, 256])
def test_an_index_reads_the_symbols_of_code_without_being_asked(tmp_path, tokens):
    facts_of(PYTHON, tmp_path)
    (tmp_path / "guide.md").write_text("Ann married Ben. They `run` it, and live on Corfu.\n")
    index = Index.from_documents(tmp_path, splitter=Splitter(tokens))
    assert index.extractor == Symbols()
    texts = index.graph.facts.texts
    assert "run calls kit.wood.carve" in texts
    assert [text for text in texts if text.endswith(" mentions run")]
    assert not [text for text in texts if "Ben" in text], "names are asked for"
    found = index.ask("What calls Box.open?", budget=256)
    assert any("self.box.open()" in item.text for item in found)
    assert any(hop.text == "Saw.use calls Box.open" for item in found for hop in item.why)
    assert not len(Index.from_documents(tmp_path, extractor=None).graph.facts)
    assert not len(Index.from_documents(["`run` calls `carve`."]).graph.facts)


def test_members_that_others_must_define_are_known_in_each_of_their_forms():
    text = """from abc import abstractmethod
from typing import Protocol
class Lid(Protocol):
    def lift(self): ...
    def drop(self):
        'Fall.'
    def known(self): return 1
class Box:
    @abstractmethod
    def open(self): return 1
    def shut(self):
        'Close.'
        raise NotImplementedError('shut')
    def free(self): 'Nothing.'
"""
    passage = Passage("a", text, document="a.py", format="python")
    (found,) = Symbols(relations=("requires",)).triples([passage])
    assert {object for _, _, object in found} == {"Lid.lift", "Lid.drop", "Box.open", "Box.shut"}


def test_names_that_differ_in_case_alone_are_two_entities():
    text = "def box(): return Box()\nclass Box: ..."
    passage = Passage("a", text, document="a.py", format="python")
    (found,) = Symbols(relations=("calls",)).triples([passage])
    assert found == [("a.box()", "calls", "a.Box")]


def test_relations_that_nobody_reads_are_refused():
    with pytest.raises(ValueError, match=r"are calls, .*; got eats"):
        Symbols(relations=("eats",))


def test_code_beside_prose_adds_nothing_to_what_a_question_on_prose_reads():
    harbour = Path(__file__).parents[2] / "examples" / "harbour"
    question = "Who is the coxswain of the lifeboat?"
    with_symbols, without = (
        Index.from_documents(harbour, splitter=Splitter(), **extractor).ask(question)
        for extractor in ({}, {"extractor": None})
    )
    assert "Jonas Lund" in with_symbols.items[0].text
    assert with_symbols.ids[: len(without)] == without.ids
    assert len(with_symbols) <= len(without) + 1


def test_files_read_beside_others_have_the_facts_of_files_read_first(tmp_path):
    read = facts_of(PYTHON, tmp_path)
    chosen = [
        [passage for passage, _ in read[start::step]] for start, step in ((0, 1), (1, 2), (0, 3))
    ]
    kept = [Symbols().triples(passages) for passages in (*chosen, *chosen)]
    fresh = []
    for passages in (*chosen, *chosen):
        symbol_reading.MODULES.clear()
        symbol_reading.CODE_NAMES.clear()
        fresh.append(Symbols().triples(passages))
    assert kept == fresh
    assert kept[0] != kept[1]


def test_a_short_file_is_parsed_once(monkeypatch):
    symbol_reading.MODULES.clear()
    passages = [Passage("a.py", "def cut(): ...", document="a.py", format="python")]
    once = Symbols().triples(passages)
    monkeypatch.setattr(symbol_reading, "read_module", None)
    assert Symbols().triples(passages) == once


def test_what_is_raised_in_one_part_of_a_broken_file_says_nothing_of_the_next(tmp_path):
    """The parser's nodes of a part are gone when the next is read, which reuses their room."""
    raising = "\n".join(f"def stop_{i}():\n    raise Fault_{i}({i})\n" for i in range(300))
    calling = "\n".join(f"def go_{i}():\n    helper_{i}({i})\n" for i in range(300))
    helpers = "\n".join(f"def helper_{i}(n):\n    return n\n" for i in range(300))
    faults = "\n".join(f"class Fault_{i}(Exception):\n    pass\n" for i in range(300))
    broken = "\nthis is not Python:\n"
    file = tmp_path / "t.py"
    file.write_text(broken.join([faults, helpers, raising, calling]))
    facts = Index.from_documents(file).graph.facts.texts
    raises = {fact for fact in facts if " raises " in fact}
    assert raises == {f"stop_{i} raises Fault_{i}" for i in range(300)}
    assert {f"go_{i} calls helper_{i}" for i in range(300)} <= set(facts)
