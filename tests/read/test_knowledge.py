"""What passages teach an extractor grows and shrinks with them, to the count."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Document, Names, NamesAndSymbols, Symbols
from clew.read import (
    Knowledge,
    Passage,
    Splitter,
    as_learning,
    assemble,
    passages_of_rows,
)
from clew.read.assembly import passages_to_extract
from clew.read.extract.code.known_code import KnownCode
from clew.text.words import fold_case

WORDS = (
    *("St.", "st", "Mr.", "Paris", "paris", "the", "The", "Anna", "anna", "of", "winter", "Winter"),
    *(
        "القاهرة",
        "كتاب",
        "في",
        "नई",
        "दिल्ली",
        "東京",
        "日本の東京",
        "カタカナ",
        "“Big",
        "sea”",
        "1926",
        "I.",
        "Ünal",
    ),
)
ENDS = (" ", " ", " ", ". ", ".\n", ", ", "\n")
WRITTEN = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), max_size=14)
TITLES = ("", "Anna", "The Winter", "東京", "St. Paris (town)", "winter")
PASSAGES = st.lists(
    st.tuples(WRITTEN, st.sampled_from(TITLES), st.sampled_from(["text", "text", "python"])),
    max_size=8,
).map(
    lambda made: [
        Passage(str(number), "".join(map("".join, written)), title, format=format)
        for number, (written, title, format) in enumerate(made)
    ]
)


def nothing(ids):
    raise AssertionError(f"{ids} were asked for")


@given(PASSAGES, PASSAGES, st.booleans())
def test_names_read_some_passages_by_what_others_taught_as_they_read_all_at_once(some, more, years):
    names = Names(years=years)
    triples, everything = names.learn([*some, *more])
    _, known = names.learn(some)
    read, grown = names.learn_more(more, known, nothing)
    assert read == triples[len(some) :]
    assert grown == everything
    assert names.forget(more, everything) == known
    assert names.learn(more)[1] == names.forget(some, everything)
    assert all(n > 0 for table in known.tables.values() for n in table.values())


def test_what_was_never_learnt_cannot_be_forgotten():
    known = Names().learn([Passage("a", "Anna met Ben in Rome.")])[1]
    assert Names().forget([Passage("b", "Anna met Cleo in Rome.")], known) is None
    with pytest.raises(ValueError, match="'names 1' has no 'names 2'"):
        known.grown(Knowledge("names 2", {}))


def test_names_that_need_several_passages_are_learnt_anew():
    assert Names(min_passages=2).learn([Passage("a", "Anna met Ben.")])[1] is None


class Shouted(Names):
    """An extractor of the caller's own that only inherits how names are learnt."""

    def triples(self, passages):
        return [[(a.upper(), r, b) for a, r, b in some] for some in super().triples(passages)]


def test_a_class_that_reads_in_its_own_way_does_not_learn_in_anothers():
    assert as_learning(Names()) is not None
    assert as_learning(Names) is None
    assert as_learning(Shouted()) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["One.", "# A\n\nOne two. Three four.\n\n## B\n\nFive six seven eight."]
            ),
            st.sampled_from([{}, {"title": "T  t"}, {"file_name": "f.md"}, {"title": 7}]),
            st.sampled_from([None, None, "book", "d0"]),
            st.booleans(),
            st.sampled_from(["markdown", "text"]),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_an_extractor_is_shown_a_passage_of_a_graph_as_it_was_when_it_was_read(made):
    documents = [
        Document(
            f"d{i}",
            text,
            metadata,
            source=None if source == f"d{i}" else source,
            span=(3, 3 + len(text)) if has_span and source else None,
            format=format,
        )
        for i, (text, metadata, source, has_span, format) in enumerate(made)
    ]
    pieces = [Splitter(4, count=lambda text: len(text.split()))(one) for one in documents]
    graph = assemble(documents, pieces, None, len)
    rows = graph.rows("passage").tolist()
    shown = passages_to_extract(documents, pieces)
    found = passages_of_rows(graph, rows, {one.id: one for one in documents})
    assert found == shown
    assert [(one.metadata, one.whole) for one in found] == [(p.metadata, p.whole) for p in shown]


LINES = (
    "from kit.a import *",
    "from kit.b import *",
    "from kit import a, b",
    "from kit.a import cut_wood as cut, Box",
    "import kit.b",
    "from .c import Box, LIMIT",
    "class Base:\n    def open_lid(self): ...\n    @property\n    def inner_box(self) -> 'Box': ...",
    "class Box(Base):\n    def open_lid(self): return super().open_lid()",
    "class Other(kit.b.Box):\n    def shut_lid(self): self.open_lid()",
    "def cut_wood(box: Box): box.inner_box.open_lid()",
    "def use(thing): thing.shut_lid(); cut_wood(thing); cut(thing)",
    "LIMIT = Box()",
    "def bound(): return LIMIT.open_lid()",
    "def (",
)
PATHS = (
    "kit/__init__.py",
    "kit/a.py",
    "kit/a/__init__.py",
    "kit/b.py",
    "kit/c.py",
    "tool/c.py",
    "run.py",
)
C_LINES = ("int cut(int a) { return a; }", "int build() { return cut(1); }", '#include "one.c"')
FILES = st.tuples(
    st.dictionaries(
        st.sampled_from(PATHS),
        st.lists(st.sampled_from(LINES), min_size=3, max_size=9, unique=True),
        min_size=3,
    ),
    st.dictionaries(
        st.sampled_from(["one.c", "two.c", "sub/one.c"]),
        st.lists(st.sampled_from(C_LINES), min_size=1, max_size=3),
    ),
)


def passages_of_files(files):
    """Every file cut into its lines, as passages of a document."""
    passages = {}
    for paths, format in zip(files, ("python", "c"), strict=True):
        for path, lines in paths.items():
            whole, start, cut = "\n".join(lines), 0, []
            for line in lines:
                cut.append(Passage(f"{path}#{start}", line, "", path, start, format, whole=whole))
                start += len(line) + 1
            passages[path] = cut
    return passages


def by_symbols(triples, knowledge):
    """Facts of every passage by symbols, which may have other names where they came in turn."""
    symbol_of = {name: symbol for symbol, name in KnownCode(knowledge).naming.names.items()}
    return [{(symbol_of[a], r, symbol_of[b]) for a, r, b in some} for some in triples]


@settings(max_examples=60)
@given(FILES, st.data())
def test_a_file_is_read_by_what_the_others_define_as_all_are_read_at_once(files, data):
    of_file = passages_of_files(files)
    new = data.draw(st.sets(st.sampled_from(sorted(of_file)), min_size=1))
    some = [passage for path in of_file if path not in new for passage in of_file[path]]
    more = [passage for path in of_file if path in new for passage in of_file[path]]
    symbols = Symbols()
    triples, everything = symbols.learn([*some, *more])
    _, known = symbols.learn(some)
    read, grown = symbols.learn_more(
        more, known, lambda ids: [passage for id in ids for passage in of_file[id]]
    )
    assert by_symbols(read, grown) == by_symbols(triples[len(some) :], everything)
    assert symbols.forget(more, grown) == known
    for name, table in everything.tables.items():
        if name != "symbols.called":
            assert grown.tables[name] == table
    called = KnownCode(grown).naming.names
    assert called.items() >= KnownCode(known).naming.names.items(), "a symbol keeps its name"
    assert len({fold_case(name) for name in called.values()}) == len(called)
    left = symbols.forget(some, everything)
    assert not [
        text
        for table in left.tables.values()
        for text in table
        if text.split("\0")[0] in {path for path in of_file if path not in new}
    ]


def test_a_part_of_a_file_cannot_come_or_go_alone():
    cut = passages_of_files(({"kit/a.py": ["x = 1", "def cut_wood(): ..."]}, {}))["kit/a.py"]
    _, known = Symbols().learn(cut)
    assert Symbols().forget(cut[:1], known) is None
    _, known = Symbols().learn(cut[:1])
    assert Symbols().learn_more(cut[1:], known, nothing) is None
    odd = Passage("a", "x = 1", document="a\0.py", format="python")
    assert Symbols().learn([odd])[1] is None


def test_names_and_symbols_learn_what_both_learn():
    passages = [
        Passage("a", "def cut_wood(): ...", document="wood.py", format="python"),
        Passage("b", "Ann uses cut_wood.", "Guide"),
        Passage("c", "They met Ann. See `wood.cut_wood`.", "Guide"),
    ]
    both = NamesAndSymbols()
    triples, everything = both.learn(passages)
    assert (
        everything.tables.items()
        == {
            **Names().learn(passages)[1].tables,
            **Symbols().learn(passages)[1].tables,
        }.items()
    )
    _, known = both.learn(passages[:2])
    assert both.learn_more(passages[2:], known, nothing) == (triples[2:], everything)
    assert ("Guide", "mentions", "cut_wood") in triples[2]
    assert both.forget(passages[2:], everything) == known
    assert as_learning(both).knowledge_form == "names 1, symbols 2"


def test_only_those_files_are_parsed_again_to_which_a_name_leads():
    lines = {
        "kit/__init__.py": ["from kit.a import *", "from kit.b import *"],
        "kit/a.py": ["class Saw:\n    def cut_wood(self): ..."],
        "kit/b.py": ["def find_wood(): ..."],
        "kit/c.py": ["class Axe:\n    def chop_wood(self): ..."],
    }
    of_file = passages_of_files((lines, {}))
    _, known = Symbols().learn([passage for some in of_file.values() for passage in some])
    asked = []

    def passages_of(ids):
        asked.extend(ids)
        return [passage for id in ids for passage in of_file[id]]

    text = "import kit\ndef work(tool):\n    kit.find_wood()\n    tool.chop_wood()"
    new = Passage("run", text, document="run.py", format="python", whole=text)
    read, _ = Symbols().learn_more([new], known, passages_of)
    assert read == [
        [
            ("run", "imports", "kit"),
            ("run", "defines", "work"),
            ("work", "calls", "find_wood"),
            ("work", "calls", "Axe.chop_wood"),
        ]
    ]
    assert sorted(asked) == ["kit/__init__.py", "kit/b.py", "kit/c.py"]
