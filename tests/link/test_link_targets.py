"""A link to an id of HTML or to a label of reStructuredText leads to the passage that has it."""

from __future__ import annotations

import random
import re

import pytest

import clew
from clew.graph import Graph
from clew.link import Hyperlink
from clew.read import Splitter

WORD = re.compile(r"w\d{5}")
ELEMENTS = (
    "<p id={id}>{words}</p>",
    "<p>{more}</p><p><span id={id}></span>{words}",
    "<p><a name={id}>{words}</a></p>",
    "<ul><li>{more}<li id={id}>{words}</ul>",
    "<dl><dt id={id}>{words}<dd>{more}</dl>",
    '<dl><dt class=sig id={id}><span class="sig-name">{words}</span><dd>{long}</dl>',
    "<table><tr><th>{more}</th></tr><tr><td></td></tr><tr id={id}><td>{words}</td></tr></table>",
    "<table><tr><td>{more}</td><td><a id={id}></a>{words}</td></tr></table>",
    "<pre>\n\n{more}\n{long}\n<span id={id}></span>{words}\n</pre>",
    "<h2>{words}<a id={id}></a></h2><p>{more}",
    "<section id={id}><h3>{words}</h3><p>{more}</section>",
    "<div id={id}></div><blockquote>{words}</blockquote>",
)


class Words:
    """Words of which none comes twice."""

    def __init__(self):
        self.n = 0

    def __call__(self, n):
        self.n += n
        return " ".join(f"w{i:05}" for i in range(self.n - n, self.n))


def write_folder(folder, seed):
    """A page with ids on all kinds of elements, and one that links to each of them."""
    draw, words = random.Random(seed), Words()
    ids = [f"{draw.choice('abc')}{i}.x" for i in range(24)]
    parts = [
        draw.choice(ELEMENTS).format(id=f'"{id}"', words=words(3), more=words(4), long=words(20))
        for id in ids
    ]
    body = "<p>" + words(12) + "</p>" + "\n".join(parts)
    (folder / "page.html").write_text(f"<title>t</title>{body}", encoding="utf-8")
    links = "".join(f'<p>{words(2)} <a href="page.html#{id}">x</a></p>' for id in ids)
    (folder / "links.html").write_text(links, encoding="utf-8")
    return ids, body


def edges_of(graph):
    return {
        (graph.ids[tail], graph.ids[head])
        for tail, head in zip(graph.edges.tails, graph.edges.heads, strict=True)
    }


def index_of(folder, tokens=20):
    return clew.Index.from_documents(
        folder, splitter=Splitter(tokens=tokens), links=(Hyperlink(),), extractor=None
    )


@pytest.mark.parametrize("seed", range(6))
def test_an_address_leads_to_the_words_behind_its_id(tmp_path, seed):
    ids, body = write_folder(tmp_path, seed)
    graph = index_of(tmp_path).graph
    links = {re.search(r"w\d{5}", graph.texts[tail])[0]: head for tail, head in zip(
        graph.edges.tails.tolist(), graph.edges.heads.tolist(), strict=True
    )}  # fmt: skip
    assert len(links) == len(ids), "each is in a passage of its own and leads somewhere"
    written = (tmp_path / "links.html").read_text(encoding="utf-8")
    for id in ids:
        tag = re.search(rf'<[^<>]*(?:id|name)="{re.escape(id)}"[^<>]*>', body)
        around = body.rfind("<h2>", 0, tag.start())  # an anchor in a heading is the heading's
        in_heading = around >= 0 and "</h2>" not in body[around : tag.start()]
        wanted = WORD.search(body, around if in_heading else tag.end())[0]
        above = written.rfind("<p>", 0, written.index(f"#{id}"))
        head = links[WORD.search(written, above)[0]]
        assert wanted in graph.texts[head], (id, graph.texts[head])
        assert graph.kinds[head] in ("passage", "section")


def write_labels(folder, seed, name="a.rst"):
    draw, words = random.Random(seed), Words()
    labels, lines, asked = [], [f"{words(1)}", "=" * 9, "", words(9), ""], []
    for i in range(20):
        names = [f"The {draw.choice('xyz')} {i}-{j}" for j in range(draw.randint(1, 2))]
        written = [f"`{one}`" if draw.random() < 0.3 else one for one in names]
        indent = draw.choice(("", "  ")) if i % 3 else ""
        lines += [line for one in written for line in (f"{indent}.. _{one}:", *[""] * (i % 2))]
        lines += [] if lines[-1] == "" else [""]
        if indent == "" and draw.random() < 0.5:
            lines += [words(1), "-" * 9, "", words(8), ""]
        else:
            lines += [indent + words(8), ""]
        labels += names
    lines += [words(1), "-" * 9, ""]  # nothing leads to the section that it is in
    for one in labels:
        spelt = draw.choice((one, one.lower(), f"see <{one}>", f"see\n{one} <{one.upper()}>"))
        lines += [f"{words(2)} :ref:`{spelt}`", ""]
        asked.append(WORD.search(lines[-2])[0])
    (folder / name).write_text("\n".join(lines), encoding="utf-8")
    return labels, asked


@pytest.mark.parametrize("seed", range(6))
def test_a_label_leads_to_the_words_that_it_stands_above(tmp_path, seed):
    labels, asked = write_labels(tmp_path, seed)
    text = (tmp_path / "a.rst").read_text(encoding="utf-8")
    graph = index_of(tmp_path, 40).graph
    heads_of = {}  # a passage may have several links
    for tail, head in zip(graph.edges.tails.tolist(), graph.edges.heads.tolist(), strict=True):
        for word in WORD.findall(graph.texts[tail]):
            heads_of.setdefault(word, []).append(graph.texts[head])
    for label, word in zip(labels, asked, strict=True):
        place = re.search(rf"\.\. _`?{re.escape(label)}`?:", text).end()
        wanted = WORD.search(text, place)[0]
        assert any(wanted in head for head in heads_of[word]), (label, heads_of[word])


def test_a_label_is_that_of_the_same_document_or_else_of_the_nearest_folder(tmp_path):
    for name in ("one/a.rst", "one/b.rst", "two/in/a.rst", "two/b.rst", "c.rst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        own = ".. _faq:\n\nAnswers.\n" if name.endswith("a.rst") else f":ref:`faq` in {name}\n"
        (tmp_path / name).write_text(own, encoding="utf-8")
    assert edges_of(index_of(tmp_path, 256).graph) == {
        ("one/b.rst", "one/a.rst"),
        ("two/b.rst", "two/in/a.rst"),
        ("c.rst", "one/a.rst"),
    }


def test_links_to_labels_and_ids_after_changes_are_those_of_a_new_index(tmp_path):
    (tmp_path / "b.rst").write_text(":ref:`sea` :ref:`the Moon <moon>`\n", encoding="utf-8")
    (tmp_path / "l.html").write_text("<p>x <a href='p.html#low'>y</a>", encoding="utf-8")
    (tmp_path / "p.html").write_text(
        "<p id=low>Low tide is at ten.<p>High tide is at four.", encoding="utf-8"
    )
    index = index_of(tmp_path, 8)
    changes = [
        ("a.rst", ".. _sea:\n\nSalt.\n"),
        ("c.rst", ".. _moon:\n\nFar\n===\n\nIt is far.\n"),
        ("p.html", "<p>Low tide is at ten.<p id=low>High tide is at four."),
        ("a.rst", ".. _lake:\n\nSalt.\n"),
    ]
    seen = set()
    for name, text in changes:
        (tmp_path / name).write_text(text, encoding="utf-8")
        index = index.sync(tmp_path)
        found = edges_of(index.graph)
        assert found == edges_of(index_of(tmp_path, 8).graph)
        seen.add(frozenset(found))
    assert len(seen) == 4, "each change leads elsewhere"
    index.save(tmp_path.parent / "saved")
    loaded = clew.Index.load(tmp_path.parent / "saved")
    assert edges_of(loaded.graph) == edges_of(index.graph)
    assert [one.source_map for one in loaded.documents] == [
        one.source_map for one in index.documents
    ]
    assert loaded.sync(tmp_path) is loaded, "what is saved is what is read"


def test_names_are_no_links():
    graph = Graph.of(
        ["A", "B"],
        ids=["a", "b.md"],
        references=(("anchor:b.md", "label:b.md", "ref:no such"), ("label:b",)),
    )
    assert len(Hyperlink().on(graph)) == 0


def test_a_link_to_a_note_leads_to_the_nearest_file_of_its_name(tmp_path):
    texts = {
        "day.md": "Read [[garden/Beds#Tools|it]], [[ann lee]], ![[Plan.md]] and `[[Code]]`.\n\n"
        "| Who | What |\n|---|---|\n| [[Ann Lee\\|Ann]] | [[Nobody]] |\n",
        "garden/Beds.md": "Wood.\n\n## Tools\n\nA saw. See [[Plan]].\n\n## Rest\n\nNothing.",
        "garden/Plan.md": "Draw it.",
        "people/Ann Lee.md": "A carpenter, whose [[beds]] are dry.",
        "people/Code.md": "No link leads here.",
        "Plan.md": "Go [there](people/Code.md).\n\n[[#Plan]]",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = clew.Index.from_documents(tmp_path, embedder=None).graph
    edges = Hyperlink().on(graph)
    ends = zip(edges.tails.tolist(), edges.heads.tolist(), strict=True)
    assert {tuple(graph.ids[end].partition("#")[0] for end in pair) for pair in ends} == {
        ("day.md", "garden/Beds.md"),
        ("day.md", "people/Ann Lee.md"),
        ("day.md", "Plan.md"),
        ("garden/Beds.md", "garden/Plan.md"),
        ("people/Ann Lee.md", "garden/Beds.md"),
        ("Plan.md", "people/Code.md"),
    }
    (tools,) = (head for head in edges.heads.tolist() if graph.kinds[head] == "section")
    assert graph.texts[tools] == "Tools"


def test_which_of_several_files_a_name_means_does_not_depend_on_their_order(tmp_path):
    texts = {
        "day.md": "[[tide]] and [[moon]] and :ref:`faq`",
        "day.rst": ":ref:`faq`",
        "z/moon.py": '"""Rise."""',
        "z/tide.rst": "Low at ten.",
        "z/faq.rst": ".. _faq:\n\nAnswers.\n",
    }
    later = {
        "y/moon.py": '"""Set."""',
        "z/tide.py": '"""High at four."""',
        "y/faq.rst": ".. _faq:\n\nMore answers.\n",
        "y/tide.md": "Slack at seven.",
    }
    index, wanted = None, []
    for name, text in (texts | later).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        if name in later or name == list(texts)[-1]:
            index = index_of(tmp_path, 256) if index is None else index.sync(tmp_path)
            found = edges_of(index.graph)
            assert found == edges_of(index_of(tmp_path, 256).graph), name
            wanted.append({head for tail, head in found if tail.startswith("day")})
    assert wanted == [
        {"z/tide.rst", "z/moon.py", "z/faq.rst"},
        {"z/tide.rst", "y/moon.py", "z/faq.rst"},
        {"z/tide.py", "y/moon.py", "z/faq.rst"},
        {"z/tide.py", "y/moon.py", "y/faq.rst"},
        {"y/tide.md", "y/moon.py", "y/faq.rst"},
    ]
