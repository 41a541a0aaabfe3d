"""OpenAI's own client asks the server, whole and in a stream."""

from __future__ import annotations

import threading
import time

import pytest
import uvicorn

import clew
from clew.serve import ServedIndex, ServedOptions
from clew.serve.access import AccessRules
from clew.serve.app import create_app
from clew.serve.service import Service

openai = pytest.importorskip("openai", reason="needs openai: clew[clients]")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

QUESTION = [{"role": "user", "content": "When do ferries sail from Corfu?"}]


@pytest.fixture(params=[None, lambda prompt: "At nine [1]."], ids=["quotes", "model"])
def client(index, request):
    model = None if request.param is None else clew.Model.of(request.param)
    service = Service.of(ServedIndex(index, ServedOptions(model=model)))
    app = create_app(service, AccessRules(token="right"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    with openai.OpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key="right", max_retries=0
    ) as client:
        yield client
    server.should_exit = True
    thread.join(30)


def test_the_client_reads_an_answer_its_stream_and_its_models(client):
    assert "clew/bm25" in [model.id for model in client.models.list()]
    whole = client.chat.completions.create(model="clew", messages=QUESTION)
    text = whole.choices[0].message.content
    assert "nine" in text
    assert "[1] " in text
    assert whole.usage.total_tokens > 0
    chunks = client.chat.completions.create(
        model="clew/bm25", messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(chunks)
    streamed = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert "nine" in streamed
    assert chunks[-1].usage.total_tokens > 0


def test_the_client_understands_the_errors(client):
    with pytest.raises(openai.NotFoundError, match="/v1/models"):
        client.chat.completions.create(model="gpt-4o", messages=QUESTION)
    with pytest.raises(openai.BadRequestError, match="user"):
        client.chat.completions.create(
            model="clew", messages=[{"role": "assistant", "content": "a"}]
        )
    with pytest.raises(openai.AuthenticationError, match="token"):
        client.with_options(api_key="wrong").models.list()
