"""Chat front ends are answered in OpenAI's forms, with numbers that lead to the sources."""

from __future__ import annotations

import json
import re
import time

import pytest

import clew
from clew.serve import ServedIndex
from clew.serve.chat import ChatMessage, answer_pieces, standalone_question
from tests.serve.serving import built, client_of

QUESTION = "When do ferries sail from Corfu?"


class Streaming:
    """A model as LangChain has it, that gives a piece at a time."""

    model_name = "streaming"

    def __init__(self, pieces):
        self.pieces, self.prompts = pieces, []

    def invoke(self, prompt):
        self.prompts.append(prompt)
        return type("Message", (), {"content": "".join(self.pieces)})()

    def stream(self, prompt):
        self.prompts.append(prompt)
        for piece in self.pieces:
            yield type("Chunk", (), {"content": piece})()


def asked(text=QUESTION, model="clew", **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], **more}


def chunks_of(response):
    assert response.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in response.text.splitlines() if line]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def text_of(chunks):
    return "".join(
        choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]
    )


def test_without_a_model_the_answer_is_quotes_and_their_sources(client, index):
    body = client.post("/v1/chat/completions", json=asked()).json()
    [choice] = body["choices"]
    text, lines = choice["message"]["content"].split("\n\n")
    own = index.ask(QUESTION, max_share=0.5)
    assert text == clew.cite.quotes(own, index=index)
    assert text
    for line in lines.splitlines():
        number, location = re.fullmatch(r"\[(\d+)\] (.*)", line).groups()
        assert location.startswith(own.items[int(number) - 1].location)
    assert (choice["finish_reason"], body["object"]) == ("stop", "chat.completion")
    assert (
        body["clew"]["sources"][0]["text"]
        == own.items[body["clew"]["sources"][0]["number"] - 1].text
    )
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_a_stream_says_what_the_whole_answer_says(index):
    model = Streaming(["At ", "nine ", "[1]."])
    with client_of(index, model=clew.Model.of(model)) as client:
        whole = client.post("/v1/chat/completions", json=asked()).json()["choices"][0]["message"]
        response = client.post(
            "/v1/chat/completions", json=asked(stream=True, stream_options={"include_usage": True})
        )
        chunks = chunks_of(response)
    assert text_of(chunks) == whole["content"]
    assert whole["content"].startswith("At nine [1].\n\n[1] ")
    contents = [choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"]]
    assert contents[:4] == ["", "At ", "nine ", "[1]."], "piece by piece, as they come"
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert "Passages:" in model.prompts[0]
    assert "[1] " in model.prompts[0]


def test_a_number_in_a_quoted_text_is_no_source():
    texts = [
        "Halvorsen built the lighthouse of Torvik in 1871.[2]",
        "The lighthouse of Torvik is red.",
    ]
    documents = [clew.Document(f"{i}.txt", text) for i, text in enumerate(texts)]
    question = "Who built the lighthouse of Torvik?"
    with client_of(clew.Index.from_documents(documents), max_share=1.0) as client:
        body = client.post("/v1/chat/completions", json=asked(question)).json()
        given = client.post("/api/ask", json={"question": question, "answer": True}).json()
    said, lines = body["choices"][0]["message"]["content"].split("\n\n")
    assert said == f"{texts[0]} [1]"
    assert lines == "[1] 0.txt"
    assert [one["id"] for one in body["clew"]["sources"]] == ["0.txt"]
    assert (len(given["items"]), given["answer"]["cited"]) == (2, {"1": "0.txt"})


def test_a_recipe_is_named_as_a_model(client, index, monkeypatch):
    names = {one["id"] for one in client.get("/v1/models").json()["data"]}
    assert names == {"clew", *(f"clew/{name}" for name in clew.recipes.names())}
    given = []
    ask = ServedIndex.ask

    def note(self, question, **keywords):
        given.append(keywords.get("recipe"))
        return ask(self, question, **keywords)

    monkeypatch.setattr(ServedIndex, "ask", note)
    for name in ("clew", "clew/bm25"):
        assert client.post("/v1/chat/completions", json=asked(model=name)).json()["model"] == name
    assert given == [None, "bm25"]
    for name in ("gpt-4o", "clew/nothing", "clew/../x"):
        response = client.post("/v1/chat/completions", json=asked(model=name))
        assert response.status_code == 404
        assert "/v1/models" in response.json()["error"]["message"]


@pytest.mark.parametrize("recipe", ["kurisu", "da_rag", "router", "global"])
def test_recipes_with_pages_of_their_own_have_numbers_too(index, recipe):
    context = ServedIndex(index).ask(QUESTION, recipe=recipe, numbered=True).context
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", context.text, re.MULTILINE)]
    assert numbers == list(range(1, len(context) + 1))


def test_a_follow_up_is_looked_up_as_the_model_writes_it_out():
    model = clew.Model.of(
        lambda prompt: f"Where does Ben Wood live?{' ' * ('user: And where' in prompt)}"
    )
    messages = [
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Whom did Anna marry?"),
        ChatMessage("assistant", "Ben Wood."),
        ChatMessage("user", "And where does he live?"),
    ]
    assert standalone_question(messages, model) == "Where does Ben Wood live?"
    assert standalone_question(messages, None) == "And where does he live? Ben Wood; Anna"
    assert standalone_question(messages[:2], model) == "Whom did Anna marry?"
    broken = clew.Model.of(lambda prompt: 1 / 0, retries=0)
    assert standalone_question(messages, broken) == "And where does he live?"


def test_without_a_model_a_follow_up_is_looked_up_as_in_a_conversation(index):
    """What stands below an answer, the places of its sources, is no part of what is referred to."""
    questions = [
        "Whom did Anna Stone marry?",
        "Where does he live?",
        "What are oars made of?",
        "And sails?",
        "How much does a ticket cost?",
        "And when do they sail?",
        "Thanks!",
        "And where from?",
    ]
    talk, messages = clew.Conversation.of(index, budget=2000, max_share=0.5), []
    with client_of(index) as client:
        for question in questions:
            answer = "".join(talk.ask(question))
            messages.append({"role": "user", "content": question})
            body = client.post("/v1/chat/completions", json=asked() | {"messages": messages}).json()
            text = body["choices"][0]["message"]["content"]
            messages.append({"role": "assistant", "content": text})
            assert question == "Thanks!" or body["clew"]["looked_up"] == talk.turns[-1].asked
            assert text.split("\n\n")[0] == answer
    assert [turn.asked for turn in talk.turns][1:6:2] == [
        "Where does he live? Ben Wood; Anna Stone",
        "What are oars made of? And sails?",
        "How much does a ticket cost? And when do they sail?",
    ]
    assert talk.turns[-1].asked == "How much does a ticket cost? And where from?"


def test_the_numbers_in_earlier_answers_are_not_shown_beside_other_passages(index):
    prompts = []
    model = clew.Model.of(lambda prompt: prompts.append(prompt) or "Yes [1].")
    messages = [
        ChatMessage("user", "What is in argv[2]?"),
        ChatMessage("assistant", "A path [2]."),
        ChatMessage("user", QUESTION),
    ]
    answer = ServedIndex(index).ask(QUESTION, numbered=True)
    assert list(answer_pieces(answer, messages, model)) == ["Yes [1]."]
    assert "user: What is in argv[2]?\nassistant: A path.\n" in prompts[0]


def test_the_prompt_has_the_passages_and_loses_the_oldest_messages_first(index):
    prompts = []
    model = clew.Model.of(
        lambda prompt: prompts.append(prompt) or "Yes [1].", max_prompt_tokens=400
    )
    messages = [ChatMessage("user", f"Message {n}: {'word ' * 30}") for n in range(20)]
    messages.append(ChatMessage("user", QUESTION))
    answer = ServedIndex(index).ask(QUESTION, numbered=True, budget=150)
    assert list(answer_pieces(answer, messages, model)) == ["Yes [1]."]
    [prompt] = prompts
    assert answer.context.text in prompt
    assert prompt.rstrip().endswith(f"Question: {QUESTION}")
    shown = [int(n) for n in re.findall(r"Message (\d+)", prompt)]
    assert 0 < len(shown) < 20
    assert shown == list(range(20 - len(shown), 20)), "the newest ones, in their order"


def test_parts_of_a_message_and_fields_of_other_servers_are_taken(client):
    body = {
        "model": "clew",
        "temperature": 0.2,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": QUESTION},
                    {"type": "image_url", "image_url": {"url": "x"}},
                ],
            },
        ],
    }
    text = client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]["content"]
    assert "nine" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2),
        ("n", True),
        ("tool_choice", "required"),
        ("tool_choice", {"type": "function", "function": {"name": "f"}}),
        ("function_call", {"name": "f"}),
        ("response_format", {"type": "json_object"}),
        ("modalities", ["text", "audio"]),
        ("logprobs", True),
    ],
)
def test_a_reply_of_another_form_is_refused(client, name, value):
    response = client.post("/v1/chat/completions", json=asked(**{name: value}))
    assert response.status_code == 422
    assert f"has no '{name}' but " in response.json()["error"]["message"]


def test_what_has_no_effect_is_told(client):
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    fields = {"temperature": 0.2, "stop": ["nine"], "tools": [tool], "max_tokens": 1, "foo": 1}
    usual = {"n": 1, "tool_choice": "auto", "response_format": {"type": "text"}, "logprobs": False}
    image = {"type": "image_url", "image_url": {"url": "x"}}
    for more in ({}, {"stop": None, "tools": [], "stream_options": None}):
        body = client.post("/v1/chat/completions", json=asked(**usual, **more)).json()
        assert body["clew"]["left_aside"] == []
    talk = {"messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}, image]}]}
    body = client.post("/v1/chat/completions", json=asked(**fields, **usual) | talk).json()
    told = [*fields, "messages.0.content.image_url"]
    assert body["clew"]["left_aside"] == told
    chunks = chunks_of(
        client.post("/v1/chat/completions", json=asked(stream=True, **fields) | talk)
    )
    assert chunks[-1]["clew"]["left_aside"] == told
    wrong = asked(stream=True, stream_options={"include_usage": "often"})
    assert client.post("/v1/chat/completions", json=wrong).status_code == 422


def test_a_conversation_without_a_question_is_an_error(client):
    for messages in (
        [{"role": "assistant", "content": "Hello"}],
        [{"role": "user", "content": " "}],
        [{"role": "user"}],
    ):
        response = client.post("/v1/chat/completions", json={"model": "clew", "messages": messages})
        assert response.status_code == 400
        assert "user" in response.json()["error"]["message"]
    assert client.post("/v1/chat/completions", json=asked("a" * 10_001)).status_code == 400


def test_a_model_that_fails_midway_ends_the_stream_with_an_error(index):
    class Failing(Streaming):
        def stream(self, prompt):
            yield from super().stream(prompt)
            raise ConnectionError("the line was cut")

    with client_of(index, model=clew.Model.of(Failing(["At "]))) as client:
        chunks = chunks_of(client.post("/v1/chat/completions", json=asked(stream=True)))
    assert text_of(chunks[:-1]) == "At "
    assert chunks[-1]["error"]["type"] == "model_failed"
    assert "cut" in chunks[-1]["error"]["message"]


def test_a_model_that_says_nothing_is_given_up(index):
    class Silent(Streaming):
        def stream(self, prompt):
            time.sleep(20)
            yield "late"

    with client_of(index, model=clew.Model.of(Silent([]), timeout=0.2)) as client:
        begin = time.monotonic()
        response = client.post("/v1/chat/completions", json=asked())
        assert time.monotonic() - begin < 15
    assert response.status_code == 502
    assert "0.2 seconds" in response.json()["error"]["message"]


def test_where_nothing_is_found_no_model_is_asked():
    lines = [f"The buoy number {n} is painted red and white in the spring." for n in range(150)]
    index = built({"buoys.md": "\n\n".join(lines), "ferry.md": "Ferries sail at nine."})
    with client_of(index, model=clew.Model.of(lambda prompt: 1 / 0, retries=0)) as client:
        body = client.post(
            "/v1/chat/completions", json=asked("Zorgbot quarterly yttrium earnings?")
        )
        message = body.json()["choices"][0]["message"]
        page = client.post(
            "/api/ask", json={"question": "Zorgbot quarterly yttrium earnings?"}
        ).json()
    assert message["content"] == "The files say nothing about that."
    assert page["nothing_found"]
    assert page["answer"]["text"] == ""


def test_an_answer_that_came_in_pieces_is_kept():
    source = Streaming(["one ", "two"])
    model = clew.Model.of(source, answers=clew.AnswerCache())
    assert list(model.stream("count")) == ["one ", "two"]
    assert list(model.stream("count")) == ["one two"]
    assert source.prompts == ["count"]


def test_a_llama_index_model_streams_its_deltas():
    class Llama:
        metadata = None

        def complete(self, prompt):
            raise AssertionError("it can stream")

        def stream_complete(self, prompt):
            for text, delta in (("one", "one"), ("one two", " two")):
                yield type("Response", (), {"text": text, "delta": delta})()

    assert list(clew.Model.of(Llama()).stream("count")) == ["one", " two"]
