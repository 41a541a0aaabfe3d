"""Prepared sets: tiny inputs in each collection's format become the folder and questions that a reader expects."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from tests.benchmarks import everyday, everyday_corpora
from tests.benchmarks.prepare import (
    abstracts,
    chats,
    faq,
    functions,
    manuals,
    meetings,
    paragraphs,
    posts,
    sets,
    support,
)
from tests.benchmarks.prepare.checkout import Checkout
from tests.benchmarks.prepare.material import (
    Draft,
    Folder,
    Material,
    Place,
    checked,
    digest,
    half_of,
    plain,
    write,
)
from tests.benchmarks.prepare.package import DebianPackage
from tests.benchmarks.prepare.words import quote_around, quotes_along

FERRY = "ferry waits at the old quay"


def git(folder, *arguments):
    given = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(folder), *given, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def clone(tmp_path):
    """A clone with two commits: a file that changes, and one in a folder."""
    folder = tmp_path / "o+n"
    (folder / "in").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(folder))
    (folder / "a.txt").write_text("old\n")
    (folder / "in" / "b c.txt").write_text("é\n", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    first = git(folder, "rev-parse", "HEAD")
    (folder / "a.txt").write_text("new\n")
    git(folder, "commit", "-qam", "two")
    return tmp_path, first


@pytest.mark.parametrize("bare", [False, True])
def test_a_checkout_is_read_at_its_commit(clone, tmp_path, bare):
    sources, commit = clone
    if bare:
        sources = tmp_path / "bare"
        git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "o+n"), str(sources / "o+n" / "repo"))
    read = Checkout("o/n", commit).read(sources, lambda path: path.endswith(".txt"))
    assert read == {"a.txt": "old\n", "in/b c.txt": "é\n"}


def test_a_missing_clone_or_commit_comes_with_the_command_that_gets_it(clone, tmp_path):
    with pytest.raises(ValueError, match=r"no clone o\+other; get it with: git init .*o\+other"):
        Checkout("o/other", "0" * 40).read(tmp_path, lambda path: True)
    with pytest.raises(ValueError, match=f"fetch -q --depth 1 https://github.com/o/n {'0' * 40}"):
        Checkout("o/n", "0" * 40).read(tmp_path, lambda path: True)


def test_the_commands_bring_a_commit_that_can_be_read(clone, tmp_path):
    sources, commit = clone
    checkout = Checkout("o/n", commit)
    address = (sources / "o+n").as_uri()
    commands = checkout.commands(tmp_path / "new").replace("https://github.com/o/n", address)
    git(tmp_path, "-C", str(sources / "o+n"), "config", "uploadpack.allowAnySHA1InWant", "true")
    subprocess.run(commands, shell=True, check=True)
    assert checkout.read(tmp_path / "new", lambda path: path == "a.txt") == {"a.txt": "old\n"}


def test_the_table_of_sets_is_whole():
    assert not set(sets.SETS) & set(everyday_corpora.SOURCES)
    assert {own.foreign for own in sets.SETS.values()} <= {"", *sets.SETS}
    assert all(name != own.foreign for name, own in sets.SETS.items())
    named = {value for value in vars(sets).values() if isinstance(value, Checkout)}
    assert named == set(sets.CHECKOUTS)
    assert all(re.fullmatch(r"[0-9a-f]{40}", checkout.commit) for checkout in named)
    read_me = everyday.QUESTIONS.joinpath("README.md").read_text("utf-8")
    assert all(f"`{name}`" in read_me for name in sets.SETS)
    links = [f"({checkout.repository}) `{checkout.commit[:8]}`" for checkout in named]
    assert [
        link for link in links if link.replace("(", "(https://github.com/") not in read_me
    ] == []


def test_a_set_is_prepared_once_from_its_clone(clone, tmp_path, monkeypatch):
    sources, _ = clone
    context = "The ferry waits at the old quay until noon."
    question = {
        "id": "q",
        "question": "Where does the ferry wait?",
        "answers": [{"text": "old quay", "answer_start": context.index("old")}],
    }
    article = {"paragraphs": [{"context": context, "qas": [question]}]}
    (sources / "o+n" / "xquad.de.json").write_text(json.dumps({"data": [article]}))
    git(sources / "o+n", "add", ".")
    git(sources / "o+n", "commit", "-qm", "three")
    commit = git(sources / "o+n", "rev-parse", "HEAD")
    monkeypatch.setattr(sets, "XQUAD", Checkout("o/n", commit))
    own = sets.PreparedSet("languages", sets._paragraphs("de", 0, 1))
    monkeypatch.setitem(sets.SETS, "german", own)
    cache = tmp_path / "cache"
    with pytest.raises(ValueError, match="name the folder of clones with --sources"):
        sets.prepared_folder("german", cache, sets.Store(None))
    made = sets.prepared_folder("german", cache, sets.Store(sources))
    assert made == sets.prepared_folder("german", cache, sets.Store(None))  # no clone is needed
    (record,) = [json.loads(line) for line in made[1].read_text("utf-8").splitlines()]
    assert (record["question"], record["gold"][1]) == (
        "Where does the ferry wait?",
        {"file": "article-01.txt", "quote": "the old quay until noon"},
    )
    assert (made[0] / "article-01.txt").read_text("utf-8") == f"{context}\n"


def test_a_quote_stays_in_its_sentence():
    text = "We met. The small red ferry waits at the quay until noon. It rains."
    start = text.index("waits")
    assert quote_around(text, start, start + 5, 5) == "red ferry waits at the"
    assert (
        quote_around(text, start, start + 5, 12)
        == "The small red ferry waits at the quay until noon"
    )
    assert quote_around(text, 8, len(text), 3) == "The small red"
    assert quote_around(text, 3, 3, 5) == ""


def test_quotes_stand_along_a_text_at_equal_distances():
    segments = ["one two three", " ".join(str(i) for i in range(20))]
    quotes = list(quotes_along(segments, words=4, every=10, min_words=4))
    assert quotes == ["0 1 2 3", "10 11 12 13"]


FILES = {
    "a.txt": "The ferry waits at the old quay. The lamp is green all night long.",
    "b.txt": "The lamp is green all night long.",
    "c.html": "<p>The <b>oven</b> is hot in the early morning.</p><script>var ferry</script>",
}


def test_a_folder_finds_the_files_that_hold_whole_words():
    folder = Folder(FILES)
    assert folder.holders("the LAMP, is green") == {"a.txt", "b.txt"}
    assert folder.holders("lamp is gree") == set()
    assert folder.holders("the oven is hot") == {"c.html"}
    assert folder.holders("var ferry") == set()
    assert plain("c.txt", FILES["c.html"]) == FILES["c.html"]


def test_further_questions_are_held_and_were_not_asked(tmp_path, monkeypatch):
    """Those of the half `held` in drawn order, from the first that the set itself has no room for."""
    drafts = [
        Draft(f"Where does ferry {i} wait now?", (Place("a.txt", FERRY),), f"{i}")
        for i in range(40)
    ]
    material = Material(FILES, drafts, per_half=6)
    own = sets.PreparedSet("languages", lambda _: (material, ()))
    monkeypatch.setitem(sets.SETS, "german", own)
    in_turn = [draft.question for draft in drafts if half_of(draft.group) == "held"]
    in_turn.sort(key=lambda question: digest("german", question, question.split()[3]))
    assert len(in_turn) > 10
    folder, path = sets.further_folder("german", tmp_path, sets.Store(None), 10)
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [record["question"] for record in records] == in_turn[6:10]
    assert {record["half"] for record in records} == {"held"}
    assert (folder / "a.txt").read_text("utf-8") == FILES["a.txt"]


def test_what_breaks_a_rule_falls_and_is_counted():
    ferry, lamp = Place("a.txt", "ferry waits at the old quay"), "The lamp is green all night"
    drafts = [
        Draft("Where does the ferry wait now?", (ferry,), "a"),
        Draft("Which colour has the lamp there?", (Place("a.txt", lamp),), "a"),  # in b.txt, too
        Draft(
            "Which colour has the light there?", (Place("a.txt", lamp), Place("b.txt", lamp)), "a"
        ),
        Draft("Where is it?", (ferry,), "a"),
        Draft("Is it asked for twice?", (ferry,), "a"),
        Draft("is it asked for TWICE", (ferry,), "a"),
        Draft("What of short quotes, which fall?", (Place("a.txt", "The ferry"),), "a"),
        Draft("What of quotes of another file?", (Place("b.txt", ferry.quote),), "a"),
    ]
    kept, fallen = checked(Material(FILES, drafts), "set")
    assert {draft.question for draft in kept} == {drafts[0].question, drafts[2].question}
    assert fallen == {
        "quotes of other files, too": 1,
        "questions of few words": 1,
        "questions asked twice": 2,
        "quotes too short or long": 1,
        "quotes that are not in their file": 1,
        "questions without a place": 3,
    }
    kept, fallen = checked(Material(FILES, [drafts[0], drafts[2]], per_half=1), "set")
    assert len(kept) == fallen["beyond the number wanted"] == 1


def test_a_set_is_written_the_same_whatever_the_order_of_its_drafts(tmp_path):
    drafts = [
        Draft(
            f"Where does ferry number {i} wait?", (Place("a.txt", "waits at the old quay"),), f"{i}"
        )
        for i in range(9)
    ]
    others = [Draft(f"Who bakes bread number {i} today?", (), "x") for i in range(30)]
    texts = []
    for order in (1, -1):
        path = tmp_path / f"{order}.jsonl"
        write("s", Material(FILES, drafts[::order]), others[::order], tmp_path / "s", path)
        texts.append(path.read_text("utf-8"))
    assert texts[0] == texts[1]
    records = [json.loads(line) for line in texts[0].splitlines()]
    assert [record["answerable"] for record in records] == [True] * 9 + [False] * 20
    unanswerable = [record["half"] for record in records[9:]]
    assert unanswerable.count("tune") == unanswerable.count("held") == 10
    halves = {record["question"]: record["half"] for record in records[:9]}
    assert halves == {draft.question: half_of(draft.group) for draft in drafts}
    assert (tmp_path / "s" / "c.html").read_text("utf-8") == FILES["c.html"]


def test_abstracts_in_xml():
    documents = (
        "<doc><docno>1</docno><title>flow past a plate .</title>"
        "<text>flow past a plate .\nthe flow &amp; its wake were seen at low speed .</text></doc>"
        "<doc><docno>2</docno><title>empty</title><text></text></doc>"
    )
    requests = "<top><num>1</num><title>\nwhat of flow\npast plates\n</title></top><top><num>9</num><title>second</title></top>"
    judgements = "1 0 1 2\n1 0 2 1\n2 0 1 -1\n2 0 1 5\n"
    collection = abstracts.read_xml(documents, requests, judgements)
    assert collection.wanted == {"1": ["1", "2"]}
    material = abstracts.prepare(collection)
    assert dict(material.files) == {
        "0001.txt": "flow past a plate .\n\nthe flow & its wake were seen at low speed .\n"
    }
    first, second = material.drafts
    assert first.question == "what of flow past plates"
    assert first.places == (Place("0001.txt", "the flow & its wake were seen at low speed"),)
    assert (second.question, second.places) == ("second", ())


def test_abstracts_in_the_format_of_smart():
    documents = ".I 1\n.T\nOn lists\n.A\nA. B.\n.W\nLists are read by all of us at home.\n.X\n1\t5\t1\n.I 2\n.T \nOn maps\n.W\nMaps\n"
    collection = abstracts.read_smart(
        documents, ".I 7\n.W\nWho reads\nlists?\n", "  7   1\t0\t0.0\n"
    )
    assert collection.abstracts["1"] == ("On lists", "Lists are read by all of us at home.")
    assert collection.abstracts["2"] == ("On maps", "Maps")
    material = abstracts.prepare(collection)
    assert material.drafts[0].question == "Who reads lists?"
    assert material.drafts[0].places[0].file == "0001.txt"


def test_paragraphs_keep_some_articles_out_of_the_folder():
    def article(number):
        context = f"Ferry {number} waits here. It sails to island {number} at ten."
        answer = {"text": "ten", "answer_start": context.index("ten")}
        question = {
            "id": f"q{number}",
            "question": f"When does {number} sail? ",
            "answers": [answer],
        }
        return {"paragraphs": [{"context": context, "qas": [question]}]}

    text = json.dumps({"data": [article(number) for number in range(12)]})
    material, left_out = paragraphs.prepare(text)
    assert len(material.files) == len(material.drafts) == 10
    assert [draft.question for draft in left_out] == ["When does 5 sail?", "When does 11 sail?"]
    assert material.drafts[0].places == (
        Place("article-01.txt", "It sails to island 0 at ten"),
        Place("article-01.txt", "to island 0 at ten"),
    )
    parts = [paragraphs.prepare(text, (part, 3))[0].drafts for part in range(3)]
    assert sorted(len(part) for part in parts) != [10, 10, 10]
    assert {draft for part in parts for draft in part} == set(material.drafts)
    assert sum(map(len, parts)) == 10


def test_paragraphs_without_spaces_are_quoted_between_marks():
    context = "他在码头等船，船在十点开往那个小岛，然后回来。"
    answer = {"text": "十点", "answer_start": context.index("十点")}
    question = {"id": "q", "question": "船几点开？", "answers": [answer]}
    text = json.dumps({"data": [{"paragraphs": [{"context": context, "qas": [question]}]}]})
    material, _ = paragraphs.prepare(text, spaced=False)
    assert material.drafts[0].places[0].quote == "船在十点开往那个小岛"


def test_logs_of_chats_are_lines_of_messages_and_gold_is_the_line_of_the_answer():
    lines = [
        ("Ann", "where does the  ferry to Corfu sail ?"),
        ("bo_", "from the Old quay at ten"),
        ("Ann", "ok"),
    ]
    edus = [{"speaker": who, "text": text} for who, text in lines]
    start = "ann: where does the  ferry to corfu sail ? bo_: from the old quay".index("old")
    answers = [{"text": "the old quay", "answer_start": start - 4}]
    asked = [
        {"question": "From where does it sail ?", "answers": answers},
        {"question": "And what of nothing ?", "answers": []},
    ]
    questions = {"data": {"dialogues": [{"edus": edus, "qas": asked}]}}
    further = [{"speaker": "cleo", "text": f"message {i}"} for i in range(3)]
    others = [{"edus": further}, {"edus": [*further, edus[0]]}, {"edus": edus}]
    material = chats.prepare(json.dumps(questions), [json.dumps(others)])
    written = (
        "<Ann> where does the ferry to Corfu sail ?\n<bo_> from the Old quay at ten\n<Ann> ok\n"
    )
    third = "".join(f"<cleo> message {i}\n" for i in range(3))
    assert material.files["log-000.txt"] in (written + third, third + written)
    (draft,) = material.drafts
    assert draft.question == "From where does it sail?"
    assert draft.places == (Place("log-000.txt", "bo_> from the Old quay at ten"),)


def test_meetings_are_lines_of_turns():
    turns = [
        {"speaker": "Ann", "content": "We  start now ."},
        {"speaker": "Bob", "content": "The lamp should be green because it is seen far ."},
        {"speaker": "Ann", "content": "Yes ."},
    ]
    queries = [
        {"query": "Why green?", "relevant_text_span": [["1", "2"]]},
        {"query": "All of it?", "relevant_text_span": [["0", "99"], ["0", "99"]] * 11},
    ]
    meeting = {"meeting_transcripts": turns, "specific_query_list": queries}
    material = meetings.prepare({"data/x.json": json.dumps(meeting)})
    assert material.files["x.txt"].splitlines() == [
        "Ann: We start now .",
        "Bob: The lamp should be green because it is seen far .",
        "Ann: Yes .",
    ]
    (draft,) = material.drafts
    assert draft.places == (Place("x.txt", "Bob: The lamp should be green because it is seen far"),)


SOURCES = {
    "A.java": """class A {
    /**
     * Tells the {@code captain} when ferries sail. And more.
     *
     * @param when the hour
     */
    @Override
    public int tell(final int when) {
        return this.captain.answer(when, quay);
    }

    /**
     * Tells the captain nothing of ferries at all.
     */
    public int tell() {
        return 0;
    }

    /** Short. */
    private void keep() {
        return;
    }
}
""",
    "b.js": """/**
 * Paint all lamps of the quay green.
 * @param {Array} lamps The lamps.
 */
export function paintLamps(lamps) {
  for (const lamp of lamps) {
    lamp.colour = green;
  }
}
""",
    "c.go": """// Sail returns the ferry that leaves the quay next.
func (q *Quay) Sail(now int) (*Ferry, error) {
\treturn q.queue.first(now), nil
}
""",
    "d.rs": """impl Quay {
    /// Count the ferries which wait at the quay.
    #[inline]
    pub fn count(&self) -> usize {
        self.queue.len_of_all_that_wait()
    }
}
""",
    "e.c": """/* ringBell(): Ring the bell of the old ferry twice. */
static void ringBell(bell *b, int times) {
    if (times) strike(b, times);
}
""",
    "f.py": '''class Quay:
    def moor(self, ferry):
        """Tie the ferry to the quay with two ropes.

        Args:
            ferry: It.
        """
        for rope in self.ropes:
            ferry.tie(rope, self.bollard)
''',
}


def test_functions_are_asked_for_by_the_first_sentence_of_what_was_removed():
    material = functions.prepare(SOURCES, "set")
    by_file = {}
    for draft in material.drafts:
        by_file.setdefault(draft.group, []).append(draft)
    questions = {path: {draft.question for draft in own} for path, own in by_file.items()}
    assert questions == {
        "A.java": {
            "Tells the captain when ferries sail",
            "Tells the captain nothing of ferries at all",
        },
        "b.js": {"Paint all lamps of the quay green"},
        "c.go": {"returns the ferry that leaves the quay next"},
        "d.rs": {"Count the ferries which wait at the quay"},
        "e.c": {"Ring the bell of the old ferry twice"},
        "f.py": {"Tie the ferry to the quay with two ropes"},
    }
    for path, text in material.files.items():
        assert not any(question in text for question in questions[path])
        kept = [line for line in SOURCES[path].splitlines() if line in text.splitlines()]
        assert "\n".join(kept) + "\n" == text  # whole lines went, and nothing else
    assert "/** Short. */" in material.files["A.java"]
    assert "@Override" in material.files["A.java"]
    overloads = {place.quote for place in by_file["A.java"][0].places}
    assert any("answer(when, quay" in quote for quote in overloads)
    kept, fallen = checked(material, "set")
    assert {draft.group for draft in kept} == set(SOURCES), fallen


def test_functions_of_one_sentence_or_that_name_themselves_are_not_asked_for():
    text = "// %s %s\nfunc %s(a int) int {\n\treturn a + b + c + d\n}\n"
    same = text % ("Go", "returns the next ferry of all", "Go")
    named = text % ("X", "is what nextFerry of the quay does", "nextFerry")
    files = {"a.go": same, "b.go": same, "c.go": named}
    material = functions.prepare(files, "set")
    assert not material.drafts
    assert dict(material.files) == files


@pytest.mark.parametrize(
    ("comment", "sentence"),
    [
        ("/** @param x the lamp of the quay */", ""),
        ("/**\n * Return one of these:\n *\n * a\n */", ""),
        ("// Foo: Bakes bread, e.g. of rye. It is good.", "Bakes bread, e.g. of rye"),
        ("/// Foo bakes [`Bread`] now", "bakes [ Bread ] now"),
        ("Bake :func:`bread`\nslowly.\n\nParameters\n----------", "Bake bread slowly"),
    ],
)
def test_the_first_sentence_of_a_comment(comment, sentence):
    assert functions.first_sentence(comment, "Foo") == sentence


def test_queries_find_functions_in_modules():
    codes = json.dumps({f"def f{i}(x):\n    return x.y.z.attribute{i}(x)": i for i in range(40)})
    records = json.dumps([{"doc": "how to get attribute", "retrieval_idx": 7}])
    material = functions.prepare_queries(codes, [records], others=9, per_file=4)
    assert sorted(material.files) == ["functions_001.py", "functions_002.py", "functions_003.py"]
    (draft,) = material.drafts
    assert "attribute7" in material.files[draft.group]
    assert draft.places == (Place(draft.group, "def f7(x): return x.y.z.attribute7(x"),)


def test_questions_of_html_leave_the_text_its_links_and_its_labels():
    page = """<html><body><ul><li><a href="#how-do-ferries-sail">How do <b>ferries</b> sail?</a></li></ul>
<section id="how-do-ferries-sail">
<h2>How do <b>ferries</b> sail?<a class="headerlink" href="#how-do-ferries-sail">¶</a></h2>
<p>They sail on the water &amp; at <em>ten in the morning, when the tide is high</em>.</p>
</section><h2>Imprint</h2><p>By the harbour master of the old town.</p></body></html>"""
    other = '<p><a href="faq.html#how-do-ferries-sail">How do ferries sail?</a> Read it.</p>'
    material = faq.prepare({"faq.html": page, "b.html": other}, lambda path: path == "faq.html")
    (draft,) = material.drafts
    assert draft.question == "How do ferries sail?"
    assert [place.quote for place in draft.places] == [
        "They sail on the water & at",
        "ten in the morning, when the tide is high",
    ]
    assert "<h2>Question 1</h2>" in material.files["faq.html"]
    assert 'id="question-1"' in material.files["faq.html"]
    for text in material.files.values():
        assert "ferries</b> sail" not in text
        assert "How do" not in text
        assert "how-do-ferries" not in text
    assert "harbour master" in material.files["faq.html"]


def test_questions_of_restructuredtext_leave_the_text_and_its_labels():
    page = """===
FAQ
===

Sailing
=======

.. _faq-why-ten:

Why do ``ferries`` sail at ten?
-------------------------------

Because the tide is high at that hour, see :ref:`tides <tide-table>` of the harbour.

.. note::
   Not so in the winter months of the year.

Tides
-----

They come and go twice in a day.
"""
    other = "See :ref:`faq-why-ten`.\n"
    material = faq.prepare(
        {"x/faq.rst": page, "a.rst": other}, lambda path: path.endswith("faq.rst")
    )
    (draft,) = material.drafts
    assert draft.question == "Why do ferries sail at ten?"
    assert [place.quote for place in draft.places] == [
        "Because the tide is high at that hour, see",
        "Not so in the winter months of the year",
    ]
    assert "\nQuestion 1\n----------\n\nBecause" in material.files["x/faq.rst"]
    assert ".. _question-1:" in material.files["x/faq.rst"]
    assert material.files["a.rst"] == "See :ref:`question-1`.\n"
    assert "Tides\n-----\n\nThey come" in material.files["x/faq.rst"]


def test_the_gold_of_a_customers_question_is_the_block_with_most_of_the_answer():
    page = """# Ferries

Ferries are **boats** that carry people over the water.

| Boat | Seats of each boat |
| --- | --- |
| Old ferry of the northern quay | 40 seats |
| New ferry of the southern quay | 90 seats |
"""
    table = "Question,Answer_True,Yes_No_True,Document_True\n"
    table += "Seats of the new ferry?,90 seats,None, sea/ferries.md\nIs it red?,no such words here,No,sea/ferries.md\nWhere?,x,None,sea/none.md\n"
    files = {"sea/ferries.md": page, "sea/a.md": "A", "sea/b.md": "B", "land/c.md": "C"}
    material = support.prepare(files, f"\ufeff{table}", 2)
    first, second = material.drafts
    assert all("New ferry of the southern" in place.quote for place in first.places)
    assert first.places
    assert second.places == ()
    assert len(material.files) == 2
    assert "land/c.md" not in material.files


MAN = r""".\" a comment
.TH BAKE 1
.SH "NAME"
bake \- make bread
.SH OPTIONS
.PP
\fB\-q\fR, \fB\-\-quiet\fR
.RS 4
Say nothing at all while
the bread is \fIin\fR the oven\&.
.RE
.PP
.nf
bake \-q
  rye
.fi
"""
MDOC = r""".Dd today
.Sh NAME
.Nm sail
.Nd go by boat
.Sh DESCRIPTION
.Bl -tag -width x
.It Fl t Ar hour
Sail at the
.Ar hour
that is given , see
.Xr tide 7 .
.It Fl x , Fl -extra
Go on board with
.Fl t
set.
.El
"""


def test_manual_pages_become_text():
    assert manuals.to_text(MAN) == (
        "NAME\n\nbake - make bread\n\nOPTIONS\n\n-q, --quiet\n\n"
        "Say nothing at all while the bread is in the oven.\n\nbake -q\n  rye\n"
    )
    assert manuals.to_text(MDOC) == (
        "NAME\n\nsail go by boat\n\nDESCRIPTION\n\n-t hour\nSail at the hour that is given , see tide(7).\n\n"
        "-x, --extra\nGo on board with -t set.\n"
    )


def test_a_task_is_answered_where_its_option_is_described():
    examples = {
        "bake": "# bake\n\n> Bread.\n\n- Bake `rye` without a word:\n\n`bake {{[-q|--quiet]}} {{rye}}`\n\n- Just bake:\n\n`bake {{rye}}`\n",
        "sail": "# sail\n\n- Sail at an hour, with extras:\n\n`sail -xt {{hour}}`\n",
        "fly": "# fly\n\n- Fly away from it all:\n\n`fly -a`\n",
    }
    pages = {"man1/bake.1": MAN, "src/sail.1": MDOC}
    material = manuals.prepare(pages, examples, {"sail": "boats: "})
    drafts = {draft.question: draft for draft in material.drafts}
    assert set(drafts) == {"Bake rye without a word", "boats: Sail at an hour, with extras"}
    assert drafts["Bake rye without a word"].places == (
        Place("bake.1.txt", "Say nothing at all while the bread is in the oven"),
        Place("bake.1.txt", "q, --quiet Say nothing at all while the bread is in the"),
    )
    quotes = [place.quote for place in drafts["boats: Sail at an hour, with extras"].places]
    assert quotes[0] == "Sail at the hour that is given , see tide(7"
    assert quotes[2] == "Go on board with -t set"
    assert manuals.options_of("tar {{[-x|--extract]}}vf {{a-b}}") == {"-x", "--extract"}


LIBRARY = """<html><body><h1>sea</h1><dl class="py function">
<dt class="sig sig-object py" id="sea.sail">sea.sail(<em>hour</em>)</dt>
<dd><p>Set out at the <em>hour</em> that is given, see <a href="x.html">the tide tables of</a> it.</p>
<dl class="py method"><dt class="sig" id="sea.sea.harbour">harbour()</dt>
<dd><p>Come back to the old harbour again.</p></dd></dl></dd></dl></body></html>"""


def test_posts_are_answered_by_the_definition_that_their_code_calls():
    def answer(number, code, *definitions):
        return {
            "question_id": f"{number}-1",
            "cmd": code,
            "oracle_man": [f"python.library.{definition}" for definition in definitions],
        }

    answers = [
        answer(1, "ship = sea.sail(10)", "sea#sea.sail"),
        answer(2, "ship.harbour()", "sea#sea.sea.harbour"),  # of a type that nobody knows
        answer(3, "sea.sail(10)[0]", "sea#sea.sail"),  # the call is a part
        answer(4, "sea.sail(clock())", "sea#sea.sail", "time#clock"),  # two definitions
        answer(5, "sea.harbour()", "sea#sea.sea.harbour"),  # of the class, named as its module
        answer(6, "sea.swim()", "sea#sea.swim"),  # no such definition
        *(answer(number, "sea.sail(9)", "sea#sea.sail") for number in (7, 8)),
    ]
    titles = [{"question_id": i, "intent": f"How to go <b>{i}</b> times?"} for i in range(1, 9)]
    material = posts.prepare_posts(
        {"library/sea.html": LIBRARY}, json.dumps(titles), [json.dumps(answers)]
    )
    of_ships = {f"How to go {i} times?" for i in (1, 7, 8)}
    asked = {draft.question for draft in material.drafts}
    assert asked & of_ships < of_ships  # a definition answers two posts
    assert asked - of_ships == {"How to go 5 times?"}
    by_words = {place.quote for draft in material.drafts for place in draft.places}
    assert by_words == {
        "Set out at the hour that is given, see",
        "Come back to the old harbour again",
    }
    assert {draft.group for draft in material.drafts} == {"library/sea.html"}


def test_written_questions_name_the_definitions_that_answer_them():
    lines = json.dumps({"question": "How do I return?", "definitions": ["sea#sea.sea.harbour"]})
    (draft,) = posts.prepare_written({"library/sea.html": LIBRARY}, lines).drafts
    assert draft == Draft(
        "How do I return?",
        (Place("library/sea.html", "Come back to the old harbour again"),),
        "library/sea.html",
    )


def test_written_questions_name_sections_too_and_anchors_that_stand_in_them():
    page = """<html><body><section id="tides"><span id="moon"></span><h1>Tides of the whole sea</h1>
    <p>They come from the moon and the sun.</p>
    <section id="low"><h2>Low</h2><p>Twice a day the water is low.</p></section></section></body></html>"""
    asked = {"When?": "low", "Why?": "tides", "How?": "moon"}
    questions = "\n".join(
        json.dumps({"question": question, "definitions": [f"sea#{anchor}"]})
        for question, anchor in asked.items()
    )
    drafts = posts.prepare_written({"library/sea.html": page}, questions).drafts
    why = "They come from the moon and the sun"
    assert {draft.question: [place.quote for place in draft.places] for draft in drafts} == {
        "When?": ["Twice a day the water is low"],
        "Why?": [why],
        "How?": [why],
    }


def test_a_package_of_debian_is_read_where_it_is_unpacked(tmp_path):
    package = DebianPackage("sea-doc", "usr/share/doc/sea")
    with pytest.raises(ValueError, match="apt-get download sea-doc && dpkg-deb -x"):
        package.read(tmp_path, lambda path: True)
    page = tmp_path / "sea-doc" / package.folder / "in" / "a.html"
    page.parent.mkdir(parents=True)
    page.write_text("é", "utf-8")
    page.with_suffix(".txt").touch()
    assert package.read(tmp_path, lambda path: path.endswith(".html")) == {"in/a.html": "é"}
