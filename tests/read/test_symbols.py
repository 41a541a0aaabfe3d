"""Facts about source code: who defines, calls and inherits from what, wherever names lead."""

from __future__ import annotations

import pytest

from clew import Index, Names, NamesAndSymbols, Splitter, Symbols
from clew.read import Passage, read_passages

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


def test_names_that_differ_in_case_alone_are_two_entities():
    text = "def box(): return Box()\nclass Box: ..."
    passage = Passage("a", text, document="a.py", format="python")
    (found,) = Symbols(relations=("calls",)).triples([passage])
    assert found == [("a.box()", "calls", "a.Box")]


def test_relations_that_nobody_reads_are_refused():
    with pytest.raises(ValueError, match=r"are calls, .*; got eats"):
        Symbols(relations=("eats",))
