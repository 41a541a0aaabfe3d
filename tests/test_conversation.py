"""Conversations: what a follow-up is looked up with, what a model is given, and what an address answers."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import clew
from clew import cli
from clew.conversation import NOTHING, TOO_LONG, _names_of
from clew.model import ModelError, OpenAICompatible
from clew.text.pronouns import has_pronoun

HARBOUR = Path(__file__).parents[1] / "examples" / "harbour"
DOCUMENTS = [
    clew.Document("guide", "The coxswain of the lifeboat is Jonas Lund."),
    clew.Document(
        "people", "Jonas Lund lives in the old customs house. Eleni Vassou runs the inn."
    ),
    clew.Document("tides", "The sea rises five metres at spring tide."),
]


@pytest.fixture(scope="module")
def index():
    return clew.Index.from_documents(DOCUMENTS)


def test_a_pronoun_is_looked_up_with_the_names_of_the_answer_before(index):
    talk = clew.Conversation.of(index)
    first = "".join(talk.ask("Who is the coxswain of the lifeboat?"))
    assert first == "The coxswain of the lifeboat is Jonas Lund. [1]"
    second = "".join(talk.ask("Where does he live?"))
    assert "customs house" in second
    assert "Jonas Lund" in talk.turns[1].asked
    assert talk.turns[1].sources[1].id == "people"


@pytest.mark.parametrize("question", ["When is spring tide?", "=Where does he live?"])
def test_what_refers_to_nothing_is_looked_up_as_it_stands(index, question):
    talk = clew.Conversation.of(index)
    list(talk.ask("Who is the coxswain of the lifeboat?"))
    assert talk.standalone(question) == question.lstrip("=")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("And in winter?", "A berth costs nine crowns in winter."),
        ("What about winter?", "A berth costs nine crowns in winter."),
        ("why?", "A berth costs two crowns in summer."),
        ("And who runs the inn?", "Eleni Vassou runs the inn."),
    ],
)
def test_what_says_too_little_is_looked_up_with_the_question_before_it(question, answer):
    told = [
        *("A berth costs two crowns in summer.", "A berth costs nine crowns in winter."),
        *("The tower burnt down in winter.", "Nobody knows why.", "Eleni Vassou runs the inn."),
        *(f"Boat number {n} is red in winter, as it was." for n in range(9)),
    ]
    talk = clew.Conversation.of(clew.Index.from_documents(told), recipe="bm25", limit=3)
    first = "What does a berth cost in summer?"
    assert "two crowns" in "".join(talk.ask(first))
    said = "".join(talk.ask(question))
    assert said.startswith(answer), (said, talk.turns[-1].asked)
    goes_on = "inn" not in question
    assert talk.turns[-1].asked == (f"{first} {question}" if goes_on else question)


def test_what_it_stands_for_is_what_was_asked_about():
    told = [
        "With the timeout of `wait_for`, a task is cancelled. None is no timeout.",
        "A timeout works by a timer, which None stops.",
        *(f"How do I know that part {n} works? None works as it does." for n in range(9)),
    ]
    talk = clew.Conversation.of(clew.Index.from_documents(told), recipe="bm25", limit=2)
    first = "How do I cancel a task after a timeout?"
    assert "wait_for" in "".join(talk.ask(first))
    assert talk.standalone("How does it work?") == f"{first} How does it work?"
    assert "timer" in "".join(talk.ask("How does it work?"))
    for name in _names_of(talk._exchanges[-1]):
        assert name.lower() not in ("how do i", "i")


def test_the_first_question_refers_to_nothing(index):
    assert clew.Conversation.of(index).standalone("Where does he live?") == "Where does he live?"


def test_a_model_writes_the_question_and_the_answer_and_sees_what_was_asked_before(index):
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return "Where does Jonas Lund live?" if "understood alone" in prompt else "He does [1]."

    talk = clew.Conversation.of(index, model=model)
    assert "".join(talk.ask("Who is the coxswain?")) == "He does [1]."
    assert "".join(talk.ask("Where does he live?")) == "He does [1]."
    first, standalone, second = prompts  # nothing comes before the first question
    assert "Jonas Lund." in first
    assert "Question: Who is the coxswain?" in first
    assert "Answer: He does [1]." in standalone
    assert talk.turns[1].asked == "Where does Jonas Lund live?"
    assert "customs house" in second
    assert second.endswith("Question: Where does he live?")


def test_what_was_said_long_ago_is_left_out_of_a_prompt_without_room(index):
    prompts = []
    model = clew.Model.of(
        lambda prompt: prompts.append(prompt) or "So it is.", max_prompt_tokens=220
    )
    talk = clew.Conversation.of(index, model=model, budget=60)
    for number in range(8):
        list(talk.ask(f"=Who is the coxswain number {number}?"))
    assert "number 6?" in prompts[-1]
    assert "number 0?" not in prompts[-1]
    assert all(model.tokens(prompt) <= 220 for prompt in prompts)


def test_a_model_that_fails_leaves_no_turn_and_the_conversation_goes_on(index):
    def model(prompt):
        raise OSError("no route")

    talk = clew.Conversation.of(index, model=clew.Model.of(model, retries=0))
    with pytest.raises(RuntimeError, match="failed: OSError: no route"):
        list(talk.ask("Who is the coxswain?"))
    assert talk.turns == []


@pytest.mark.parametrize("answer", ["", " \n", "<think>Who is [1]?"])
def test_an_empty_answer_is_an_error_and_leaves_no_turn(index, answer):
    talk = clew.Conversation.of(index, model=lambda prompt: answer)
    with pytest.raises(RuntimeError, match="gave an empty answer"):
        list(talk.ask("Who is the coxswain?"))
    assert talk.turns == []


@pytest.mark.parametrize("written", ["", "Where? " * 100])
def test_a_question_that_a_model_writes_badly_is_looked_up_as_it_was_asked(index, written):
    talk = clew.Conversation.of(
        index,
        model=lambda prompt: written if "understood alone" in prompt else "He does [1].",
        max_question=50,
    )
    for question in ("Who is the coxswain?", "Where does he live?"):
        assert "".join(talk.ask(question)) == "He does [1]."
    assert talk.turns[1].asked == "Where does he live?"


@pytest.mark.parametrize(
    "written",
    [
        "Question: {}",
        "**Standalone question:** {}",
        "Question: {}\nAnswer: In the old customs house.",
        "user: {}\n\nassistant: He does.",
    ],
)
def test_what_a_model_writes_around_the_question_is_not_looked_up(index, written):
    full = "Is the question: where does Jonas Lund live?"
    talk = clew.Conversation.of(
        index,
        model=lambda prompt: written.format(full) if "understood alone" in prompt else "He [1].",
    )
    for question in ("Who is the coxswain?", "Where does he live?"):
        list(talk.ask(question))
    assert talk.turns[1].asked == full


def test_the_numbers_of_earlier_passages_are_not_shown_beside_others(index):
    prompts = []

    def model(prompt):
        prompts.append(prompt)
        return "He is, of `boats[1]` [1][2]."

    talk = clew.Conversation.of(index, model=model)
    list(talk.ask("=Who is the coxswain of boats[1]?"))
    list(talk.ask("= When is spring tide?"))
    before = prompts[-1].partition("The conversation so far:\n")[2].splitlines()[:2]
    assert before == [
        "Question: Who is the coxswain of boats[1]?",
        "Answer: He is, of `boats[1]`.",
    ]


def test_what_is_looked_up_does_not_grow_with_each_question():
    index = clew.Index.from_documents(["the tide is high at noon.", "the quay is wet."])
    talk = clew.Conversation.of(index, max_question=50)
    list(talk.ask("when is the tide high?"))
    for _ in range(3):
        list(talk.ask("where is it?"))
        assert talk.turns[-1].asked == "when is the tide high? where is it?"
    list(talk.ask("+ and the quay?"))
    list(talk.ask("is it wet?"))
    assert talk.turns[-1].asked == "when is the tide high? where is it? and is it wet?"
    assert len(talk.turns[-1].asked) == 50, "what is before it gives way"
    longest = "is it " + "x" * 44
    assert talk.standalone(longest) == longest


def test_one_sign_before_a_question_is_no_part_of_it_and_alone_it_is_none(index):
    talk = clew.Conversation.of(index)
    list(talk.ask(" =Who is the coxswain of the lifeboat?"))
    assert talk.turns[0].asked == "Who is the coxswain of the lifeboat?"
    assert talk.standalone("=== and = in C") == "== and = in C"
    assert talk.standalone(" + ++i?") == "Who is the coxswain of the lifeboat? ++i?"
    for nothing in ("+", "=", " + ", "", " "):
        with pytest.raises(ValueError, match="at least one word"):
            list(talk.ask(nothing))
    assert len(talk.turns) == 1


def test_what_the_documents_do_not_say_is_not_answered():
    talk = clew.Conversation.of(clew.Index.from_documents(HARBOUR, splitter=clew.Splitter()))
    assert "".join(talk.ask("Who is the president of France?")) == NOTHING


@pytest.mark.parametrize(
    ("question", "refers"),
    [
        ("Where does she live?", True),
        ("Wo wohnt er?", True),
        ("Когда его построили?", True),
        ("他住在哪里？", True),
        ("What does it cost?", True),
        ("Is it possible to cancel a running job?", False),
        ("Who is the coxswain?", False),
        ("Когда построили маяк?", False),
    ],
)
def test_pronouns(question, refers):
    assert has_pronoun(question) is refers


class Streams:
    """A model as LangChain has it: `stream` yields messages."""

    def invoke(self, prompt):
        raise AssertionError("it streams")

    def stream(self, prompt):
        yield from (type("Chunk", (), {"content": piece})() for piece in ("So ", "it ", "is."))


def yields(prompt):
    yield from ("So ", "it ", "is.")


@pytest.mark.parametrize("model", [Streams(), yields])
def test_pieces_come_as_the_model_writes_them(index, model):
    talk = clew.Conversation.of(index, model=model)
    assert list(talk.ask("Who is the coxswain?")) == ["So ", "it ", "is."]


def test_an_answer_in_pieces_is_kept_and_not_asked_for_again():
    asked = []

    def model(prompt):
        asked.append(prompt)
        yield from ("So ", "it is.")

    with_cache = clew.Model.with_cache(model)
    assert list(with_cache.stream("Is it?")) == ["So ", "it is."]
    assert list(with_cache.stream("Is it?")) == ["So it is."]
    assert asked == ["Is it?"]


def test_a_stream_that_breaks_is_an_error_and_what_came_was_seen():
    def model(prompt):
        yield "So "
        raise OSError("line cut")

    pieces = clew.Model.of(model).stream("Is it?")
    assert next(pieces) == "So "
    with pytest.raises(RuntimeError, match="failed: OSError: line cut"):
        next(pieces)


class Server(BaseHTTPRequestHandler):
    """Answers as OpenAI's chat completions do, in two pieces where they are asked for."""

    streams = True
    instead = ""  # what comes in the place of an answer

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        whole = {"message": {"role": "assistant", "content": "Jonas [1]"}, "index": 0}
        body = json.dumps(
            {"choices": [whole], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
        )
        is_stream = bool(asked.get("stream")) and self.streams and not self.instead
        if is_stream:
            pieces = [
                {"choices": [{"index": 0, "delta": {"content": one}}]} for one in ("Jonas", " [1]")
            ]
            body = "".join(f"data: {json.dumps(one)}\n\n" for one in pieces) + "data: [DONE]\n\n"
        self.send_response(200)
        body = self.instead or body
        is_json = body.startswith("{")
        kind = "text/event-stream" if is_stream else "application/json" if is_json else "text/html"
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = HTTPServer(("127.0.0.1", 0), Server)
    made.asked = []
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_an_address_that_speaks_as_openai_does_is_a_model(server, index, monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    address = f"http://127.0.0.1:{server.server_port}/v1"
    model = clew.Model.of(OpenAICompatible.from_spec(f"{address}#small"))
    answer = model.ask("Who?", str)
    assert (answer.value, answer.usage.prompt_tokens, answer.usage.completion_tokens) == (
        "Jonas [1]",
        7,
        2,
    )
    talk = clew.Conversation.of(index, model=f"{address}#small")
    assert list(talk.ask("Who is the coxswain?")) == ["Jonas", " [1]"]
    assert list(talk.turns[0].sources) == [1]
    for path, key, asked in server.asked:
        assert (path, key, asked["model"]) == ("/v1/chat/completions", "Bearer a key", "small")
    assert "a key" not in repr(model)


def test_a_server_that_knows_no_pieces_answers_whole(server, monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.setattr(Server, "streams", False)
    address = f"http://127.0.0.1:{server.server_port}/v1#small"
    assert list(clew.Model.of(OpenAICompatible.from_spec(address)).stream("Who?")) == ["Jonas [1]"]


@pytest.mark.parametrize(
    "body", ['{"error": {"message": "out of memory"}}', "<p>out of memory</p>"]
)
@pytest.mark.parametrize("streams", [False, True])
def test_what_a_server_says_in_the_place_of_an_answer_is_shown(server, monkeypatch, body, streams):
    pytest.importorskip("openai")
    monkeypatch.setattr(Server, "instead", body)
    address = f"http://127.0.0.1:{server.server_port}/v1#small"
    model = clew.Model.of(OpenAICompatible.from_spec(address), retries=0)
    with pytest.raises(ModelError, match=r"gave no answer, but .*out of memory"):
        list(model.stream("Who?")) if streams else model("Who?")


def test_a_reader_that_goes_ends_the_answer_at_its_server(server, monkeypatch):
    pytest.importorskip("openai")
    gone = threading.Event()

    def write_on(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        piece = json.dumps({"choices": [{"index": 0, "delta": {"content": "Jonas "}}]})
        with contextlib.suppress(OSError):
            for _ in range(1000):
                self.wfile.write(f"data: {piece}\n\n".encode())
                time.sleep(0.01)
            return  # to its end, though nobody reads it
        gone.set()

    monkeypatch.setattr(Server, "do_POST", write_on)
    address = f"http://127.0.0.1:{server.server_port}/v1#small"
    pieces = clew.Model.of(OpenAICompatible.from_spec(address)).stream("Who?")
    assert next(pieces) == "Jonas "
    pieces.close()
    gc.disable()  # or the collector may close what nobody else does
    try:
        assert gone.wait(8)
    finally:
        gc.enable()


def test_an_address_without_a_model_is_an_error():
    with pytest.raises(ValueError, match="followed by the name of a model"):
        OpenAICompatible.from_spec("http://localhost:1/v1")


def run(capsys, *typed):
    try:
        code = cli.main(list(typed))
    except SystemExit as done:
        code = done.code
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_answers_and_says_what_it_looked_up(capsys):
    code, out, err = run(
        capsys, "chat", str(HARBOUR), "--no-cache", "--ask", "Who is the coxswain of the lifeboat?",
        "--ask", "Where does he live?", "--ask", "/why", "--ask", "/nope", "--ask", "/new", "--ask", "/why",
    )  # fmt: skip
    assert code == 0
    assert "Jonas Lund" in out
    assert "[1] guide.md:15-16" in out
    assert "looked up: Where does he live?" in err
    assert "Jonas Lund" in err.partition("looked up")[2]
    assert "stages:" in out
    assert "/nope is no command" in err
    assert err.endswith("there is no answer yet\n")


def test_what_is_typed_is_answered_until_quit(capsys, monkeypatch):
    typed = iter(["Who is the coxswain of the lifeboat?", "", "/quit", "never reached"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    code, out, _ = run(capsys, "chat", str(HARBOUR), "--no-cache")
    assert (code, out.count("[1] guide.md")) == (0, 1)
    assert next(typed) == "never reached"


def test_a_paste_that_is_too_long_does_not_end_the_chat(capsys, monkeypatch):
    question, answer = "Who is the coxswain of the lifeboat?", "The lifeboat *Petrel*"
    typed = "\n".join(["harbour " * 12_501, question, "harbour " * 12_499, "Is it it?", question])
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    code, out, err = run(capsys, "chat", str(HARBOUR), "--no-cache")
    assert (code, out.count(answer)) == (2, 2)
    assert "at most 100,000 characters" in err
    assert max(map(len, err.splitlines())) < 400, "what was looked up is shown by its beginning"
    both = ("--ask", "=", "--ask", question, "--ask", "/quit", "--ask", question)
    code, out, err = run(capsys, "chat", str(HARBOUR), "--no-cache", *both)
    assert (code, out.count(answer)) == (2, 1)
    assert "at least one word" in err


def test_what_a_command_says_is_done_by_its_own_options(capsys):
    question = "Who is the coxswain of the lifeboat?"
    _, _, err = run(capsys, "ask", str(HARBOUR), question, "--no-cache", "--recipe", "global")
    assert "has no reports" in err
    assert "--reports" in err
    typed = ("--no-cache", "--model", "builtins:repr", "--prompt-tokens", "50")
    code, _, err = run(capsys, "chat", str(HARBOUR), *typed, "--ask", question)
    assert code == 2
    assert "the ceiling is 50 (" in err
    assert "--prompt-tokens)" in err


def test_a_chat_about_stdin_takes_its_questions_from_the_command(capsys, monkeypatch):
    typed = b"Oars are of ash.\n"
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": io.BytesIO(typed)})())
    assert run(capsys, "chat", "-") == (
        2,
        "",
        "clew: stdin is what is read: ask by --ask, since no question comes from there\n",
    )
    code, out, _ = run(capsys, "chat", "-", "--ask", "Of what are oars?")
    assert (code, "Oars are of ash. [1]" in out) == (0, True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of Python's")
def test_ctrl_c_ends_the_answer_and_at_the_prompt_the_chat(tmp_path):
    import pty

    (tmp_path / "slow.py").write_text(
        "import time\n"
        "def model(prompt):\n"
        "    yield 'It sails '\n"
        "    time.sleep(60 if 'winter' in prompt.splitlines()[-1] else 0)\n"
        "    yield 'at nine [1].'\n"
    )
    (tmp_path / "a.md").write_text("The ferry sails at nine in summer. In winter it is at ten.")
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "clew", "chat", "a.md", "--no-cache", "--model", "slow:model"]
    chat = subprocess.Popen(
        command, cwd=tmp_path, stdin=writer, stdout=writer, stderr=writer, start_new_session=True
    )
    os.close(writer)
    shown = ""

    def wait_for(text, *, interrupting=False):
        nonlocal shown
        end, is_quiet = time.monotonic() + 60, True
        while text not in shown and time.monotonic() < end:
            if interrupting and is_quiet:  # once more, where it came just before a wait
                chat.send_signal(signal.SIGINT)
            is_quiet = not select.select([reader], [], [], 2)[0]
            if not is_quiet:
                shown += os.read(reader, 10_000).decode()
        assert text in shown
        shown = shown.partition(text)[2]

    try:
        wait_for("> ")
        os.write(reader, b"When does it sail in winter?\n")
        wait_for("It sails ")
        wait_for("the answer was given up", interrupting=True)
        wait_for("> ")
        os.write(reader, b"When does the ferry sail?\n")
        wait_for("It sails at nine [1].")
        wait_for("> ")
        wait_for("clew: interrupted", interrupting=True)
        assert chat.wait(20) == 130
    finally:
        chat.kill()
        chat.wait()
        os.close(reader)


def test_thanks_are_looked_up_nowhere_and_forgotten(capsys, tmp_path):
    (tmp_path / "a.md").write_text("Thanks to the tar the hull keeps dry. OK is a sign.")
    (tmp_path / "b.md").write_text("The ferry sails at nine in summer.\n\nIn winter it is at ten.")
    typed = ("thanks", "When does the ferry sail?", "OK, thank you very much!", "And in winter?")
    asked = [part for one in (*typed, "OK", "/context", "= thanks") for part in ("--ask", one)]
    code, out, err = run(capsys, "chat", str(tmp_path), "--no-cache", *asked)
    assert (code, out.count("That asks for nothing")) == (0, 3)
    assert err.count("begin with = to look it up") == 3
    assert out.count("In winter it is at ten.") == 2, "/context is that of the question before"
    assert "looked up: When does the ferry sail? And in winter?" in err
    assert out.count("the tar") == 1, "as it stands it is looked up"


def test_the_chat_says_that_a_filter_allows_nothing(capsys):
    typed = (str(HARBOUR), "--no-cache", "--where", "file_name=nope.md")
    question = "Who is the coxswain of the lifeboat?"
    _, _, asked = run(capsys, "ask", *typed, question)
    code, out, chatted = run(capsys, "chat", *typed, "--ask", question)
    assert (code, NOTHING in out) == (0, True)
    assert "the filter allows none of the passages; its metadata has file_name" in chatted
    assert chatted.splitlines()[-1] == asked.splitlines()[-1]


def test_ask_prints_the_answer_alone_or_the_sources_alone(capsys):
    question = "Who is the coxswain of the lifeboat?"
    _, answer, _ = run(capsys, "ask", str(HARBOUR), question, "--no-cache", "--answer")
    assert answer.startswith("The lifeboat *Petrel*")
    assert "[1] guide.md:15-16" in answer
    _, sources, _ = run(capsys, "ask", str(HARBOUR), question, "--no-cache", "--sources")
    assert sources.startswith("sources: ")
    assert "Petrel" not in sources
    code, nothing, err = run(
        capsys, "ask", str(HARBOUR), "Who is the president of France?", "--no-cache", "--answer"
    )
    assert (code, nothing.strip()) in ((1, NOTHING), (0, NOTHING)), err


@pytest.mark.parametrize(("question", "code"), [("+", 1), ("=", 1), ("== Oars?", 0)])
def test_an_answer_is_looked_up_as_its_context_is(capsys, tmp_path, question, code):
    (tmp_path / "oars.txt").write_text("Oars are of ash.")
    looked_up = []
    for more in ([], ["--answer"]):
        html = tmp_path.parent / "page.html"
        typed = (str(tmp_path), question, "--no-cache", "--html", str(html), *more)
        assert run(capsys, "ask", *typed)[0] == code
        looked_up.append(f"<title>{question}" in html.read_text(encoding="utf-8"))
    assert looked_up == [True, True]


def test_a_terminal_gets_links_to_the_file_and_a_pipe_gets_none(capsys, monkeypatch):
    asked = ("ask", str(HARBOUR), "Who is the coxswain of the lifeboat?", "--no-cache", "--sources")
    _, plain, _ = run(capsys, *asked)
    assert "\x1b" not in plain
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    _, linked, _ = run(capsys, *asked)
    target = f"{(HARBOUR / 'guide.md').resolve().as_uri()}#L15"
    assert f"\x1b]8;;{target}\x1b\\guide.md:15-16" in linked


def test_what_comes_in_on_stdin_is_read(capsys, monkeypatch):
    text = b"Ferries sail at ten.\n\nOars are of ash.\n"
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": __import__("io").BytesIO(text)})())
    code, out, _ = run(capsys, "ask", "-", "When do ferries sail?")
    assert code == 0
    assert "Ferries sail at ten." in out
    assert "stdin" in out
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": __import__("io").BytesIO(b" ")})())
    code, _, err = run(capsys, "ask", "-", "When do ferries sail?")
    assert (code, err) == (
        2,
        "clew: nothing came in on stdin: give a folder, a file or an index to read\n",
    )


TOLD = "Fähren fähren\nfrüh.\n\nRuder für Süd: Esche.\n\nSegel sind aus Flachs.\n"


@pytest.mark.parametrize(
    ("raw", "remark"),
    [
        (TOLD.replace("\n", "\r\n").encode(), ""),
        (TOLD.replace("\n", "\r").encode(), ""),
        (TOLD.encode("utf-8-sig"), ""),
        (TOLD.encode("utf-16"), ""),
        (TOLD.encode("latin-1"), "as cp1252, which it looks like"),
        (TOLD.encode().replace(b"Segel", b"Segel\xff"), "but for 1 character that is none"),
    ],
    ids=["crlf", "cr", "mark", "utf-16", "latin-1", "damaged"],
)
def test_stdin_is_read_as_a_file_with_the_same_bytes_is(capsys, monkeypatch, tmp_path, raw, remark):
    (tmp_path / "stdin").write_bytes(raw)
    typed = ("Segel der Fähren?", "--tokens", "8", "--no-cache", "--json")
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": io.BytesIO(raw)})())
    read = [run(capsys, "ask", source, *typed) for source in (str(tmp_path / "stdin"), "-")]
    of_file, of_stdin = (
        [(item["text"], item["location"]) for item in json.loads(out)["items"]]
        for _, out, _ in read
    )
    assert of_stdin == of_file
    assert "stdin:6" in [where for text, where in of_stdin if "Segel" in text]
    assert all(remark in err and ("read otherwise" in err) == bool(remark) for *_, err in read)


def test_stdin_that_is_closed_or_no_text_is_an_error_of_one_line(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": io.BytesIO(b"a\0b")})())
    code, _, err = run(capsys, "ask", "-", "Why?")
    assert (code, "stdin is no text (binary)" in err, err.count("\n")) == (2, True, 1)
    monkeypatch.setattr("sys.stdin", None)
    code, _, err = run(capsys, "ask", "-", "Why?")
    assert (code, "stdin is closed" in err, err.count("\n")) == (2, True, 1)
    assert run(capsys, "chat", str(HARBOUR), "--no-cache")[0] == 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("aks", "docs", "why?"), "did you mean ask?"),
        (("ask", "docs", "why?", "--bugdet", "3"), "did you mean --budget?"),
        (("ask", str(HARBOUR), "why?", "--recipe", "hiporag"), "did you mean 'hipporag'?"),
        (("ask", str(HARBOUR), "why?", "--style", "bulets"), "did you mean bullets?"),
    ],
)
def test_what_is_misspelt_is_understood(capsys, typed, meant):
    code, _, err = run(capsys, *typed)
    assert code == 2
    assert meant in err


def test_several_folders_and_files_are_asked_as_one(capsys, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ferries.txt").write_text("Ferries sail at ten.")
    (tmp_path / "b.txt").write_text("Oars are of ash.")
    (tmp_path / "c.txt").write_text("Sails are of flax.")
    sources = [str(tmp_path / "a"), str(tmp_path / "b.txt")]
    for question, answer in (("When do ferries sail?", "at ten"), ("Of what are oars?", "of ash")):
        code, out, _ = run(capsys, "ask", *sources, question, "--min-relevance", "0")
        assert code == 0
        assert answer in out
        assert "flax" not in out


def test_an_index_is_asked_alone(capsys, tmp_path, index):
    index.save(tmp_path / "made.clew")
    code, _, err = run(capsys, "ask", str(tmp_path / "made.clew"), str(HARBOUR), "Who?")
    assert code == 2
    assert "is an index, which is asked alone" in err
    code, _, err = run(capsys, "chat", str(HARBOUR), "-", "--ask", "Who?")
    assert code == 2
    assert "stdin is asked alone" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_a_shell_completes_commands_and_options(capsys, shell):
    pytest.importorskip("shtab")
    code, script, _ = run(capsys, "completion", shell)
    assert code == 0
    for typed in ("ask", "chat", "completion", "budget", "recipe"):
        assert typed in script


def test_bash_completes_what_is_begun(capsys, tmp_path):
    pytest.importorskip("shtab")
    _, script, _ = run(capsys, "completion", "bash")
    (tmp_path / "clew.bash").write_text(script)
    lines = f"""
    source {tmp_path / "clew.bash"}
    COMP_WORDS=(clew ask --bud); COMP_CWORD=2
    function_of=$(complete -p clew | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    $function_of clew --bud ask
    echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "--budget", done.stderr


def test_a_model_that_fails_is_one_line_of_the_command(capsys, tmp_path, monkeypatch):
    (tmp_path / "mine_that_fails.py").write_text(
        "def answer(prompt):\n    raise TypeError('no route')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    question = "Who is the coxswain of the lifeboat?"
    typed = ("--no-cache", "--model", "mine_that_fails:answer")
    code, out, err = run(capsys, "ask", str(HARBOUR), question, "--answer", *typed)
    assert (code, out.strip()) == (2, "")
    assert err.splitlines()[-1].endswith("failed: TypeError: no route")
    code, _, err = run(capsys, "chat", str(HARBOUR), *typed, "--ask", question, "--ask", "/why")
    assert code == 2
    assert "failed: TypeError: no route" in err
    assert "there is no answer yet" in err, "the other questions are answered all the same"
    (tmp_path / "fails_once.py").write_text(
        "def answer(prompt):\n"
        "    if 'coxswain of' in prompt:\n"
        "        raise TypeError('no route')\n"
        "    return 'At ten [1].'\n"
    )
    typed = ("--no-cache", "--model", "fails_once:answer", "--ask", question)
    code, out, _ = run(capsys, "chat", str(HARBOUR), *typed, "--ask", "When does the ferry sail?")
    assert (code, "At ten" in out) == (2, True)


def test_the_path_of_two_hops_stands_below_what_it_leads_to(capsys, tmp_path):
    (tmp_path / "anna.txt").write_text("Anna Reed married Ben Okri.")
    (tmp_path / "ben.txt").write_text("Ben Okri lives on Corfu. Ben Okri plays chess.")
    (tmp_path / "facts.json").write_text(
        json.dumps(
            {
                "anna.txt": [["Anna Reed", "married", "Ben Okri"]],
                "ben.txt": [["Ben Okri", "lives on", "Corfu"]],
            }
        )
    )
    facts = ("--facts", str(tmp_path / "facts.json"))
    (tmp_path / "docs").mkdir()
    for name in ("anna.txt", "ben.txt"):
        (tmp_path / name).rename(tmp_path / "docs" / name)
    question = "Where does the husband of Anna Reed live?"
    for typed in (("ask", "--sources"), ("ask", "--answer")):
        command, how = typed
        code, out, _ = run(
            capsys, command, str(tmp_path / "docs"), question, "--no-cache", how, *facts
        )
        assert code == 0
        lines = out.splitlines()
        (at,) = [i for i, line in enumerate(lines) if re.match(r"\s*\[?\d+\]?\s+ben\.txt", line)]
        assert re.match(r"\s+the question .*(Anna Reed married Ben Okri|ben okri)", lines[at + 1])


NAMED = "The miller's name was Ezekiel Thorn."
STORY = f"{'It was quiet, and nobody spoke of the mill. ' * 20}{NAMED}{' The river ran low.' * 40}"
WHO = "What was the miller's name?"


@pytest.mark.parametrize("beside", [[], [clew.Document("boat", "The boat is teal.")]])
def test_a_passage_that_is_larger_than_the_budget_is_quoted_within_it(beside, caplog):
    index = clew.Index.from_documents([clew.Document("mill", STORY), *beside])
    for budget, said in ((index.graph.count(STORY) - 1, f"{NAMED} [1]"), (3, TOO_LONG)):
        for strict in (False, True):
            talk = clew.Conversation.of(index, budget=budget, strict=strict)
            assert "".join(talk.ask(WHO)) == said
            assert said == TOO_LONG or talk.turns[0].sources[1].id == "mill"
    assert not caplog.records


def test_a_model_reads_no_more_than_the_budget(caplog):
    read = []

    def model(prompt):
        read.append(prompt)
        return "Teal [1]."

    documents = [clew.Document("mill", STORY), clew.Document("boat", "The boat is teal.")]
    index = clew.Index.from_documents(documents)
    talk = clew.Conversation.of(index, budget=100, model=model)
    list(talk.ask(WHO))
    assert NAMED not in read[-1]
    assert talk.turns[0].context.tokens <= 100
    assert "'mill' has the highest prize and was left out" in caplog.text


def test_the_command_says_what_is_larger_than_the_budget_and_what_to_do(tmp_path, capsys):
    (tmp_path / "mill.txt").write_text(STORY, encoding="utf-8")
    (tmp_path / "boat.md").write_text("# Boat\n\nThe boat is teal.\n", encoding="utf-8")
    asked = ["ask", str(tmp_path), WHO, "--no-cache", "--tokens", "2000"]
    assert cli.main([*asked, "--budget", "100"]) == 0
    remarks = capsys.readouterr().err
    assert "'mill.txt' has the highest prize and was left out" in remarks
    assert "--budget" in remarks
    assert "--tokens" in remarks
    assert "Splitter" not in remarks
    for options, code, said in (
        (["--budget", "100"], 0, f"{NAMED} [1]"),
        (["--budget", "3"], 1, TOO_LONG),
        (["--tokens", "50"], 0, f"{NAMED} [1]"),
    ):
        assert cli.main([*asked, *options, "--answer"]) == code
        shown = capsys.readouterr()
        assert shown.out.splitlines()[0] == said
        assert "left out" not in shown.err


def test_the_exit_code_says_that_the_files_say_nothing(tmp_path, capsys):
    (tmp_path / "boat.md").write_text("# Boat\n\nThe boat is teal.\n", encoding="utf-8")
    for question, code in (("Who sold Norway?", 1), ("What is teal?", 0)):
        assert cli.main(["ask", str(tmp_path), question, "--no-cache", "--answer"]) == code
        assert (capsys.readouterr().out.strip() == NOTHING) == bool(code)
