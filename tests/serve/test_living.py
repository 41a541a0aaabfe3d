"""Many ask while documents come and go: no error, and each answer is that of an index that existed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from tests.serve.serving import built, client_of

QUESTIONS = [
    "When do ferries sail from Corfu?",
    "Whom did Anna marry?",
    "What do owls hunt at night?",
]
ROUNDS = 12


def test_every_answer_is_that_of_one_of_the_indexes_that_existed():
    first = built()
    done = threading.Event()
    answers = []

    def ask(client, n):
        while not done.is_set():
            question = QUESTIONS[n % len(QUESTIONS)]
            answers.append(
                (question, client.post("/api/ask", json={"question": question, "budget": 120}))
            )
            n += 1

    with (
        client_of(first, writable=True, workers=3, max_waiting=20) as client,
        ThreadPoolExecutor(4) as askers,
    ):
        served, existed = client.service.served, [first]
        asking = [askers.submit(ask, client, n) for n in range(4)]
        for n in range(ROUNDS):
            owl = {"id": "owl.md", "text": f"Owls hunt {n} mice at night."}
            response = (
                client.post("/api/documents", json={"documents": [owl], "replace": True})
                if n % 3 != 2
                else client.request("DELETE", "/api/documents", json={"ids": ["owl.md"]})
            )
            assert response.is_success, response.text
            existed.append(served.index)
        done.set()
        for one in asking:
            one.result(60)
    assert len(answers) > ROUNDS
    assert {response.status_code for _, response in answers} == {200}
    possible = {
        question: [
            [(item.id, item.text) for item in index.ask(question, budget=120, max_share=0.5)]
            for index in existed
        ]
        for question in QUESTIONS
    }
    assert len({str(items) for items in possible[QUESTIONS[2]]}) > 3, "the indexes do differ"
    for question, response in answers:
        items = [(item["id"], item["text"]) for item in response.json()["items"]]
        assert items in possible[question]


def test_changes_that_come_at_once_are_all_made():
    with client_of(built(), writable=True) as client, ThreadPoolExecutor(6) as writers:
        bodies = [
            {"documents": [{"id": f"new-{n}", "text": f"Buoy {n} is red."}]} for n in range(6)
        ]
        done = list(writers.map(lambda body: client.post("/api/documents", json=body), bodies))
        assert [response.status_code for response in done] == [200] * 6
        assert {f"new-{n}" for n in range(6)} <= set(client.service.served.index.document_of)
        assert sorted(response.json()["documents"] for response in done) == [5, 6, 7, 8, 9, 10]
