"""Citations point at the items that stand behind their numbers; quotes are what the context says, and no more."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew.cite import citations, quote_sources, quotes
from clew.conversation import NOTHING
from clew.text.asking import questions_in
from clew.text.words import terms

DOCUMENTS = [
    clew.Document("anna", "Anna married Ben. They met in Rome, in the rain.", {"title": "Anna"}),
    clew.Document("ben", "Ben lives on Corfu. He builds boats.", {"title": "Ben"}),
    clew.Document("corfu", "Corfu is a Greek island. It has olive trees.", {"title": "Corfu"}),
    clew.Document("北京", "北京在中国。上海很大。", {"title": "城市"}),
]
INDEX = clew.Index.from_documents(DOCUMENTS, extractor=clew.Names())


@pytest.mark.parametrize("recipe", clew.recipes.names())
@pytest.mark.parametrize("first", [1, 7])
def test_the_numbers_of_a_page_are_those_of_its_items(recipe, first):
    method = clew.recipes.get(recipe)
    if not hasattr(method, "render"):
        pytest.skip("this method renders in a way of its own")
    context = INDEX.ask(
        "Where does Anna's husband Ben live?",
        recipe=replace(method, render=clew.Render("numbered", first=first)),
    )
    at = 0
    for number, item in enumerate(context, first):
        at = context.text.index(f"[{number}] {item.text}", at)
    assert f"[{first + len(context)}]" not in context.text
    assert context.tokens <= 2000


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("He lives on Corfu [2][1], since 2001 [2].", [2, 1]),
        ("So it is [1, 3; 4] and 【2】.", [1, 3, 4, 2]),
        ("All of it [1-3] [^4].", [1, 2, 3, 4]),
        ("他住在科孚［2］[3、1]，自[4，5]。", [2, 3, 1, 4]),
        ("يعيش في كورفو [2، 4؛ 1].", [2, 4, 1]),
        ("`sys.argv[1]` is the path [2].\n```\na = [1, 4]\n``` [3]", [2, 3]),
        ("The list `[1]` says so, as does `[2, 3]`; a`b is [4].", [1, 2, 3, 4]),
        ("Nothing [0] [5] [1234567] [a] (1) [] [1.5] [3–1]", []),
        ("", []),
    ],
)
def test_citations_are_read_as_models_write_them(text, numbers):
    items = list("abcd")
    assert citations(text, items) == {number: items[number - 1] for number in numbers}
    assert list(citations(text, items)) == numbers


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who runs the inn of Lindow, and who is the president of Paraguay and Uruguay?", True),
        ("Who is the president of Paraguay and Uruguay? Who runs the inn of Lindow?", True),
        ("¿Quién es presidente de Paraguay y Uruguay y quién abre la posada de Lindow?", True),
        ("Who is the president of Paraguay, and who is the chancellor of Uruguay?", False),
        ("Who runs Paraguay, Uruguay, Argentina and the mines of Bolivia?", False),
    ],
)
def test_of_several_questions_in_one_those_are_answered_that_have_an_answer(question, said):
    language = "es" if "¿" in question else "en"
    inn = {"es": "Eleni abre la posada de Lindow.", "en": "Eleni Vassou runs the inn of Lindow."}
    others = [f"Boat number {n} is painted each spring." for n in range(30)]
    index = clew.Index.from_documents([inn[language], *others])
    talk = clew.Conversation.of(index, recipe="bm25", min_relevance=0.0)
    answer = "".join(talk.ask(question))
    assert answer == (f"{inn[language]} [1]" if said else NOTHING)
    parts = re.split(r"(?<=\?) |,? (?:and|y) (?=who|quién)", question)
    alone = {"".join(clew.Conversation.of(index, recipe="bm25").ask(one)) for one in parts}
    assert {answer} == ({one for one in alone if one != NOTHING} or {NOTHING})


def test_a_question_that_is_pasted_is_taken_apart_in_no_time():
    assert questions_in("a" + " " * 99_000 + "and who?") == ["a", "who?"]
    assert questions_in("Is `a?b` so？为什么？") == ["Is `a?b` so？", "为什么？"]
    talk = clew.Conversation.of(INDEX, recipe="bm25", min_relevance=0.0)
    assert "".join(talk.ask("Whither Xerxes? " * 6_000)) == NOTHING


def test_a_number_in_a_quoted_text_is_the_texts_own_and_cites_nothing():
    texts = ["Halvorsen built the lighthouse of Torvik in 1871.[3]", "It rains.", "Boats are red."]
    index = clew.Index.from_documents(
        [clew.Document(f"{i}", text) for i, text in enumerate(texts)]
        + [clew.Document("code", "The path of the script is read from `sys.argv[2]`.")]
    )
    for question, source in (
        ("Who built the lighthouse of Torvik?", "0"),
        ("From where is the path of the script read?", "code"),
    ):
        talk = clew.Conversation.of(index, recipe="fused", min_relevance=0.0, limit=4)
        said = "".join(talk.ask(question))
        context = talk.turns[0].context
        assert len(context) == 4, "there are items with the numbers that the texts have"
        assert "[3] [" in said or "argv[2]`. [" in said
        assert [item.id for item in talk.turns[0].sources.values()] == [source]
        number = context.ids.index(source) + 1
        assert quote_sources(said, context) == {number: context.items[number - 1]}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where does Ben live?", "Ben lives on Corfu."),
        ("Who did Anna marry?", "Anna married Ben."),
        ("Which island has olive trees?", "It has olive trees."),
        ("北京在哪里？", "北京在中国。"),
    ],
)
def test_the_sentence_that_answers_is_quoted_with_its_number(question, said):
    context = INDEX.ask(question, recipe="fused")
    lines = quotes(context).splitlines()
    number = 1 + next(i for i, item in enumerate(context) if said in item.text)
    assert f"{said} [{number}]" in lines


@given(
    st.text(st.sampled_from("Anna Ben Corfu live rain 北京 . ? xyz"), max_size=40).filter(
        str.strip
    ),
    st.integers(1, 4),
)
def test_quotes_are_few_in_order_and_stand_where_they_are_cited(question, most):
    context = INDEX.ask(question)
    lines = quotes(context, most).splitlines()
    assert len(lines) <= most
    numbers = [int(line.rpartition("[")[2].rstrip("]")) for line in lines]
    assert numbers == sorted(numbers)
    for line, number in zip(lines, numbers, strict=True):
        assert line.rpartition(" [")[0] in " ".join(context.items[number - 1].text.split())
    known = set(terms(" ".join(f"{item.heading} {item.text}" for item in context)))
    assert bool(lines) <= any(word[:4] == other[:4] for word in terms(question) for other in known)


TABLES = {
    "staff.csv": "office,people\nLyon,42\nOslo,17\n",
    "staff.tsv": "office\tpeople\nLyon\t42\nOslo\t17\n",
    "staff.md": "# Staff\n\nWork is shared.\n| office | people |\n|---|:-:|\n| Lyon | 42 |\n| Oslo | 17 |\n\nMore is to come.\n",
    "staff.html": "<table><tr><th>office<th>people</tr><tr><td>Lyon<td>42</tr><tr><td>Oslo<td>17</tr></table>",
    "staff.txt": "What follows is a copy.\n\noffice,people\nLyon,42\nOslo,17\n",
    "staff.jsonl": '{"office": "Lyon", "people": 42}\n{"office": "Oslo", "people": 17}\n',
}


@pytest.mark.parametrize("name", TABLES)
def test_a_row_of_a_table_is_quoted_with_the_names_of_its_columns(name, tmp_path):
    (tmp_path / name).write_text(TABLES[name], encoding="utf-8")
    (tmp_path / "house.md").write_text(
        "# The house\n\nThe kitchen is open. Many come, in the morning, to eat.\n", encoding="utf-8"
    )
    said = quotes(
        clew.Index.from_documents([tmp_path], splitter=clew.Splitter()).ask(
            "How many people work in the Lyon office?"
        )
    )
    assert "office: Lyon, people: 42 [" in said
    assert "Oslo" not in said


HARBOUR = Path(__file__).parents[1] / "examples" / "harbour"


def test_prose_with_commas_is_no_table():
    said = "Anna came, and Ben left,\nwhich Clara saw, but not Dan,\nas Eva said, and Finn wrote."
    assert (
        quotes(clew.Index.from_documents([clew.Document("a", said)]).ask("Anna and Ben left?"))
        == f"{' '.join(said.split())} [1]"
    )


def test_a_word_that_many_passages_hold_tells_little():
    common = [
        clew.Document(
            f"{i}",
            f"The question about number {i} is of the kind that nobody asked.",
            {"title": f"{i}"},
        )
        for i in range(30)
    ]
    index = clew.Index.from_documents([*DOCUMENTS, *common])
    for question, told in (
        ("Which question nobody asked about violins?", False),
        ("Which olive trees nobody asked about?", True),
    ):
        assert bool(quotes(index.ask(question, recipe="bm25"), index=index)) == told
    alone = index.ask("Which question nobody asked about violins?", recipe="bm25", budget=20)
    assert quotes(alone)  # what is common cannot be known from one passage
    assert not quotes(alone, index=index)


@pytest.mark.parametrize(
    "question", ["What does a boat cost?", "Who builds a boat?", "Где остров Корфу?"]
)
def test_words_are_met_in_another_form_and_short_ones_are_not(question):
    index = clew.Index.from_documents(
        [
            *DOCUMENTS,
            clew.Document("fee", "The boats cost two crowns."),
            clew.Document("ru", "На острове Корфу."),
            *(clew.Document(f"{i}", "x") for i in range(9)),
        ]
    )
    assert quotes(index.ask(question, recipe="bm25"), index=index)
    assert not quotes(index.ask("Is it of a he in an on?", recipe="bm25"), index=index)


def test_no_context_no_quotes():
    assert quotes(INDEX.ask("Ben", where={"title": "nobody"})) == ""


def test_a_sentence_that_shares_only_a_common_word_joins_no_answer():
    index = clew.Index.from_documents(HARBOUR, splitter=clew.Splitter())
    answer = quotes(index.ask("Who is the harbour master?"), index=index)
    assert answer.startswith("Electricity costs")
    assert "\n" not in answer, "a sentence with *the* and *is* is quoted, too"


def test_a_rare_short_word_of_a_question_hides_no_answer():
    texts = [f"Ferries of line {n} sail from Corfu at {n} o'clock in summer." for n in range(12)]
    index = clew.Index.from_documents([*texts, "The harbour master is Ann.", "Bread is baked."])
    answer = quotes(index.ask("When do ferries sail from Corfu?"), index=index)
    assert "sail from Corfu" in answer, "that no text has *do* says nothing"


ASKED = "How do I reset my password?"
IN_ANSWERS = {
    "faq.md": "# FAQ\n\n**How do I reset my password?**\n\nOpen the profile page.\n\n"
    "**How do I delete my account?**\n\nSend a letter.\n",
    "letters.txt": "Q: How do I reset my password?\nA: Open the profile page.\n\n"
    "Q: How do I delete my account?\nA: Send a letter.\n",
    "faq.html": "<h1>FAQ</h1><dl><dt>How do I reset my password?<dd>Open the profile page."
    "<dt>How do I delete my account<dd>Send a letter.</dl>",
    "reworded.md": "# FAQ\n\n*My password: how is it reset?* Open the profile page.\n\n"
    "*How can I delete an old account?* Send a letter.\n",
}


@pytest.mark.parametrize("name", IN_ANSWERS)
@pytest.mark.parametrize(
    ("question", "said"),
    [(ASKED, "Open the profile page."), ("How do I delete my account?", "Send a letter.")],
)
def test_what_stands_behind_a_question_answers_it(name, question, said, tmp_path):
    (tmp_path / name).write_text(IN_ANSWERS[name], encoding="utf-8")
    index = clew.Index.from_documents([tmp_path], splitter=clew.Splitter())
    for counted_in in (None, index):
        answer = quotes(index.ask(question), index=counted_in)
        assert answer.removeprefix("A: ") == f"{said} [1]"


def test_of_what_stands_behind_a_question_that_is_quoted_which_has_its_words():
    chat = "Anna: What is the guest network called? Hello, all! The guest network is called Otter."
    index = clew.Index.from_documents([clew.Document("chat", chat)])
    answer = quotes(index.ask("What is the guest network called?"))
    assert answer == "The guest network is called Otter. [1]"


def test_a_question_says_nothing_of_another_text_and_is_quoted_where_nothing_else_answers():
    index = clew.Index.from_documents(["Where is the spare key?", "It rains.", "Ben sails."])
    assert quotes(index.ask("Where is the key?", limit=3)) == "Where is the spare key? [1]"
    index = clew.Index.from_documents(["Where is the spare key?", "The key is in the shed."])
    answer = quotes(index.ask("Where is the spare key?", recipe="bm25"))
    assert answer == "The key is in the shed. [2]"


def test_a_row_that_ends_with_a_question_is_an_answer(tmp_path):
    table = "customer,subject\nAnn,Where is my parcel?\nBen,Who sails on Monday?\n"
    (tmp_path / "tickets.csv").write_text(table, encoding="utf-8")
    answer = quotes(clew.Index.from_documents([tmp_path]).ask("Which customer sails on Monday?"))
    assert "customer: Ben, subject: Who sails on Monday?" in answer


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("**The red boat is Ben's. It has a sail.** Anna walks.", "The red boat is Ben's."),
        ("**The red boat is Ben's?** Anna walks.", "Anna walks."),
        ("Anna walks. *Ben has it. It is the __red__ boat*.", "It is the __red__ boat."),
        ("Anna walks. **Ben has it. The red boat.** He sails.", "The red boat."),
        ("Anna walks. The *red* boat is `ben.boat`, and **new.** So.", None),
        ("The red boat is made by `build(**boat)` and 2 ** 3 planks of snake_case_.", None),
    ],
)
def test_no_mark_of_emphasis_is_quoted_without_the_other(text, quoted):
    answer = quotes(clew.Index.from_documents([text]).ask("Whose is the red boat?"))
    if quoted is None:
        assert answer.removesuffix(" [1]") in text
        assert all(answer.count(mark) == text.count(mark) for mark in "*`_")
    else:
        assert answer == f"{quoted} [1]"


def test_a_function_word_of_another_language_that_no_text_has_hides_no_answer():
    texts = ["Die Fähre fährt um neun Uhr ab.", "Der Rasen wird im Mai gemäht.", "Der Hund bellt."]
    texts += [f"Im Haus {number} wird am Montag die Küche geputzt." for number in range(12)]
    index = clew.Index.from_documents(["Altöl gehört in den roten Container.", *texts])
    context = index.ask("Wohin mit dem Altöl?")
    assert "Altöl" in context.text
    assert quotes(context, index=index) == "Altöl gehört in den roten Container. [1]"
    assert quotes(context) == "Altöl gehört in den roten Container. [1]"
    assert not quotes(index.ask("Wohin mit dem Bauschutt?"), index=index)


@pytest.mark.parametrize(
    ("text", "asked", "quoted"),
    [
        ("To search backward in less, type `?`. To search forward, type `/`.", "How do I search backward in less?", "backward"),
        ("The mark of a doubtful reading is (?). Others have (!).", "What is the mark of a doubtful reading?", "doubtful"),
        ("Delete *.log files first. Keep all of data*.", "Which log files do I delete first?", "*.log files"),
    ],
)  # fmt: skip
def test_a_statement_about_a_sign_is_quoted_as_it_stands(text, asked, quoted):
    (line,) = clew.cite.quotes(clew.Index.from_documents([text]).ask(asked)).splitlines()
    assert quoted in line
    assert line.removesuffix(" [1]") in text


def test_words_that_differ_in_a_digit_are_not_the_same():
    steps = [f"Do task{number} within {number} minutes." for number in range(50, 70)]
    index = clew.Index.from_documents(
        [" ".join(steps), *(f"It rained {day}." for day in "abcdefghij")]
    )
    assert quotes(index.ask("Within what is task61 done?"), index=index) == f"{steps[11]} [1]"


def test_a_line_that_repeats_its_heading_is_no_answer_unless_it_is_all_there_is():
    """As a signature stands again below the heading of a name."""
    page = "# Archives\n\n## ZipFile.infolist\n\nZipFile.infolist()\n\nReturn a list with an object for each member of the archive.\n"
    document = clew.Document("zip.md", page, format="markdown")
    context = clew.Index.from_documents([document], splitter=clew.Splitter()).ask(
        "How do I get infolist of a zip?"
    )
    assert quotes(context) == "Return a list with an object for each member of the archive. [1]"
    alone = context.changed(items=(replace(context.items[0], text="ZipFile.infolist()"),))
    assert quotes(alone).startswith("ZipFile.infolist")


SHOP = [
    "Our showroom is at Kaai 14, open from Tuesday to Saturday, from ten to five.",
    "DP obtained three quotes for the roof:\n\n- Hollis: 8,400\n- RoofRight: 7,950\n- Carter: 9,100",
    "| Server | Price |\n|---|---|\n| web-1 | 98.00 |\n| db-1 | 216.80 |\n| cache-1 | 98.00 |",
    "FBA\n: Fulfilment by Acme: you send your stock to us.",
    *(
        f"On day {i} the keeper of lamp {i} counts boats, writes their names down and goes home."
        for i in range(100)
    ),
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        # in other words than most of the question's, with a relevance near 1
        ("What are the opening hours of the showroom?", "Our showroom is at Kaai 14, open from"),
        ("How much were the quotes for the roof?", "- Hollis: 8,400 - RoofRight: 7,950 - Carter"),
        ("What did RoofRight ask for?", "- RoofRight: 7,950 [1]"),
        ("What does db-1 cost every month?", "Server: db-1, Price: 216.80 [1]"),
        ("What does FBA stand for?", "FBA : Fulfilment by Acme"),
        ("When did the Titanic sink?", ""),
    ],
)
def test_what_is_found_is_quoted(question, answer):
    index = clew.Index.from_documents([clew.Document(f"{i}", text) for i, text in enumerate(SHOP)])
    said = quotes(index.ask(question), index=index)
    assert answer in said
    assert bool(said) == bool(answer)
