"""Reports on communities: what they are made of, with a model and without, how they are selected and read, and what keeps them alive."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import clew
from clew import order, recipes, seed, select, spread
from clew.algorithms.community_detection.modularity import CommunityDetection
from clew.generate import Reports
from clew.global_answer import GlobalOptions, answer_globally
from clew.model import Model

THEMES = {
    "ships": ["Anna", "Corfu", "harbour", "sails", "captain", "anchors", "fleet", "storm"],
    "bread": ["Ben", "Oslo", "bakery", "ovens", "flour", "yeast", "crust", "rye"],
    "stars": ["Clara", "Quito", "telescope", "comets", "orbits", "lenses", "nebula", "moons"],
}


def texts(theme, number):
    words = THEMES[theme]
    for i in range(number):
        a, b, c, d = (words[(i + step) % len(words)] for step in (1, 3, 4, 6))
        yield f"The {a} of {words[0]} knew {b} and {c} in {words[1]}. Number {i} had {d} beside the {words[2]} there. Nobody asked why."


def documents(number=8):
    return [
        clew.Document(f"{theme}-{i}", text, {"theme": theme})
        for theme in THEMES
        for i, text in enumerate(texts(theme, number))
    ]


@pytest.fixture(scope="module")
def plain():
    return clew.Index.from_documents(documents())


@pytest.fixture(scope="module")
def index(plain):
    return plain.generate(Reports(level=None))


def reports(index):
    graph = index.graph
    return {graph.ids[row]: graph.metadata[row] for row in graph.rows("report").tolist()}


def passages_of(index, id):
    graph = index.graph
    return {graph.ids[row] for row in graph.read_from[graph.row(id)].tolist()}


def test_one_report_per_community_of_the_wanted_levels(plain, index):
    graph = index.graph
    found = plain.graph.part(CommunityDetection())
    seen = {}
    for id, said in reports(index).items():
        level = said["level"]
        assert id == f"community:{level}:{graph.ids[graph.read_from[graph.row(id)][0]]}"
        numbers = {
            int(found.levels[level][plain.graph.row(passage)]) for passage in passages_of(index, id)
        }
        assert len(numbers) == 1
        number = numbers.pop()
        assert said["size"] == int((found.levels[level] == number).sum())
        assert said["passages"] == len(passages_of(index, id)) >= 3
        assert set(said["members"]) <= {
            plain.graph.ids[row] for row in found.members(level)[number].tolist()
        }
        seen.setdefault(level, []).append((number, said["rank"]))
    assert 0 in seen
    for level, pairs in seen.items():
        assert len({number for number, _ in pairs}) == len(pairs)
        assert sorted(rank for _, rank in pairs) == list(range(1, len(pairs) + 1))
        sizes = np.bincount(found.levels[level][plain.graph.rows("passage")])
        assert len(pairs) == int((sizes >= 3).sum())
    top = [id for id, said in reports(index).items() if said["level"] == 0]
    themes = [{id.split("-")[0] for id in passages_of(index, one)} for one in top]
    assert sorted(map(sorted, themes)) == [["bread"], ["ships"], ["stars"]]


@pytest.mark.parametrize("tokens", [1, 12, 40, 125])
def test_an_extract_keeps_to_its_limit_and_to_the_words_of_its_passages(plain, tokens):
    index = plain.generate(Reports(tokens=tokens))
    for row in index.graph.rows("report").tolist():
        head, _, said = index.graph.texts[row].partition("passages): ")
        assert index.graph.count(index.graph.texts[row]) <= tokens or head == index.graph.texts[row]
        whole = " ".join(
            index.graph.texts[passage] for passage in index.graph.read_from[row].tolist()
        )
        sentences = [one.strip().rstrip(".") for one in said.split(". ")]
        assert all(one in whole for one in sentences)
        assert len(set(sentences)) == len(sentences)
    if tokens == 125:
        assert all(len(index.graph.texts[row]) > 100 for row in index.graph.rows("report").tolist())


def test_names_are_entities_where_there_are_any():
    facts = {
        "ships-0": [("Anna", "lives in", "Corfu"), ("Anna", "sails", "Argo")],
        "ships-1": [("Anna", "owns", "Argo")],
    }
    index = clew.Index.from_documents(documents(), facts=facts).generate(Reports())
    names = next(said["names"] for id, said in reports(index).items() if "ships" in id)
    assert set(names) == {"Anna", "Corfu", "Argo"}
    assert names[0] == "Anna"


class Writer:
    """A model that says what it is asked, in the wanted form or not."""

    model_name = "writer"

    def __init__(self, bad=lambda prompt: False):
        self.prompts, self.bad = [], bad

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if self.bad(prompt):
            return "I would rather not."
        theme = next(name for name, words in THEMES.items() if words[2] in prompt)
        findings = [
            f"Finding {i} on {theme} is long enough to fill up what room there is."
            for i in range(20)
        ]
        return "Here: " + json.dumps(
            {
                "title": theme,
                "summary": f"All of {theme}.",
                "rating": len(theme + theme[0]) % 10,
                "findings": findings,
            }
        )


def test_a_model_writes_them_and_what_it_cannot_is_an_extract_and_recorded(plain):
    model = Writer(bad=lambda prompt: "bakery" in prompt)
    index = plain.generate(Reports(model, tokens=60))
    said = reports(index)
    by = {id.split(":")[2].split("-")[0]: (id, one) for id, one in said.items()}
    assert {theme: one["by"] for theme, (_, one) in by.items()} == {
        "ships": "model",
        "bread": "extract",
        "stars": "model",
    }
    for theme in ("ships", "stars"):
        text = index.graph.texts[index.graph.row(by[theme][0])]
        assert text.startswith(f"{theme}: All of {theme}.\n  * Finding 0")
        assert 40 < index.graph.count(text) <= 60
    assert [id for id, _ in index.failed] == [by["bread"][0]]
    assert "no JSON" in index.failed[0][1]
    assert len(model.prompts) == 4  # one is asked for again
    assert by["bread"][1]["rating"] is None
    assert by["bread"][1]["rank"] == 3
    shown = next(prompt for prompt in model.prompts if "harbour" in prompt)
    assert all(text in shown for text in texts("ships", 8))
    assert (
        plain.graph.count(
            Reports(model, prompt_tokens=60)
            ._prompt(Model.of(model), plain.graph, _group(plain))
            .text
        )
        < plain.graph.count(shown) - 120
    )


def _group(index):
    from clew.generate.reports import communities_of

    graph = index.graph
    return communities_of(graph, graph.part(CommunityDetection()), 0, np.ones(len(graph)), 3)[0]


@pytest.mark.parametrize(
    "answer",
    [
        "[]",
        '{"title": "x"}',
        '{"title": "x", "summary": ""}',
        '{"title": "x", "summary": "y", "findings": [1]}',
        '{"title": "x", "summary": "y", "rating": 11}',
        '{"title": "x", "summary": "' + "long " * 200 + '"}',
    ],
)
def test_answers_that_are_no_report_are_refused(plain, answer):
    index = plain.generate(Reports(lambda prompt: answer))
    assert len(index.failed) == 3
    assert all(said["by"] == "extract" for said in reports(index).values())


def test_they_stay_through_saving_adding_deleting_and_filters(index, plain, tmp_path):
    index.save(tmp_path / "saved")
    loaded = clew.Index.load(tmp_path / "saved")
    assert loaded.generators == index.generators == (Reports(level=None),)
    assert {id: dict(said) for id, said in reports(loaded).items()} == {
        id: dict(said) for id, said in reports(index).items()
    }
    more = [
        clew.Document(
            "ships-new",
            "The captain of Anna knew sails and storm in Corfu. It had anchors beside the harbour there.",
            {"theme": "ships"},
        )
    ]
    grown = loaded.add(more)
    assert any("ships-new" in passages_of(grown, id) for id in reports(grown))
    top = {id for id, said in reports(index).items() if said["level"] == 0}
    assert len(top & set(reports(grown))) >= 2
    assert set(reports(grown.delete("ships-new"))) == set(reports(index))
    inside = index.ask("What of the harbour?", recipe="global", where={"theme": ["ships", "bread"]})
    assert {item.role for item in inside} >= {"report"}
    assert "telescope" not in inside.text


def cosines_of_reports(index, question):
    vector, graph = index.embedder.embed_question(question), index.graph
    return {graph.ids[row]: float(graph.vectors[row] @ vector) for row in graph.rows("report")}


QUESTION = "What do the captain and the fleet do in the harbour?"


def test_reports_take_their_share_and_come_first(index):
    method = clew.Pipeline(
        seed.Blend(), selects=(select.TopReports(0.4, 2),), order=order.ByPrize()
    )
    context = index.ask(QUESTION, recipe=method, budget=600)
    told = [item for item in context if item.role == "report"]
    assert 1 <= len(told) <= 2
    assert [item.role for item in context][: len(told)] == ["report"] * len(told)
    assert sum(item.tokens for item in told) <= 240
    assert context.tokens <= 600
    assert "ships" in told[0].id
    assert told[0].score == pytest.approx(max(item.score for item in context))
    assert told[0].why[0].source == "question"
    assert told[0].why[-1].target == told[0].id
    last = replace(method, order=order.ReportsLast(order.ByDocument()))
    assert index.ask(QUESTION, recipe=last, budget=600).ids[-1] == told[0].id


def test_the_rest_is_what_the_other_stage_would_choose_with_what_is_left(index):
    for rest in (select.Top(), select.MMR(), select.Budgeted()):
        alone = clew.Pipeline(seed.Blend(), selects=(rest,), order=order.ByPrize())
        method = clew.Pipeline(
            seed.Blend(), selects=(select.TopReports(0.3, 1, rest=rest),), order=order.ByPrize()
        )
        context = index.ask(QUESTION, recipe=method, budget=400)
        told = [item for item in context if item.role == "report"]
        assert len(told) == 1
        room = next(step.notes["room"] for step in reversed(context.trace) if "room" in step.notes)
        others = [item.id for item in context if item.role != "report"]
        assert (
            others
            == index.ask(
                QUESTION,
                recipe=alone,
                budget=room - index.graph.tokens[index.graph.row(told[0].id)],
            ).ids
        )
        assert context.bound is None or context.value <= context.bound + 1e-9


def test_of_reports_unlike_the_question_the_least_unlike_comes_first(index):
    question = "What is all of this about?"
    cosine = cosines_of_reports(index, question)
    assert max(cosine.values()) < 0
    ranked = sorted(cosine, key=cosine.__getitem__, reverse=True)
    first = select.TopReports(0.9, 1, by="question", min_score=0)
    method = clew.Pipeline(seed.Blend(), selects=(first,), order=order.ByPrize())
    context = index.ask(question, recipe=method, budget=600)
    assert [item.id for item in context if item.role == "report"] == ranked[:1]


def test_by_prizes_the_dominant_community_is_told(index):
    method = clew.Pipeline(
        seed.BM25(),
        selects=(select.TopReports(0.4, 1, level=0, by="prizes"),),
        order=order.ByPrize(),
    )
    context = index.ask("telescope comets", recipe=method, budget=500)
    assert "stars" in context.ids[0]
    notes = next(step.notes for step in context.trace if "reports" in step.notes)
    assert notes["reports"][0]["of the prizes"] == pytest.approx(1)
    assert context.items[0].why[0].target in passages_of(index, context.ids[0])


def test_nested_reports_are_not_told_twice(index):
    method = clew.Pipeline(
        seed.Blend(), selects=(select.TopReports(1.0, None, min_score=0),), order=order.ByPrize()
    )
    context = index.ask(QUESTION, recipe=method, budget=3000)
    seen = set()
    for id in [item.id for item in context if item.role == "report"]:
        assert len(passages_of(index, id) & seen) * 2 <= len(passages_of(index, id))
        seen |= passages_of(index, id)


def test_a_limit_leaves_reports_their_share_of_it(index):
    for limit, most in ((3, 0), (5, 1), (10, 2)):
        method = clew.Pipeline(seed.Blend(), selects=(select.TopReports(),), order=order.ByPrize())
        context = index.ask(QUESTION, recipe=method, budget=None, limit=limit)
        assert len(context) == limit
        assert sum(item.role == "report" for item in context) <= most


def test_without_reports_the_trace_says_so_and_nothing_changes(plain):
    method = clew.Pipeline(seed.Blend(), selects=(select.TopReports(),), order=order.ByPrize())
    context = plain.ask(QUESTION, recipe=method, budget=400)
    without = clew.Pipeline(seed.Blend(), selects=(select.Top(),), order=order.ByPrize())
    assert context.ids == plain.ask(QUESTION, recipe=without, budget=400).ids
    assert any("no reports" in str(step.notes.get("fallback")) for step in context.trace)


@pytest.mark.parametrize("name", ["dense", "bm25", "fused", "mmr", "hipporag", "budgeted", "agrag"])
def test_other_recipes_do_not_see_them(index, plain, name):
    one, other = (which.ask(QUESTION, recipe=name, budget=400) for which in (index, plain))
    assert one.ids == other.ids
    assert [item.score for item in one] == pytest.approx([item.score for item in other], abs=1e-9)


def test_global_reads_the_finest_level_that_fits(index):
    graph = index.graph
    of = {
        level: [
            row for row in graph.rows("report").tolist() if graph.metadata[row]["level"] == level
        ]
        for level in (0, 1)
    }
    assert of[1]
    for level in (0, 1):
        budget = int(graph.tokens[of[level]].sum()) + 5
        told = [
            item
            for item in index.ask("What is all of this about?", recipe="global", budget=budget)
            if item.role == "report"
        ]
        assert len(told) >= len(of[level]) - 1
        assert {item.metadata["level"] for item in told} == {level}
        cosine = cosines_of_reports(index, "What is all of this about?")
        for item in told:
            assert [hop.weight for hop in item.why] == pytest.approx([max(0, cosine[item.id])])
    assert "global" in recipes.names()


class Reader:
    """Scores every report that is shown by its theme, and answers with the points it is given."""

    model_name = "reader"

    def __init__(self, bad=()):
        self.prompts, self.bad = [], bad

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if any(word in prompt for word in self.bad):
            return " "
        if "Answer the question from these points alone" in prompt:
            return "The answer: " + prompt.split("Question:")[1]
        points = []
        for line in prompt.split("\n\n"):
            if line.startswith("["):
                number = int(line[1 : line.index("]")])
                theme = next(name for name, words in THEMES.items() if words[2] in line)
                points.append(
                    {
                        "point": f"{theme} matter",
                        "score": {"ships": 90, "bread": 40, "stars": 0}[theme],
                        "reports": [number],
                    }
                )
        return json.dumps(points)


def test_a_global_question_is_mapped_over_all_reports_and_reduced(index):
    model = Reader()
    answer = answer_globally(
        index, "What is all of this about?", model, GlobalOptions(batch_tokens=130)
    )
    assert len(answer.reports) == 3
    assert [point.text for point in answer.points] == [
        "ships matter",
        "bread matter",
    ]  # what helps nothing is left out
    assert "ships" in answer.points[0].reports[0]
    number = answer.reports.index(answer.points[0].reports[0]) + 1
    assert f"- ships matter [{number}]\n- bread matter" in answer.text
    assert (answer.calls, answer.omitted, answer.failed) == (4, 0, ())
    assert len(model.prompts) == 4
    one = answer_globally(index, "What is all of this about?", Reader(), GlobalOptions(budget=8))
    assert (len(one.points), one.omitted, one.calls) == (1, 1, 2)


def test_a_global_question_is_compared_by_its_canonical_text():
    embedded = []

    def embed(texts):
        embedded.extend(texts)
        return [[len(text), 1.0] for text in texts]

    texts = ["The sea is deep.", "The sea is cold.", "The sea is salt."]
    index = clew.Index.from_documents(texts, embedder=embed, canonical=str.lower)
    answer_globally(index.generate(Reports(min_passages=1)), "What IS it?", lambda prompt: "[]")
    assert embedded[-1] == "what is it?"


def test_of_too_many_points_the_most_helpful_are_kept(index):
    scores = [10, 70, 30, 90, 50, 20, 80, 60, 40]

    def eager(prompt):
        if "from these points alone" in prompt:
            return "Done."
        return json.dumps([{"point": f"p{one}", "score": one, "reports": [1]} for one in scores])

    answer = answer_globally(index, "What?", eager)
    assert [point.score for point in answer.points] == [90, 80, 70, 60, 50]


def test_what_a_global_question_cannot_have_is_recorded(index, plain):
    answer = answer_globally(index, "What?", Reader(bad=["[1] "]), GlobalOptions(batch_tokens=130))
    assert answer.failed[0][0] == "reports 1 to 1"
    assert len(answer.points) <= 2
    ends = answer_globally(index, "What?", Reader(bad=["from these points alone"]))
    assert ends.text.startswith("- ships matter [")
    assert ends.failed[0][0] == "the answer"
    nothing = answer_globally(index, "What?", lambda prompt: "[]")
    assert (nothing.text, nothing.points) == ("", ())
    with pytest.raises(ValueError, match=r"no reports.*Reports\(\)"):
        answer_globally(plain, "What?", Reader())
    with pytest.raises(ValueError, match="larger batch"):
        answer_globally(index, "What?", Reader(), GlobalOptions(batch_tokens=10))


@pytest.mark.parametrize(
    "make",
    [
        lambda: select.TopReports(budget_share=0),
        lambda: select.TopReports(by="x"),
        lambda: select.TopReports(level="x"),
        lambda: Reports(min_passages=0),
        lambda: Reports(level=-1),
        lambda: Reports(resolution=0),
    ],
)
def test_wrong_parameters_are_said(make):
    with pytest.raises(ValueError, match=r"got|known"):
        make()


def test_a_walk_over_all_links_passes_reports_by(index, plain):
    method = clew.Pipeline(
        seed.Blend(), (spread.PageRank(0.85),), (select.Top(),), order=order.ByPrize()
    )
    assert index.ask(QUESTION, recipe=method).ids == plain.ask(QUESTION, recipe=method).ids


@pytest.mark.parametrize("method", ["leiden", "louvain"])
def test_the_communities_are_those_of_the_chosen_method(plain, method):
    made = Reports(level=0, method=method, min_passages=1).on(plain.graph)
    wanted = CommunityDetection(method=method).compute(plain.graph).levels[0]
    passages = plain.graph.rows("passage")
    by_definition = {
        frozenset(passages[wanted[passages] == number].tolist())
        for number in set(wanted[passages].tolist())
    }
    assert {frozenset(rows) for rows in made.read_from} == by_definition
    with pytest.raises(ValueError, match="method"):
        Reports(method="metis")


def test_where_documents_are_added_communities_can_be_kept_and_what_is_new_joins_its_neighbours(
    plain,
):
    """By definition: old passages keep their community; new ones have that of most weight."""
    kept = plain.generate(Reports(keep_communities=True))
    before = {id: passages_of(kept, id) for id in reports(kept)}
    new = [clew.Document(f"new-{theme}", next(texts(theme, 9)), {}) for theme in THEMES]
    new[0] = clew.Document("new-ships", list(texts("ships", 9))[-1])
    alone = clew.Document("alone", "Quartz xylophones jangle vexingly.")
    after = kept.add([*new, alone])
    groups = [passages_of(after, id) for id in reports(after)]
    for old in before.values():
        (group,) = [one for one in groups if old <= one]
        assert set(group - old) <= {one.id for one in new}
    assert not any("alone" in group for group in groups)  # alone it is too small for a report
    links = CommunityDetection().links(after.graph)
    (home,) = [one for one in groups if "new-ships" in one]
    weights = {}
    row = after.graph.row("new-ships")
    for slot in range(links.starts[row], links.starts[row + 1]):
        id = after.graph.ids[links.targets[slot]]
        for number, group in enumerate(groups):
            if id in group:
                weights[number] = weights.get(number, 0) + float(links.weights[slot])
    assert groups[max(weights, key=weights.get)] == home
    # The default stays exact: equal to an index of all documents at once.
    exact = plain.generate(Reports()).add([*new, alone])
    whole = clew.Index.from_documents([*documents(), *new, alone]).generate(Reports())
    assert reports(exact) == reports(whole)
    # Nothing of it is left behind when documents go or a filter is applied.
    assert (
        reports(after.delete(["alone"])).keys()
        == reports(plain.add(new).generate(Reports())).keys()
    )


def test_a_model_is_not_asked_again_about_communities_that_nothing_joined(plain):
    asked = []

    def model(prompt):
        asked.append(prompt)
        return json.dumps({"title": "A title", "summary": "A summary.", "findings": []})

    remembering = clew.Model.with_cache(model)
    kept = plain.generate(Reports(remembering, keep_communities=True))
    first = len(asked)
    _ = kept.add([clew.Document("new", list(texts("ships", 9))[-1])])
    assert first == len(reports(kept)) > 1
    assert len(asked) - first <= 1


@pytest.mark.parametrize("name", ["enterprise", "agentic", "journey"])
def test_without_reports_a_central_passage_of_the_dominant_community_is_read(plain, name):
    question = "Who knew the bakery and the flour in Oslo?"
    context = plain.ask(question, recipe=name, budget=600)
    notes = next(step.notes for step in context.trace if "communities" in step.notes)
    assert notes["communities"]
    assert "no reports" in notes["reports by"]
    graph = plain.graph
    hierarchy = graph.part(CommunityDetection())
    for one in notes["communities"]:
        assert one["id"] in context.ids
        members = np.flatnonzero(hierarchy.levels[0] == hierarchy.levels[0][graph.row(one["id"])])
        passages = members[graph.kinds.mask("passage")[members]]
        assert len(passages) == one["passages"] >= 3
    # The best is of the theme that is asked about.
    assert notes["communities"][0]["id"].startswith("bread")
    share = sum(int(graph.tokens[graph.row(one["id"])]) for one in notes["communities"])
    assert share <= 0.2 * 600
    written = plain.generate(Reports()).ask(question, recipe=name, budget=600)
    assert any(item.kind == "report" for item in written)
    assert not any("reports by" in step.notes for step in written.trace)
