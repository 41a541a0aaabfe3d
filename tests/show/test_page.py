"""The page of a context says all there is to say, and nothing that a document wrote is markup or code."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from selectolax.lexbor import LexborHTMLParser

import clew
from clew.context import Context
from clew.items import ContextEdge, Dropped, Hop, Item, Step
from clew.show import path_in_words, to_html

HOSTILE = [
    '"]; end', "<script>alert(1)</script>", "</script><script>alert(1)</script>", "</style><b>", "]]><!--",
    "' onclick='alert(1)", '" onmouseover="alert(1)', "&lt;script&gt;", "javascript:alert(1)",
    "<img src=x onerror=alert(1)>", "</title></head><body onload=alert(1)>", "日本語 🧶", "مرحبا", "",
]  # fmt: skip


def touch(target: str, weight: float = 0.9) -> Hop:
    return Hop("question", "touches", target, weight=weight)


def item(id: str, text: str, *why: Hop, role: str = "seed", score: float = 0.5, **more) -> Item:
    kind = "fact" if role == "fact" else "passage"
    return Item(id, text, score, role, kind, more.pop("tokens", 3), why=why, **more)


@pytest.fixture
def context() -> Context:
    """Anna's passage matches; a fact leads to Ben's over her name; an edge joins the two passages."""
    married = "Anna married Ben"
    to_anna = Hop("question", "fact", "entity:anna", married, 0.8)
    is_named = Hop("entity:anna", "mentions", "p2", forward=False)
    items = (
        item("fact:m", married, Hop("question", "fact", married, married, 0.8), role="fact"),
        item("p1", "Anna sails. The sea is wide.", touch("p1"), metadata={"title": "The voyage"}, span=(0, 28), tokens=5),
        item("p2", "Boats rot. Anna's husband lives in Corfu.", to_anna, is_named, role="expansion", score=0.1, relevance=0.25),
    )  # fmt: skip
    edges = (
        ContextEdge("p1", "p2", "similar", 0.4),
        ContextEdge("p2", "entity:anna", "mentions", 1.0),
        ContextEdge("p1", "entity:corfu", "mentions", 0.2),
        ContextEdge("p2", "entity:corfu", "mentions", 0.2),
    )
    return Context(
        items, "the page", 12, 20, "Where does Anna's husband live?", "Some(method)", edges,
        (Step("Dense(k=3)", 0.0021, {"touched": 3}),), 1.5, 2.0, (("p1", "p9"),), (Dropped("p7", "too long"),),
    )  # fmt: skip


def parsed(context: Context, **options) -> LexborHTMLParser:
    return LexborHTMLParser(to_html(context, **options))


def words_of(node) -> str:
    return " ".join(node.text().split())


def test_the_page_says_everything_there_is_to_say(context):
    page = parsed(context)
    words = words_of(page.body)
    for wanted in (
        "Where does Anna's husband live?", "The voyage", "The sea is wide.", "too long", "p9", "2.1 ms", "touched 3",
        "the page", "Some(method)", "25.0%", "12 of 20 tokens used (60%), 8 tokens free", "relevance 0.25", "prize 0.1",
    ):  # fmt: skip
        assert wanted in words
    articles = page.css("article")
    assert [article.id for article in articles] == ["item-1", "item-2", "item-3"]
    for article, one in zip(articles, context, strict=True):
        assert path_in_words(one) in words_of(article)
        assert " ".join(one.text.split()) in words_of(article)
        assert article.attributes["data-id"] == one.id


def test_the_names_and_facts_stand_on_the_lines_for_all_to_read(context):
    drawing = parsed(context).css_first("svg.drawing")
    labels = {" ".join(text.text() for text in g.css("text")) for g in drawing.css("g.label")}
    assert {"matches 0.90", "“Anna married Ben”", "is named in", "is like 0.40"} <= labels
    boxes = [" ".join(text.text() for text in g.css("text")) for g in drawing.css("g.node")]
    assert "anna" in boxes
    assert any(box.startswith("2 · The voyage") for box in boxes)


def test_the_sentence_with_most_of_the_question_is_marked_and_one_that_shares_little_is_not(
    context,
):
    marks = {article.id: article.css_first("mark") for article in parsed(context).css("article")}
    assert marks["item-1"] is None  # a fact is one statement
    assert marks["item-3"].text() == "Anna's husband lives in Corfu."
    asked = set(re.findall(r"\w+", context.question.lower()))
    for rank, one in enumerate(context, 1):
        if marks[f"item-{rank}"] is not None:
            shared = {
                sentence: len(asked & set(re.findall(r"\w+", sentence.lower())))
                for sentence in re.findall(r"[^.]+\.", one.text)
            }
            marked = marks[f"item-{rank}"].text()
            assert shared[f" {marked}" if f" {marked}" in shared else marked] == max(
                shared.values()
            )
    rain = Context((item("r", "The rain. The snow.", touch("r")),), "", 0, None, "Who sails?", "")
    assert parsed(rain).css_first("mark") is None
    common = [item(f"r{i}", f"Where does it rain? Sentence {i}.", touch("r")) for i in range(5)]
    husband = item("h", "Anna's husband lives in Corfu.", touch("h"))
    crowd = Context((husband, *common), "", 0, None, context.question, "")
    assert [mark.text() for mark in parsed(crowd).css("mark")] == [husband.text]


def test_of_questions_and_answers_the_answer_is_marked():
    asked = "When do the ferries to Corfu sail?"
    faq = item(
        "faq", f"Who sails? Anna. {asked} At ten, from the old quay. It is far.", touch("faq")
    )
    other = item("other", "**Where do ferries to Corfu sail?** From the old town.", touch("other"))
    chat = item(
        "chat",
        "[12:03] <anna> when do the ferries to corfu sail\n[12:04] <ben> at ten",
        touch("chat"),
    )
    page = Context((faq, other, chat), "", 0, None, asked, "")
    marks = [mark.text() for mark in parsed(page).css("mark")]
    assert marks == ["At ten, from the old quay.", "From the old town.", "[12:04] <ben> at ten"]
    named = item("named", f"{asked} They are white. To Corfu they sail at ten.", touch("named"))
    marks = parsed(Context((named,), "", 0, None, asked, "")).css("mark")
    assert [mark.text() for mark in marks] == ["To Corfu they sail at ten."]
    alone = Context((item("alone", f"It rains. {asked}", touch("alone")),), "", 0, None, asked, "")
    assert [mark.text() for mark in parsed(alone).css("mark")] == [asked]


def test_the_bar_has_a_segment_for_each_item_and_the_free_room_in_their_proportions(context):
    segments = parsed(context).css("svg.bar > g")
    shares = [float(g.css_first("rect").attributes["width"].removesuffix("%")) for g in segments]
    assert shares == pytest.approx([100 * tokens / 20 for tokens in (3, 5, 3, 1, 8)], abs=0.01)
    starts = [float(g.css_first("rect").attributes["x"].removesuffix("%")) for g in segments]
    assert starts == pytest.approx([0, 15, 40, 55, 60], abs=0.01)
    titles = [g.css_first("title").text() for g in segments]
    assert titles[1] == "The voyage: 5 tokens"
    assert titles[-1] == "free: 8 tokens"


def test_what_was_left_out_stands_in_the_open_and_a_long_list_is_there_in_full(context):
    aside = parsed(context).css_first("aside")
    left_out = next(one for one in aside.css("section") if "Left out (1)" in one.text())
    assert left_out.css_first("dt").text() == "p7"
    assert left_out.css_first("details") is None
    many = tuple(Dropped(f"d{i}", f"reason {i}") for i in range(40))
    context = Context(context.items, "", 0, None, "Who?", "", dropped=many)
    rows = parsed(context).css("aside section dt")
    assert [row.text() for row in rows] == [dropped.id for dropped in many]


def test_the_neighbours_of_an_item_are_all_that_its_edges_and_the_paths_join_it_to(context):
    pairs = {frozenset((edge.tail, edge.head)) for edge in context.edges}
    for one in context:
        ids = ["question", *(hop.target for hop in one.why[:-1]), one.id]
        pairs |= {frozenset(pair) for pair in pairwise(ids)}
    for article, one in zip(parsed(context).css("article"), context, strict=True):
        joined = {next(iter(pair - {one.id})) for pair in pairs if one.id in pair} - {"question"}
        rows = {words_of(row) for row in article.css("details.near li")}
        assert len(rows) == len(joined)
    third = {words_of(row) for row in parsed(context).css("#item-3 details.near li")}
    assert third == {
        "is like 0.40 2 · The voyage",
        "names anna",
        "names corfu (joins item 2 too)",
    }


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_document_is_markup_or_code(text):
    """The page has the elements, the script and the addresses that it has with harmless texts."""

    def page_of(word: str) -> str:
        name = word or "x"
        items = (
            item(name, f"{word} a.", touch(name), metadata={"title": word, "url": word, "path": word}, heading=word, location=word),
            item("2", f"{word} b", touch(name), Hop(name, word or "k", "2", word), role=word or "r", document=word),
            item("3", word, Hop("question", "fact", word, word, 0.5), role="fact"),
        )  # fmt: skip
        return to_html(
            Context(
                items, word, 1, 9, word, word, (ContextEdge(name, f"entity:{name}", "mentions", 1.0, word),),
                (Step(word, 0.1, {word: word}),), missing=((word, name),), dropped=(Dropped(name, word),),
                nothing_found=word,
            ),
            folder=Path("/"),
        )  # fmt: skip

    page = LexborHTMLParser(page_of(text))
    assert (
        len(page.css("script")) == len(page.css("style")) == len(page.css("title:not(svg *)")) == 1
    )
    assert page.css_first("script").text() == asset("page.js")
    assert not page.css("img, iframe, object, embed, base, form, link, b > *:not(bdi)")
    for node in page.css("*"):
        assert not [name for name in node.attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "xlink:href", "srcdoc", "action"):
            assert node.attributes.get(name) is None or re.fullmatch(
                r"#item-\d", node.attributes[name]
            )
    assert words_of(page.css_first("h1")) == (" ".join(text.split()) or "No question")
    assert " ".join(text.split()) in words_of(page.css_first("#item-1 .text"))


def asset(name: str) -> str:
    return files("clew.show").joinpath(name).read_text(encoding="utf-8").strip()


def test_terminal_escapes_are_shown_and_not_sent():
    text = "\x1b[31mred\x1b[0m \x07\x00 \x9b2J"
    page = to_html(Context((item("p", text, touch("p")),), text, 1, None, text, text))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)
    assert "␛[31mred␛[0m ␇␀" in page


def test_the_policy_allows_the_page_s_own_style_and_script_and_nothing_else(context):
    page = parsed(context)
    policy = page.css_first('meta[http-equiv="Content-Security-Policy"]').attributes["content"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    for rule, tag in (("style-src", "style"), ("script-src", "script")):
        digest = hashlib.sha256(page.css_first(tag).text().encode()).digest()
        assert rules.pop(rule) == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert not rules


@pytest.mark.parametrize(
    "address",
    ["https://sea.org/a?b=c#d", "http://sea.org", "HTTPS://sea.org/"],
)
def test_an_address_of_the_web_is_a_link_that_tells_nothing_of_the_page(address):
    for key in ("url", "source", "link"):
        page = parsed(
            Context((item("p", "t", touch("p"), metadata={key: address}),), "", 0, None, "", "")
        )
        link = page.css_first("a.open")
        assert link.attributes["href"] == address
        assert link.attributes["rel"] == "noopener noreferrer"


@pytest.mark.parametrize(
    "value",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x",
        "file:///etc/passwd", "//evil.org", "https:", "https://", "https://a b", 'https://a"b', "https://a\nb", "ftp://a",
        "vbscript:x", "https://[", "", 7, None, ["https://sea.org"],
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_no_link(value, tmp_path):
    metadata = {"url": value, "source": value, "path": value, "link": value}
    one = item("p", "t", touch("p"), metadata=metadata)
    for folder in (None, tmp_path):
        page = parsed(Context((one,), "", 0, None, "", ""), folder=folder)
        assert not page.css("a.open") or value == "file:///etc/passwd"
        assert not page.css('a[href^="java"], a[href^="file"], a[href^="data"]')


def test_files_are_linked_from_the_folder_of_the_page(tmp_path, monkeypatch):
    docs = tmp_path / "my docs"
    docs.mkdir()
    (docs / "a#b.html").write_text("x", encoding="utf-8")
    (tmp_path / "javascript:alert(1)").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for metadata, more, address in (
        ({"path": "my docs/a#b.html"}, {"anchor": "é"}, "../my%20docs/a%23b.html#%C3%A9"),
        ({"file_path": str(docs / "a#b.html")}, {"page": 3}, "../my%20docs/a%23b.html#page=3"),
        ({"source": "javascript:alert(1)"}, {}, "../javascript%3Aalert%281%29"),
        ({"path": "gone.md"}, {}, None),
        ({"path": "my docs"}, {}, None),
        ({"path": "a\0b"}, {}, None),
    ):
        one = item("p", "t", touch("p"), metadata=metadata, **more)
        file = tmp_path / "pages/page.html"
        file.parent.mkdir(exist_ok=True)
        context = Context((one,), "", 0, None, "", "")
        page = LexborHTMLParser(context.to_html(file))
        links = [link.attributes["href"] for link in page.css("a.open")]
        assert [link.removeprefix("./") for link in links] == ([address] if address else [])
        assert not parsed(context).css("a.open")  # where the page will be is not known


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 elsewhere")
def test_a_file_whose_name_is_no_utf_8_is_linked(tmp_path):
    name = os.fsdecode(b"f\xff.md")
    (tmp_path / name).write_text("x", encoding="utf-8")
    one = item("p", "t", touch("p"), metadata={"path": str(tmp_path / name)})
    page = Context((one,), "", 0, None, "", "").to_html(tmp_path / "why.html")
    (link,) = LexborHTMLParser(page).css("a.open")
    assert unquote_to_bytes(link.attributes["href"]) == b"./f\xff.md"


def test_a_context_writes_its_page_and_fails_before_the_work_where_it_cannot(
    context, tmp_path, monkeypatch
):
    file = tmp_path / "why.html"
    assert context.to_html(str(file)) == file.read_text(encoding="utf-8")
    broken = Context((item("p", "half \ud800 sign", touch("p")),), "", 0, None, "Who?", "")
    broken.to_html(file)
    assert "half ? sign" in file.read_text(encoding="utf-8")
    monkeypatch.setattr("clew.show.page_file.to_html", lambda *_, **__: pytest.fail("too late"))
    for place, error in ((tmp_path / "no/why.html", FileNotFoundError), (tmp_path, OSError)):
        with pytest.raises(error):
            context.to_html(place)


def test_a_notebook_shows_the_page_in_a_frame_that_reaches_nothing_outside(context):
    frame = LexborHTMLParser(context._repr_html_()).css_first("iframe")
    assert frame.attributes["srcdoc"] == to_html(context)
    assert frame.attributes["sandbox"].split() == ["allow-scripts", "allow-popups"]
    assert html.unescape(frame.attributes["title"]) == f"The context for: {context.question}"


PROGRAM = """
import hashlib, clew, re
texts = [clew.Document(f"d{i}", t) for i, t in enumerate(
    ["Anna sails to Corfu with Ben.", "Ben is from Rome.", "Corfu is an island.", "Rome has ships to Corfu."])]
index = clew.Index.from_documents(texts, extractor=clew.Names())
page = index.ask("Who sails to Corfu?").to_html()
print(hashlib.sha256(re.sub(r"[\\d.]+ ms", "", page).encode()).hexdigest())
"""


def test_the_same_context_has_the_same_page_in_every_process():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_nothing_found_is_said_with_the_reason():
    page = parsed(Context((), "", 0, 100, "Who?", "method", nothing_found="no passage was read"))
    assert "No passage was read." in words_of(page.css_first(".nothing"))
    assert "0 items" in words_of(page.body)
    assert not page.css("svg.drawing, article, #search")


def test_every_name_that_the_script_and_the_style_look_for_is_on_the_page(context):
    """A renamed class would break the page in silence: without a browser this is all that notices."""
    page = parsed(context, max_edges=9)
    made = {"lit", "beside", "chosen", "lighting", "searching", "hit"}  # by the script
    for name in set(re.findall(r'"?\.([a-z]+)(?=[\s".,\[:])', asset("page.js"))) & {
        "node", "line", "label", "light", "drawing", "bar", "search", "connector",
    }:  # fmt: skip
        assert page.css(f".{name}"), name
    for attribute in ("data-rank", "data-paths", "data-ends", "data-node", "data-id"):
        assert page.css(f"[{attribute}]"), attribute
    classes = {
        name for node in page.css("[class]") for name in (node.attributes["class"] or "").split()
    }
    others = {
        "bridge",
        "report",
        "fill",
        "nothing",
        "tight",
        "aligned",
    }  # on the pages of other contexts
    styled = set(re.findall(r"\.([a-z]+(?:-[a-z]+)*)(?=[\s:.,{>\[)])", asset("page.css")))
    assert styled <= classes | made | others


@pytest.mark.parametrize(("one", "other"), [("p1", "p2"), ("entity:anna", "p2"), ("p1", "b:c")])
def test_a_role_or_a_kind_that_nobody_knows_is_shown_by_its_own_name(one, other):
    items = (item("p1", "a", touch("p1"), role="oracle"), item("p2", "b", touch("p2")))
    page = parsed(
        Context(items, "", 0, None, "Who?", "", (ContextEdge(one, other, "dreams", 1.0),))
    )
    assert "oracle" in words_of(page.css_first("#item-1 .role"))
    assert "dreams" in words_of(page.css_first("svg.drawing"))


def test_a_real_question_shows_all_of_its_items():
    documents = [
        clew.Document(f"d{i}", text)
        for i, text in enumerate(("Anna sails to Corfu.", "Ben sails.", "Corfu is an island."))
    ]
    context = clew.Index.from_documents(documents).ask("Who sails to Corfu?")
    page = parsed(context)
    assert [a.attributes["data-id"] for a in page.css("article")] == context.ids
    assert {a.attributes["data-rank"] for a in page.css("svg.drawing a")} == {
        str(rank + 1) for rank in range(len(context))
    }
