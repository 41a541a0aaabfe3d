"""The budget holds for a page that a framework prints, whatever it prints around each item."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clew
from clew import recipes
from clew.adapters import NothingFitsWarning, Printer, QueryOptions, fit_printed
from clew.items import ContextEdge, Dropped
from clew.usage import Usage

QUESTION = "Which ferry sails to Corfu?"
FACTS = [
    ("Ferry", "sails to", "Corfu"),
    ("Corfu", "is in", "Greece, the state"),
    ("Anna", "is", "Ben"),
]


@cache
def corpus(seed: int) -> clew.Index:
    """An index of passages under headings, of several sources, with facts; tokens are letters."""
    chance = random.Random(seed)
    texts = [
        f"Ferry {i} sails to {chance.choice(['Corfu', 'Paxos'])}."
        + " It is calm." * chance.randrange(5)
        for i in range(chance.randrange(1, 10))
    ]
    documents = [
        clew.Document(
            f"d{i}", text, {"path": f"{i % 3}.md", "title": chance.choice(["", "Boats", "Sea" * 9])}
        )
        for i, text in enumerate(texts)
    ]
    facts = {one.id: [chance.choice(FACTS)] for one in documents if chance.random() < 0.5}
    return clew.Index.from_documents(documents, facts=facts, count=len)


def printing(chance: random.Random, separator: str) -> Printer:
    """Prints a random text before each item, which may be much longer than the item; always the same."""
    seed, longest = chance.random(), chance.choice([0, 10, 60, 400])

    def before(id: str) -> str:
        own = random.Random(f"{seed} {id}")
        return "x" * own.choice([0, longest // 4, own.randint(0, longest), longest])

    return Printer(
        lambda context: [f"{before(item.id)}{item.text}" for item in context],
        len, "texts", "print less", separator,
    )  # fmt: skip


@given(
    seed=st.integers(0, 10**9),
    recipe=st.sampled_from(["bm25", "agrag", "agrag_paper", "budgeted"]),
    style=st.sampled_from(clew.render.STYLES),
    separator=st.sampled_from(["\n\n", "", "\n" + "-" * 20 + "\n"]),
    budget=st.integers(20, 900),
    max_share=st.sampled_from([None, 0.3, 0.6]),
)
@settings(max_examples=100, deadline=None)
def test_the_printed_page_is_the_best_that_fits(seed, recipe, style, separator, budget, max_share):
    chance = random.Random(seed)
    index, printer = corpus(seed % 30), printing(chance, separator)
    method = replace(recipes.get(recipe), render=clew.Render(style, missing=chance.random() < 0.5))
    options = QueryOptions(method, budget, max_share=max_share, min_relevance=0, strict=False)
    asked: list[clew.Context] = []

    def ask(options: QueryOptions) -> clew.Context:
        asked.append(index.ask(QUESTION, options=options))
        return asked[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        context = fit_printed(printer, ask, options)
    first, kept = asked[0], list(context)
    source = next(one for one in reversed(asked) if {*context.ids} <= {*one.ids})
    source = source if kept else first

    def is_allowed(items: list[clew.Item]) -> bool:
        """By brute force: on both pages within the budget, and no source above its share of it."""
        texts = printer.texts_of(replace(first, items=tuple(items)))
        cap = budget if first.source_budget is None else first.source_budget
        for texts_of_page, between in ((texts, separator), (pieces_of(items, method.render), "\n")):
            of_each: dict[str | None, list[str]] = {}
            for item, text in zip(items, texts_of_page, strict=True):
                of_each.setdefault(item.source, []).append(text)
            of_each.pop(None, None)
            if len(between.join(texts_of_page)) > budget:
                return False
            capped = [
                own for own in of_each.values() if len(own) > 1
            ]  # one may be as large as it is
            if any(len(between.join(own)) > cap for own in capped):
                return False
        return True

    assert is_allowed(kept)
    assert context.tokens == len(context.text) <= budget
    assert [item for item in source if item in kept] == kept, "not in reading order"
    gone = {*first.ids, *source.ids} - {*context.ids}
    named = [one.id for one in context.dropped]
    assert gone <= {*named}
    assert len(named) == len({*named})
    assert not {*named} & {*context.ids}
    if context is first:
        return
    assert (context.budget, context.source_budget) == (budget, first.source_budget)
    assert context.trace[-1].notes["tokens"] == len(separator.join(printer.texts_of(context)))
    for item in source:  # nothing that was chosen would fit beside what is kept
        if item not in kept:
            more = [one for one in source if one in kept or one is item]
            assert not is_allowed(more)
    if not kept:
        assert context.nothing_found
        assert all(not is_allowed([item]) for one in asked for item in one)
    else:  # it is no worse than the best of the pages that leave out the lowest prizes alone
        places = {item.id: place for place, item in enumerate(source)}
        worst_first = sorted(source, key=lambda i: (i.role == "bridge", i.score, -places[i.id]))
        prefixes = ([i for i in source if i not in worst_first[:n]] for n in range(len(source)))
        best = next(filter(is_allowed, prefixes), [])
        assert sum(i.score for i in kept) >= sum(i.score for i in best) - 1e-9


def pieces_of(items, render):
    """What clew prints of each of some items; a triple is four letters longer than its fact's text."""
    more = "+" * 4 * (render.style == "triples")
    return render.pieces_of(
        replace(item, text=item.text + more) if item.kind == "fact" else item for item in items
    )


@pytest.mark.parametrize("style", clew.render.STYLES)
def test_a_page_that_is_rendered_again_is_the_page_that_the_stages_rendered(style):
    """Of what is left out nothing is printed, and the rest as if it had never been there."""
    for seed, recipe in itertools.product(range(12), ("agrag_paper", "agrag", "bm25")):
        chance, index = random.Random(seed), corpus(seed)
        method = replace(recipes.get(recipe), render=clew.Render(style, missing=True))
        context = index.ask(QUESTION, recipe=method, min_relevance=0, budget=None)
        if not len(context):
            continue
        out = chance.choice(context.ids)
        printer = Printer(
            lambda context, out=out: [("y" * 9000 if i.id == out else i.text) for i in context],
            len, "texts", "print less",
        )  # fmt: skip
        options = QueryOptions(method, 8000, min_relevance=0, strict=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            again = fit_printed(printer, lambda _, context=context: context, options)
        assert {*context.ids} - {*again.ids} == {out}
        lines = expected(context, out, style)
        assert again.text == "\n".join(lines)


def expected(context, out, style):
    """The lines of a page without one item, cut from the page with it."""
    lines, rest, heading_above, number = [], context.text, "", 0
    for item in context:
        heading = f"# {item.heading}" if item.heading else ""
        if heading and rest.startswith(heading):
            rest = rest.removeprefix(heading).lstrip("\n")
        entry, _, rest = rest.partition("\n")  # each of these texts is one line
        if item.id == out:
            continue
        number += 1
        if style == "numbered":
            entry = f"[{number}] {entry.partition('] ')[2]}"
        if heading and heading != heading_above:
            lines.append(heading)
        lines.append(entry)
        heading_above = heading
    return [*lines, *rest.splitlines()] if lines else []


Row = st.tuples(
    st.integers(0, 3),  # prize
    st.sampled_from(["seed", "bridge", "fact"]),
    st.integers(1, 12),  # letters of the text
    st.integers(0, 40),  # what is printed beside it
    st.sampled_from(["a", "b", "c", None]),  # source
)
HEADINGS = {"a": "Sea", "b": "A long heading of boats", "c": "", None: ""}  # each of one source


@given(
    rows=st.lists(Row, min_size=1, max_size=6),
    budget=st.integers(5, 150),
    share=st.sampled_from([None, 20, 60]),
    line=st.sampled_from(["", '(No connection was found from "Anna" to "Ben".)']),
)
@settings(max_examples=300, deadline=None)
def test_of_all_that_fits_the_bridges_and_the_highest_prizes_are_kept(rows, budget, share, line):
    """By brute force over all choices; whatever is asked, the answer is the same."""
    render = clew.Render(missing=True)
    items = tuple(
        clew.Item(f"{i}", "x" * size, float(prize), role, "fact" if role == "fact" else "passage",
                  size, source, heading="" if role == "fact" else HEADINGS[source])
        for i, (prize, role, size, _, source) in enumerate(rows)
    )  # fmt: skip
    text = "\n".join([*render.pieces_of(items), *[line] * bool(line)])
    edges = tuple(
        ContextEdge(one, other, "next", 1.0)
        for one, other in itertools.pairwise(["entity:sea", *(item.id for item in items)])
    )
    first = clew.Context(
        items, text, len(text), budget, "?", "m", edges, source_budget=share, bound=9.0
    )
    beside = {f"{i}": "+" * row[3] for i, row in enumerate(rows)}
    printer = Printer(
        lambda context: [item.text + beside[item.id] for item in context], len, "texts", "cut"
    )
    method = replace(recipes.get("bm25"), render=render)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        found = fit_printed(printer, lambda _: first, QueryOptions(method, budget, strict=False))
    if found is first:
        return

    def is_allowed(chosen):
        for texts, between in (
            ([item.text + beside[item.id] for item in chosen], "\n\n"),
            (render.pieces_of(chosen), "\n"),
        ):
            of_each = {}
            for item, shown in zip(chosen, texts, strict=True):
                of_each.setdefault(item.source, []).append(shown)
            of_each.pop(None, None)
            if len(between.join(texts)) > budget:
                return False
            if share and any(len(between.join(own)) > share for own in of_each.values()):
                return False
        return True

    best_first = sorted(items, key=lambda i: (i.role == "bridge", i.score, -int(i.id)))[::-1]
    choices = itertools.product([True, False], repeat=len(items))  # the best ones first
    subsets = ({i.id for i, is_in in zip(best_first, c, strict=True) if is_in} for c in choices)
    kept = next(s for s in subsets if is_allowed([item for item in items if item.id in s]))
    assert found.ids == [item.id for item in items if item.id in kept]
    assert found.value == sum(item.score for item in found if item.role != "fact")
    gone = {*first.ids} - kept
    assert found.edges == tuple(e for e in edges if e.tail not in gone and e.head not in gone)
    bare = "\n".join(render.pieces_of(found))
    with_line = f"{bare}\n{line}" if bare and line else bare
    assert found.text == (with_line if len(with_line) <= budget else bare)


def answer(ids, size=10, left_out="z"):
    """An answer of texts of one size, which one call of a model was made for."""
    items = tuple(clew.Item(id, id * size, 1.0, "seed", "passage", size, "s") for id in ids)
    text = "\n".join(item.text for item in items)
    return clew.Context(
        items, text, len(text), 100, "?", "m", usage=Usage(calls=1),
        dropped=(Dropped(left_out, "too large"),), bound=3.0,
    )  # fmt: skip


def test_what_the_first_answer_had_is_named_and_every_call_of_a_model_is_counted():
    budgets = []

    def ask(options):
        budgets.append(options.budget)
        return answer("abcdefgh") if options.budget == 100 else answer("ax", left_out="w")

    printer = Printer(lambda context: [f"{item.text:>40}" for item in context], len, "texts", "cut")
    context = fit_printed(printer, ask, QueryOptions(budget=100))
    assert budgets == [100, 8 * 10 * 100 // (8 * 40 + 14)]
    assert context.ids == ["a", "x"]
    assert context.usage.calls == 2
    assert sorted(one.id for one in context.dropped) == [*"bcdefgh", "w", "z"]
    assert {one.reason for one in context.dropped if one.id in "wz"} == {"too large"}
    assert context.bound is None


def test_what_joins_the_items_and_what_is_left_out_is_found_when_somebody_asks():
    index = corpus(7)
    printer = Printer(lambda context: [f"{'x' * 40}{item.text}" for item in context], len, "", "")
    asked: list[clew.Context] = []

    def ask(options: QueryOptions) -> clew.Context:
        asked.append(index.ask(QUESTION, options=options))
        return asked[-1]

    context = fit_printed(printer, ask, QueryOptions("agrag", budget=260, min_relevance=0))
    assert len(asked) > 1
    for one in (context, *asked):
        assert vars(one).keys().isdisjoint({"edges", "dropped"})
    left_out = {id for one in asked for id in one.ids} - {*context.ids}
    assert left_out <= {one.id for one in context.dropped}
    ends = {end for one in context.edges for end in (one.tail, one.head)}
    assert ends.isdisjoint(left_out)


def test_the_best_that_fits_is_never_lost_to_a_smaller_budget_and_nobody_hears_of_that(caplog):
    """It takes 12 words, and 36 as it is printed; the smaller budget would have been 11."""
    best = "The ferry sails at ten from the old harbour of the town."
    texts = ["Tickets cost twelve euros.", "Anna married Ben.", best, "The lighthouse was built."]
    index = clew.Index.from_documents(texts, count=lambda text: len(text.split()))
    printer = Printer(
        lambda context: [f"{'x ' * (36 - 12)}{item.text}" for item in context],
        index.graph.count, "texts", "print less",
    )  # fmt: skip
    options = QueryOptions(budget=36, limit=4)
    context = fit_printed(
        printer, lambda options: index.ask("When does the ferry sail?", options=options), options
    )
    assert [item.text for item in context] == [best]
    assert not caplog.records


def test_where_a_smaller_budget_brings_nothing_that_fits_the_first_answer_is_cut():
    printer = Printer(lambda context: [f"{item.text:>40}" for item in context], len, "texts", "cut")
    context = fit_printed(
        printer,
        lambda options: answer("abcd") if options.budget == 100 else answer("y", 200),
        QueryOptions(budget=100),
    )
    assert context.ids == ["a", "b"]
    assert context.usage.calls == 2


def test_where_nothing_fits_it_asks_for_more_once_and_keeps_what_that_brings():
    index = clew.Index.from_documents(
        [clew.Document(f"{i}", f"Ferry {i} sails to Corfu.", {"note": "x" * (900 - 40 * i)}) for i in range(20)],
        count=len,
    )  # fmt: skip
    printer = Printer(
        lambda context: [f"{item.metadata['note']} {item.text}" for item in context],
        len, "texts", "print less",
    )  # fmt: skip
    found = fit_printed(
        printer, lambda options: index.ask(QUESTION, options=options), QueryOptions("bm25", 200)
    )
    assert found.trace[-1].notes["asked again with"][0] == 8 * 200
    assert set(found.ids) <= {"18", "19"}
    assert found.ids
    with pytest.raises(
        clew.BudgetError, match=r"20 tokens holds none of the chosen texts .* print less"
    ):
        fit_printed(
            printer,
            lambda options: index.ask(QUESTION, options=replace(options, budget=200)),
            QueryOptions("bm25", 20),
        )
    with pytest.warns(NothingFitsWarning):
        none = fit_printed(
            printer, lambda options: index.ask(QUESTION, options=replace(options, budget=200)),
            QueryOptions("bm25", 20, strict=False),
        )  # fmt: skip
    assert (none.ids, none.text, none.tokens) == ([], "", 0)
    assert none.dropped


@given(
    seed=st.integers(0, 10**9),
    recipe=st.sampled_from(["bm25", "agrag", "agrag_paper", "budgeted"]),
    limit=st.integers(1, 4),
    n_long=st.integers(0, 5),
    budget=st.integers(160, 400),
)
@settings(max_examples=60, deadline=None)
def test_what_is_too_long_as_it_is_printed_takes_no_place_of_a_limit(
    seed, recipe, limit, n_long, budget
):
    chance = random.Random(seed)
    index = clew.Index.from_documents(
        [clew.Document(f"{i}", f"Ferry {i} sails to Corfu.") for i in range(10)], count=len
    )
    long = {f"{i}" for i in chance.sample(range(10), n_long)}
    printer = Printer(
        lambda context: [item.text + "x" * 500 * (item.id in long) for item in context],
        len, "texts", "print less",
    )  # fmt: skip
    options = QueryOptions(recipe, budget, limit=limit, strict=False)
    context = fit_printed(printer, lambda options: index.ask(QUESTION, options=options), options)
    assert len(context) == min(limit, 10 - n_long)
    assert not {*context.ids} & long
    prizes = {one.id: one.score for one in index.ask(QUESTION, recipe="bm25", limit=10)}
    if recipe == "bm25":
        others = [prizes[id] for id in prizes if id not in long and id not in context.ids]
        assert min(prizes[id] for id in context.ids) >= max(others, default=0)
    for one in context.dropped:
        assert ("beyond the budget" in one.reason) == (one.id in long)


def test_a_limit_is_not_asked_for_again_where_there_are_no_others():
    """All that is there came with the first answer, or nothing of it is too long by itself."""
    index = clew.Index.from_documents([f"Ferry {i} sails to Corfu." for i in range(4)], count=len)
    for longest, limit in (("0", 4), ("", 9)):
        asked = []

        def ask(options, asked=asked):
            asked.append((options.budget, options.limit))
            return index.ask(QUESTION, options=options)

        printer = Printer(
            lambda context, longest=longest: [
                item.text + "x" * 500 * bool(longest and longest in item.text) for item in context
            ],
            len, "texts", "print less",
        )  # fmt: skip
        context = fit_printed(printer, ask, QueryOptions("bm25", 300, limit=limit))
        assert len(context) == 4 - len(longest)
        assert len(asked) == 1 + len(longest)


def test_a_question_is_not_asked_again_when_its_time_is_over():
    index = clew.Index.from_documents([f"Ferry {i} sails to Corfu." for i in range(9)], count=len)
    printer = Printer(lambda context: [f"{item.text:>60}" for item in context], len, "texts", "cut")
    deadlines = []

    def ask(options):
        deadlines.append(options.deadline)
        context = index.ask(QUESTION, options=replace(options, deadline=None))
        time.sleep(seconds)
        return context

    seconds = 0.3
    assert fit_printed(printer, ask, QueryOptions("bm25", 200, deadline=0.5)).ids
    assert deadlines == [0.5]
    seconds = 0.0
    assert fit_printed(printer, ask, QueryOptions("bm25", 200, deadline=60.0)).ids
    assert len(deadlines) > 2
    assert all(30 < one < 60 for one in deadlines[2:])
