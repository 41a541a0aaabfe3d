"""Each route keeps its contract: what it gives is what the index itself gives, and errors say what was wanted."""

from __future__ import annotations

import json
import re

import pytest

import clew
from clew.remote.cypher.wanted_values import wanted_values
from clew.remote.filters import filter_of
from clew.serve import ServedIndex, ServedOptions
from clew.store.lock import locked
from tests.serve.serving import TEXTS, built, client_of

QUESTION = "When do ferries sail from Corfu?"


def error_of(response, status, kind):
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type"}
    assert body["error"]["type"] == kind
    assert "Traceback" not in response.text
    return body["error"]["message"]


def test_an_answer_is_that_of_the_index(client, index):
    asked = {"question": QUESTION, "recipe": "bm25", "budget": 200, "limit": 2}
    given = client.post("/api/ask", json=asked).json()
    own = index.ask(QUESTION, recipe="bm25", budget=200, limit=2, max_share=0.5).to_dict()
    for name in ("text", "tokens", "budget", "question", "edges", "dropped", "relevance"):
        assert given[name] == own[name], name
    paths = [item.pop("why_in_words") for item in given["items"]]
    assert given["items"] == json.loads(json.dumps(own["items"]))
    assert all(path.startswith("the question ") for path in paths)
    assert "html" not in given


def test_without_a_model_the_answer_is_quotes_that_name_their_items(client):
    answer = client.post("/api/ask", json={"question": QUESTION}).json()
    assert answer["answer"]["by"] == "quotes"
    [line, *_] = answer["answer"]["text"].splitlines()
    sentence, number = re.fullmatch(r"(.*) \[(\d+)\]", line).groups()
    item = answer["items"][int(number) - 1]
    assert sentence == "Ferries sail from Corfu at nine."
    assert sentence in item["text"]
    assert answer["answer"]["cited"][number] == item["id"]
    without = client.post("/api/ask", json={"question": QUESTION, "answer": False}).json()
    assert without["answer"] is None


def test_the_picture_is_the_page_of_the_context(client, index):
    asked = {"question": QUESTION, "picture": True, "recipe": "bm25", "budget": 300}
    html = client.post("/api/ask", json=asked).json()["html"]
    own = index.ask(QUESTION, recipe="bm25", budget=300, max_share=0.5).to_html()
    no_times = re.compile(r"[\d.]+ ms")
    assert no_times.sub("", html) == no_times.sub("", own)


def test_a_filter_allows_what_it_names(client):
    asked = {"question": QUESTION, "where": {"place": [1]}, "min_relevance": 0}
    items = client.post("/api/ask", json=asked).json()["items"]
    assert items
    assert {item["metadata"]["place"] for item in items} == {1}


@pytest.mark.parametrize("asked", ["Fa\u0308hre.md", "F\u00e4hre.md"])
@pytest.mark.parametrize("named", ["Fa\u0308hre.md", "F\u00e4hre.md"])
def test_a_filter_allows_a_file_whichever_way_its_name_is_written(asked, named):
    document = clew.Document("f", "The ferry is white.", {"file_name": named, "of": [named, "x"]})
    index = clew.Index.from_documents([document, clew.Document("o", "Oars are of ash.")])
    in_sql = [set(filter_of("n", {"file_name": name})[1][0]) for name in (asked, named)]
    in_cypher = [set(*wanted_values({"file_name": name})) for name in (asked, named)]
    assert in_sql[0] == in_sql[1]
    assert in_cypher[0] == in_cypher[1]
    with client_of(index, writable=True) as client:
        for where in ({"file_name": asked}, {"of": ["y", asked]}):
            body = {"question": "What is white?", "where": where}
            assert [item["id"] for item in client.post("/api/ask", json=body).json()["items"]]
        gone = client.request("DELETE", "/api/documents", json={"where": {"file_name": asked}})
        assert gone.json()["deleted"] == ["f"]


def test_filters_by_what_is_not_there_leave_nothing_behind(client, index):
    keys = [f"key {n}" for n in range(101)]
    many = {"question": QUESTION, "where": dict.fromkeys(keys, 1)}
    assert "at most 100 items" in error_of(
        client.post("/api/ask", json=many), 422, "invalid_request"
    )
    known = {*index.metadata_values._by_key}
    for n in range(3):
        where = {"kind": "note", **{f"{n} {key}": 1 for key in keys[:99]}}
        body = client.post("/api/ask", json={"question": QUESTION, "where": where}).json()
        assert body["items"] == []
    assert {*index.metadata_values._by_key} <= {*known, "kind"}


def test_candidates_are_narrowed(client):
    candidates = [
        {"text": text, "id": id, "score": 1 / n} for n, (id, text) in enumerate(TEXTS.items(), 1)
    ]
    asked = {"question": "Whom did Anna marry?", "candidates": candidates, "budget": 60}
    given = client.post("/api/narrow", json=asked).json()
    pairs = [(clew.Document(one["id"], one["text"]), one["score"]) for one in candidates]
    own = clew.narrow("Whom did Anna marry?", pairs, budget=60, max_share=0.5)
    assert [item["id"] for item in given["items"]] == own.ids
    assert given["text"] == own.text
    del candidates[0]["score"]
    assert "without a score" in error_of(
        client.post("/api/narrow", json=asked), 400, "invalid_request"
    )


def test_candidates_are_not_endless(client):
    candidates = [{"text": "a word " * 150_000}] * 2
    response = client.post("/api/narrow", json={"question": "a", "candidates": candidates})
    assert "got 2,100,000" in error_of(response, 422, "invalid_request")


def test_every_recipe_can_be_asked_by_its_name(client):
    listed = client.get("/api/recipes").json()
    assert {one["name"] for one in listed} == set(clew.recipes.names())
    assert [one["name"] for one in listed if one["is_default"]] == [clew.recipes.DEFAULT]
    for name in ("dense", "hipporag", "agrag"):
        assert client.post("/api/ask", json={"question": QUESTION, "recipe": name}).is_success


def test_a_source_opens_at_the_place_of_the_item(client, index):
    for item in client.post("/api/ask", json={"question": QUESTION}).json()["items"]:
        if item["kind"] == "fact":
            continue
        source = client.get("/api/source", params={"id": item["id"]}).json()
        start, end = (place - source["offset"] for place in source["span"])
        assert source["text"][start:end] == item["text"]
        assert source["document"] == item["document"]
        assert source["text"] == index.document_of[item["document"]].text
        assert source["location"].startswith(item["location"])
        assert source["lines"] == item["lines"]


def test_a_fact_and_a_name_open_where_they_were_read(client, index):
    fact = index.graph.facts.texts[0]
    source = client.get("/api/source", params={"id": f"fact:{fact}"}).json()
    assert source["kind"] == "fact"
    assert source["opened"] in source["read_from"]
    [name, *_] = [id for id in index.graph.ids if id.startswith("entity:")]
    source = client.get("/api/source", params={"id": name}).json()
    assert source["kind"] == "entity"
    assert name.removeprefix("entity:") in source["text"].lower()


def test_a_long_document_is_opened_around_the_place():
    lines = [f"Line {n} is about the buoy number {n}." for n in range(20_000)]
    index = built({"long.md": "\n\n".join(lines), "other.md": "The sea."})
    with client_of(index) as client:
        wanted = next(
            id
            for id, text in zip(index.graph.ids, index.graph.texts, strict=True)
            if "buoy number 15000." in text
        )
        source = client.get("/api/source", params={"id": wanted}).json()
    assert (
        len(source["text"]) <= 200_000 < source["length"] == len(index.document_of["long.md"].text)
    )
    start, end = (place - source["offset"] for place in source["span"])
    assert "buoy number 15000." in source["text"][start:end]


def test_neighbours_are_the_edges_of_the_graph(client, index):
    graph = index.graph
    for id in graph.ids:
        found = client.get("/api/neighbours", params={"id": id, "limit": 1000}).json()
        row = graph.row(id)
        expected = {}
        for edge, (tail, head) in enumerate(zip(graph.edges.tails, graph.edges.heads, strict=True)):
            if row in (tail, head) and tail != head:
                other = graph.ids[head if tail == row else tail]
                expected.setdefault(other, set()).add(graph.edges.kinds[edge])
        assert {one["id"]: set(one["edge"].split(", ")) for one in found} == expected
        weights = [one["weight"] for one in found]
        assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize("route", ["source", "neighbours"])
@pytest.mark.parametrize("id", ["nothing", "fact:no such fact", "../../etc/passwd", "🙂"])
def test_an_id_that_is_not_there_is_an_error_that_names_it(client, route, id):
    response = client.get(f"/api/{route}", params={"id": id})
    message = error_of(response, 404, "not_found")
    assert repr(id.removeprefix("fact:"))[:12].strip("'") in message


@pytest.mark.parametrize("route", ["source", "neighbours"])
def test_a_parameter_that_is_not_known_is_an_error(client, route):
    known = {"id": "ferry.md"}
    assert client.get(f"/api/{route}", params=known).is_success
    refused = client.get(f"/api/{route}", params={**known, "limt": 2})
    assert "query.limt: Extra" in error_of(refused, 422, "invalid_request")
    for wrong in ({}, {"id": ""}, {"id": "a" * 10_001}):
        assert "query.id" in error_of(
            client.get(f"/api/{route}", params=wrong), 422, "invalid_request"
        )


def test_documents_come_and_go(index):
    with client_of(index, writable=True) as client:
        new = {"id": "owl.md", "text": "Owls hunt mice at night.", "metadata": {"kind": "bird"}}
        change = client.post("/api/documents", json={"documents": [new]}).json()
        assert change == {
            "added": ["owl.md"],
            "replaced": [],
            "deleted": [],
            "facts_changed": [],
            "facts_lost": [],
            "documents": 5,
            "saved": False,
        }
        asked = {"question": "What do owls hunt?", "limit": 1}
        assert client.post("/api/ask", json=asked).json()["items"][0]["id"].startswith("owl.md")
        again = client.post("/api/documents", json={"documents": [new]})
        assert "owl.md" in error_of(again, 409, "known_id")
        other = {**new, "text": "Owls hunt voles at dusk."}
        change = client.post("/api/documents", json={"documents": [other], "replace": True}).json()
        assert (change["added"], change["replaced"]) == ([], ["owl.md"])
        assert "voles" in client.post("/api/ask", json=asked).json()["text"]
        same = client.post("/api/documents", json={"documents": [other], "replace": True}).json()
        assert (same["added"], same["replaced"], same["deleted"]) == ([], [], [])
        gone = client.request("DELETE", "/api/documents", json={"where": {"kind": "bird"}}).json()
        assert gone["deleted"] == ["owl.md"]
        assert gone["documents"] == 4
        missing = client.request("DELETE", "/api/documents", json={"ids": ["owl.md"]})
        error_of(missing, 404, "not_found")
        both = client.request("DELETE", "/api/documents", json={"ids": ["a"], "where": {"a": 1}})
        assert "one of the two" in error_of(both, 422, "invalid_request")
        all_of_them = client.request("DELETE", "/api/documents", json={"ids": list(TEXTS)})
        error_of(all_of_them, 400, "invalid_request")
        whole = client.post("/api/sync", json={"documents": [new]}).json()
        assert whole["added"] == ["owl.md"]
        assert sorted(whole["deleted"]) == sorted(TEXTS)
        assert "folder" in error_of(client.post("/api/sync", json={}), 409, "no_folder")
        assert client.get("/api/status").json()["changes"] == 4


def test_a_text_that_looks_like_a_path_is_a_text(tmp_path, writer):
    secret = tmp_path / "secret.txt"
    secret.write_text("The password is swordfish.")
    added = writer.post("/api/documents", json={"documents": [{"id": "a", "text": str(secret)}]})
    assert added.is_success
    assert writer.get("/api/source", params={"id": "a"}).json()["text"] == str(secret)
    recipe = tmp_path / "my.toml"
    recipe.write_text('use = "Pipeline"')
    message = error_of(
        writer.post("/api/ask", json={"question": "a", "recipe": str(recipe)}),
        400,
        "invalid_request",
    )
    assert "unknown recipe" in message


def test_a_server_that_only_answers_changes_nothing(client, index):
    calls = [
        client.post("/api/documents", json={"documents": [{"id": "a", "text": "b"}]}),
        client.request("DELETE", "/api/documents", json={"ids": ["moon.md"]}),
        client.post("/api/sync", json={}),
    ]
    for response in calls:
        assert "--writable" in error_of(response, 403, "read_only")
    assert client.service.served.index is index


def test_a_change_is_saved_where_the_index_was_opened(tmp_path, index):
    index.save(tmp_path / "saved")
    opened = clew.Index.load(tmp_path / "saved")
    with client_of(opened, writable=True, saved_to=tmp_path / "saved") as client:
        change = client.post(
            "/api/documents", json={"documents": [{"id": "owl", "text": "Owls hunt."}]}
        )
        assert change.json()["saved"] is True
    again = clew.Index.load(tmp_path / "saved")
    assert set(again.document_of) == {*TEXTS, "owl"}


def test_what_cannot_be_saved_is_not_served(tmp_path, index, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(clew.Index, "save", full)
    with client_of(index, writable=True, saved_to=tmp_path / "saved") as client:
        response = client.post(
            "/api/documents", json={"documents": [{"id": "owl", "text": "Owls."}]}
        )
        message = error_of(response, 500, "internal_error")
        assert "No space" not in message
        assert client.get("/api/status").json()["documents"] == len(TEXTS)


def test_a_change_while_another_process_saves_is_to_be_asked_again(tmp_path, index):
    index.save(tmp_path / "saved")
    loaded = clew.Index.load(tmp_path / "saved")
    owl = {"documents": [{"id": "owl", "text": "Owls."}]}
    with client_of(loaded, writable=True, saved_to=tmp_path / "saved") as client:
        with locked(tmp_path / "saved"):
            refused = client.post("/api/documents", json=owl)
        assert "another process is saving" in error_of(refused, 503, "busy")
        assert str(tmp_path) not in refused.text
        assert refused.headers["retry-after"] == "1"
        assert client.get("/api/status").json()["documents"] == len(TEXTS)
        assert client.post("/api/documents", json=owl).json()["saved"] is True
    assert "owl" in clew.Index.load(tmp_path / "saved").document_of


def test_an_index_that_another_process_damaged_is_no_mistake_of_who_asks(tmp_path, index, caplog):
    index.save(tmp_path / "saved")
    loaded = clew.Index.load(tmp_path / "saved")
    (tmp_path / "saved" / "MANIFEST-00000002.json").write_text("{}")
    owl = {"documents": [{"id": "owl", "text": "Owls."}]}
    with client_of(loaded, writable=True, saved_to=tmp_path / "saved") as client:
        refused = client.post("/api/documents", json=owl)
        error_of(refused, 500, "internal_error")
        assert str(tmp_path) not in refused.text
        assert "MANIFEST-00000002.json" in caplog.text
        assert client.post("/api/ask", json={"question": QUESTION}).is_success


def test_a_folder_is_read_again_and_facts_stay_with_their_texts(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "sea.md").write_text("The sea is blue.")
    (folder / "sky.md").write_text("The sky is grey.")
    given = {"sea.md": [("sea", "is", "blue")], "sky.md": [("sky", "is", "grey")]}
    index = clew.Index.from_documents(folder, facts=given, untrusted=True)
    with client_of(index, writable=True, read_again=lambda before: before.sync(folder)) as client:
        served = client.service.served
        change = client.post("/api/sync", json={}).json()
        assert (change["facts_changed"], change["facts_lost"]) == ([], [])
        assert served.index is index
        (folder / "sky.md").write_text("The sky is bright red.")
        change = client.post("/api/sync", json={}).json()
        assert change["replaced"] == change["facts_changed"] == change["facts_lost"] == ["sky.md"]
        assert list(served.index.graph.facts.texts) == ["sea is blue"]
        assert served.index.facts == {"sea.md": given["sea.md"]}


def test_a_folder_is_read_again(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "sea.md").write_text("The sea is blue.")
    index = clew.Index.from_documents(folder, untrusted=True)
    with client_of(index, writable=True, read_again=lambda before: before.sync(folder)) as client:
        (folder / "sky.md").write_text("The sky is grey.")
        change = client.post("/api/sync", json={}).json()
        assert change["added"] == ["sky.md"]
        assert change["deleted"] == []
        folder.rename(tmp_path / "gone")
        message = error_of(client.post("/api/sync", json={}), 409, "no_folder")
        assert str(folder) in message
        assert client.get("/api/status").json()["documents"] == 2


def test_head_is_answered_as_get_is(client):
    for path in ("/", "/health", "/metrics", "/v1/models", "/api/recipes", "/openapi.json"):
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert client.head("/api/source", params={"id": "nothing"}).status_code == 404
    assert client.head("/api/ask").status_code == 405


def test_status_metadata_health_and_metrics(client, index):
    status = client.get("/api/status").json()
    assert status["documents"] == len(TEXTS)
    assert status["recipe"] == clew.recipes.DEFAULT
    assert status["writable"] is False
    assert status["model"] is None
    assert client.get("/api/metadata").json() == {"kind": ["note"], "place": [0, 1]}
    assert client.get("/health").json() == {"status": "ok"}
    client.post("/api/ask", json={"question": QUESTION})
    client.post("/api/ask", json={"question": QUESTION, "recipe": "nothing"})
    lines = client.get("/metrics").text.splitlines()
    assert 'clew_questions_total{route="ask"} 1.0' in lines
    assert 'clew_errors_total{route="ask"} 1.0' in lines
    assert f"clew_documents {len(TEXTS)}.0" in lines
    assert "clew_waiting 0.0" in lines
    assert "clew_question_seconds_count 2.0" in lines  # the metadata are looked up in turn, too


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({}, "body.question: Field required"),
        ({"question": "  "}, "body.question"),
        ({"question": "a", "budget": 0}, "greater than or equal to 1; got 0"),
        ({"question": "a", "budget": 10**9}, "less than or equal to 100000"),
        ({"question": "a" * 10_001}, "at most 10000 characters; got 'aaa"),
        ({"question": "a", "budgets": 1}, "body.budgets: Extra inputs"),
        ({"question": "a", "where": {"kind": {"$ne": 1}}}, "body.where.kind"),
        ({"question": "a", "limit": True}, "limit: Value error, a number is wanted, and neither"),
        ({"question": "a", "budget": True}, "budget: Value error, a number is wanted, and neither"),
        ({"question": "a", "min_relevance": False}, "min_relevance: Value error, a number is"),
        ([], "body"),
    ],
)
def test_a_wrong_body_says_where_and_what_was_wanted(client, body, wanted):
    message = error_of(client.post("/api/ask", json=body), 422, "invalid_request")
    assert wanted in message
    assert len(message) < 2000


def test_a_score_is_a_number(client):
    candidates = [{"text": "Ferries sail at nine.", "score": True}]
    response = client.post("/api/narrow", json={"question": "a", "candidates": candidates})
    assert "candidates.0.score" in error_of(response, 422, "invalid_request")


def test_what_is_no_json_or_no_route_is_an_error_of_the_same_form(client):
    as_json = {"Content-Type": "application/json"}
    error_of(client.post("/api/ask", content=b"{", headers=as_json), 422, "invalid_request")
    error_of(client.post("/api/ask", content=b"\xff\xfe", headers=as_json), 422, "invalid_request")
    error_of(client.get("/nothing"), 404, "not_found")
    error_of(client.put("/api/ask", json={}), 405, "method_not_allowed")


def test_half_of_a_surrogate_pair_and_no_number_are_sent_as_json(index):
    odd = clew.Document(
        "odd", "An odd \ud800 sign is here.", {"number": float("nan"), "sign": "\udfff"}
    )
    with client_of(index.add([odd])) as client:
        answer = client.post("/api/ask", json={"question": "Which odd sign is here?", "limit": 1})
        [item] = answer.json()["items"]
        assert "\ud800" in item["text"]
        assert item["metadata"] == {"number": None, "sign": "\udfff"}
        error_of(
            client.post(
                "/api/ask",
                content=b'{"question": "\\ud800"}',
                headers={"Content-Type": "application/json"},
            ),
            422,
            "invalid_request",
        )


def test_a_budget_that_holds_nothing_says_so(client):
    message = error_of(
        client.post("/api/ask", json={"question": QUESTION, "budget": 1}), 400, "budget_too_small"
    )
    assert "budget" in message


def test_a_best_passage_above_the_budget_is_spoken_of():
    """The command prints a remark; who asks over HTTP learns it by the answer itself."""
    story = " ".join(f"The heron of the weir waits for trout number {n}." for n in range(30))
    index = built({"heron.md": story, **TEXTS}, splitter=None, extractor=None)
    tokens = int(index.graph.tokens[index.graph.row("heron.md")])
    question = "What does the heron of the weir wait for?"
    with client_of(index, budget=60) as client:
        asked = {"question": question}
        answer = client.post("/api/ask", json=asked).json()
        enough = client.post("/api/ask", json={**asked, "budget": 4 * tokens}).json()
        found = [{"id": "heron", "text": story}, {"text": "The heron is a bird."}]
        narrowed = client.post("/api/narrow", json={**asked, "candidates": found}).json()
        messages = [{"role": "user", "content": question}]
        chat = client.post("/v1/chat/completions", json={"messages": messages}).json()
    assert answer["answer"]["text"] == enough["remark"] == ""
    for remark in (answer["remark"], narrowed["remark"]):
        assert f"{tokens} tokens, more than the whole budget of 60" in remark
    assert chat["choices"][0]["message"]["content"] == answer["remark"]
    assert enough["items"][0]["document"] == "heron.md"


def test_no_source_has_more_than_its_share_unless_the_server_allows_it():
    line = "The ferry to Corfu sails at {n} and takes {n} hours."
    texts = {
        "loud.md": "\n\n".join(line.format(n=n) for n in range(40)),
        "calm.md": "The ferry to Corfu is green.",
    }
    index = built(texts, splitter=clew.Splitter(32))
    question = {"question": "When does the ferry to Corfu sail?", "budget": 200, "recipe": "bm25"}
    with client_of(index) as client:
        items = client.post("/api/ask", json=question).json()["items"]
    own = sum(item["tokens"] for item in items if item["document"] == "loud.md")
    assert own <= 100
    capless = ServedIndex(index, ServedOptions(max_share=1.0)).ask(**question).context
    assert sum(item.tokens for item in capless if item.document == "loud.md") > 100


def test_a_stream_brings_the_context_and_then_the_answer(index):
    def model(prompt):
        return "At nine [1]. Not [99]."

    with client_of(index, model=clew.Model.of(model)) as client:
        asked = {"question": QUESTION, "stream": True}
        response = client.post("/api/ask", json=asked)
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [
            (name, json.loads(data))
            for name, data in re.findall(r"event: (.*)\ndata: (.*)\n\n", response.text)
        ]
        assert [name for name, _ in events] == ["context", "piece", "answer"]
        context, piece, answer = (content for _, content in events)
        assert piece == "At nine [1]. Not [99]." == answer["text"]
        assert answer["cited"] == {"1": context["items"][0]["id"]}
        assert answer["by"].endswith("model")
        whole = client.post("/api/ask", json={"question": QUESTION}).json()
        assert whole["answer"] == answer
        assert whole["text"].startswith("# ")
        assert "[1] " in whole["text"]


def test_an_empty_answer_of_a_model_is_an_error(index):
    with client_of(index, model=clew.Model.of(lambda prompt: " \n", retries=0)) as client:
        error_of(client.post("/api/ask", json={"question": QUESTION}), 502, "model_failed")
        chat = {"messages": [{"role": "user", "content": QUESTION}]}
        error_of(client.post("/v1/chat/completions", json=chat), 502, "model_failed")
        text = client.post("/api/ask", json={"question": QUESTION, "stream": True}).text
        assert "gave an empty answer" in text.partition("event: error")[2]


def test_a_model_that_fails_is_an_error_and_no_traceback(index):
    def model(prompt):
        raise ConnectionError("no route to secret.example")

    with client_of(index, model=clew.Model.of(model, retries=0)) as client:
        error_of(client.post("/api/ask", json={"question": QUESTION}), 502, "model_failed")
        text = client.post("/api/ask", json={"question": QUESTION, "stream": True}).text
        assert "event: error" in text
        assert "Traceback" not in text
        talk = {"model": "clew", "messages": [{"role": "user", "content": QUESTION}]}
        assert client.post("/v1/chat/completions", json=talk).status_code == 502
        counted = client.get("/metrics").text.splitlines()
        assert 'clew_errors_total{route="ask"} 2.0' in counted
        assert 'clew_errors_total{route="chat"} 1.0' in counted


def test_a_mistake_of_the_program_is_logged_and_not_shown(client, monkeypatch, caplog):
    def wrong(self, *args, **keywords):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(ServedIndex, "ask", wrong)
    response = client.post("/api/ask", json={"question": QUESTION})
    assert "secret" not in error_of(response, 500, "internal_error")
    assert "ZeroDivisionError" in caplog.text


def test_the_page_and_its_files_are_there(client):
    for path, kind in (("/", "text/html"), ("/page.js", "text/javascript"), ("/change.js", "text/javascript"), ("/page.css", "text/css"),
                       ("/frame", "text/html"), ("/docs", "text/html"), ("/docs.js", "text/javascript")):  # fmt: skip
        response = client.get(path)
        assert response.is_success, path
        assert response.headers["content-type"].startswith(kind), path
        assert response.content, path
    page = client.get("/").text
    assert not re.findall(r"(?:src|href)=\"https?:", page), "the page loads nothing from elsewhere"
    schema = client.get("/openapi.json").json()
    described = {
        "/api/ask",
        "/api/narrow",
        "/api/documents",
        "/api/sync",
        "/v1/chat/completions",
        "/metrics",
    }
    assert described <= set(schema["paths"])
