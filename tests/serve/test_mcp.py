"""The tools and resources of an assistant, by the client of the protocol's own SDK."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import anyio
import pytest

import clew
from clew.serve import ServedIndex, ServedOptions

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from clew.serve.mcp_server import create_mcp_server

HARBOUR = Path(__file__).parents[2] / "examples" / "harbour"
DOCUMENTS = {
    "notes/anna.md": "Anna Reed married Ben Okri.",
    "notes/ben.md": "Ben Okri lives on Corfu.",
    "other.md": "Oars are of ash.",
}
FACTS = {
    "notes/anna.md": [("Anna Reed", "married", "Ben Okri")],
    "notes/ben.md": [("Ben Okri", "lives on", "Corfu")],
}


@pytest.fixture(scope="module")
def server():
    documents = [clew.Document(id, text, {"file_name": id}) for id, text in DOCUMENTS.items()]
    return create_mcp_server(ServedIndex(clew.Index.from_documents(documents, facts=FACTS)))


def call(server, tool, **arguments):
    async def asked():
        async with Client(server) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(asked)


def text_of(result):
    (content,) = result.content
    return content.text


def test_an_assistant_learns_that_the_best_passage_is_above_the_budget():
    story = " ".join(f"The heron of the weir waits for trout number {n}." for n in range(30))
    documents = [clew.Document("heron", story), clew.Document("oars", "Oars are of ash.")]
    server = create_mcp_server(ServedIndex(clew.Index.from_documents(documents)))
    asked = {"question": "What does the heron wait for?"}
    remark = text_of(call(server, "ask", **asked, budget=40)).splitlines()[-1]
    assert "more than the whole budget of 40" in remark
    assert "budget" not in text_of(call(server, "ask", **asked))


def test_an_assistant_finds_tools_that_only_read_with_what_they_take(server):
    async def listed():
        async with Client(server) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(listed)}
    assert set(tools) == {"ask", "open_source", "neighbours"}
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools.values())
    assert tools["ask"].input_schema["required"] == ["question"]
    assert {tool.input_schema["additionalProperties"] for tool in tools.values()} == {False}
    for name in clew.recipes.names():
        assert name in json.dumps(tools["ask"].input_schema)


def test_an_answer_is_numbered_and_names_where_each_passage_is_to_be_opened(server):
    page = text_of(call(server, "ask", question="Where does Anna Reed's husband live?"))
    passages, _, sources = page.partition("\nSources:\n")
    numbers = re.findall(r"^\[(\d+)\]", passages, re.MULTILINE)
    assert numbers == re.findall(r"^\[(\d+)\]", sources, re.MULTILINE) != []
    ids = re.findall(r"\(id: ([^)]*)\)", sources)
    assert {"notes/anna.md", "notes/ben.md"} <= set(ids)
    for id in DOCUMENTS.keys() & set(ids):
        opened = text_of(call(server, "open_source", id=id))
        assert DOCUMENTS[id] in opened


def test_an_answer_keeps_to_the_budget_and_the_filter(server):
    question = "Who lives on Corfu?"
    for budget in (20, 40):
        page = text_of(call(server, "ask", question=question, budget=budget))
        passages, found, _ = page.partition("\n\nSources:")
        assert found
        assert clew.Graph.of([passages]).tokens[0] <= budget
    only = text_of(call(server, "ask", question=question, where={"file_name": "other.md"}))
    assert "Corfu" not in only


def test_the_neighbours_of_a_name_are_the_passages_that_have_it(server):
    found = text_of(call(server, "neighbours", id="entity:ben okri"))
    assert {"notes/anna.md", "notes/ben.md"} <= set(re.findall(r"^(\S+) \(", found, re.MULTILINE))


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("open_source", {"id": "../../etc/passwd"}, "there is nothing with the id"),
        ("neighbours", {"id": "nobody"}, "there is nothing with the id"),
        ("ask", {"question": "   "}, "at least one word"),
        ("ask", {"question": "Who?", "recipe": "hiporag"}, "unknown recipe"),
        ("ask", {"question": "Who?", "budget": 100_001}, "less than or equal to 100000"),
        ("ask", {"question": "Who?", "budget": 0}, "greater than or equal to 1"),
        ("ask", {"question": "Who?", "budget": True}, "a number is wanted"),
        ("open_source", {"id": "other.md", "around": False}, "a number is wanted"),
        ("neighbours", {"id": "other.md", "limit": True}, "a number is wanted"),
        ("ask", {"question": "Who?", "bugdet": 9}, "ask does not take bugdet; it takes question, "),
        ("neighbours", {"id": "other.md", "most": 3}, "does not take most; it takes id, limit"),
    ],
)
def test_a_mistake_is_an_error_in_words(server, tool, arguments, why):
    result = call(server, tool, **arguments)
    assert result.is_error
    assert why in text_of(result)
    assert "Traceback" not in text_of(result)


@pytest.mark.parametrize("named", ["Fa\u0308hre.md", "F\u00e4hre.md"])
@pytest.mark.parametrize("asked", ["Fa\u0308hre.md", "F\u00e4hre.md"])
def test_an_id_is_known_whichever_way_its_letters_are_written(named, asked):
    documents = [
        clew.Document(named, "The ferry is white."),
        clew.Document("o", "Oars are of ash."),
    ]
    server = create_mcp_server(ServedIndex(clew.Index.from_documents(documents)))
    assert "white" in text_of(call(server, "open_source", id=asked))
    assert not call(server, "neighbours", id=asked).is_error


def test_of_a_long_document_as_much_is_opened_as_was_asked_for():
    text = "\n\n".join(f"Number {n} of the herons of the weir." for n in range(9_000))
    index = clew.Index.from_documents([clew.Document("herons", text)], splitter=clew.Splitter())
    server = create_mcp_server(ServedIndex(index))
    for around, length in (({}, 4_000), ({"around": 0}, 4_000), ({"around": 50_000}, 50_000)):
        opened = text_of(call(server, "open_source", id="herons", **around))
        assert opened == f"herons\n\n{text[:length]} […]"
    passage = next(id for id in index.graph.ids if id.startswith("herons#") and id > "herons#5")
    whole = index.graph.texts[index.graph.row(passage)]
    opened = text_of(call(server, "open_source", id=passage, around=100))
    assert whole in opened
    assert len(opened) < len(whole) + 150


@pytest.mark.parametrize("ids", [DOCUMENTS, ["a#b.md", "what?.md", "50%25.md", "Käse 1.md"]])
def test_a_document_is_a_resource_by_its_id(ids):
    documents = {id: DOCUMENTS.get(id, f"Text of {id}.") for id in ids}
    made = [clew.Document(id, text) for id, text in documents.items()]
    server = create_mcp_server(ServedIndex(clew.Index.from_documents(made)))

    async def read():
        async with Client(server) as client:
            (listed,) = (await client.read_resource("clew://documents")).contents
            texts = {}
            for one in json.loads(listed.text)["listed"]:
                (content,) = (await client.read_resource(one["uri"])).contents
                texts[one["id"]] = content.text
            (status,) = (await client.read_resource("clew://status")).contents
            return texts, json.loads(status.text)

    texts, status = anyio.run(read)
    assert texts == documents
    assert status["documents"] == len(documents)


def test_a_name_that_is_no_utf_8_is_sent_as_its_numbers():
    """A message that cannot be written ended the server, for all questions after it."""
    odd = clew.Document("\udcff.md", "Oars of the \ud800 are of ash.")
    server = create_mcp_server(ServedIndex(clew.Index.from_documents([odd, "Sails are of flax."])))

    async def read():
        async with Client(server) as client:
            (listed,) = (await client.read_resource("clew://documents")).contents
            return listed.text

    sent = [text_of(call(server, "ask", question="Of what are oars?")), anyio.run(read)]
    assert all("\\udcff.md" in text and text.encode("utf-8") for text in sent)


def test_a_recipe_of_the_server_is_asked_where_the_assistant_names_none():
    asked = []

    class Served(ServedIndex):
        def ask(self, *arguments, **keywords):
            found = super().ask(*arguments, **keywords)
            asked.append(found.context.method)
            return found

    options = ServedOptions(recipe="bm25", method=clew.recipes.get("bm25"), budget=50)
    served = Served(clew.Index.from_documents(["Oars are of ash."]), options)
    call(create_mcp_server(served), "ask", question="oars?")
    assert asked[0].startswith("Pipeline(seed=BM25")


def test_the_command_talks_over_stdin_and_stdout(tmp_path):
    folder = clew.Index.from_documents(HARBOUR, splitter=clew.Splitter())
    folder.save(tmp_path / "harbour.clew")
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "clew", "mcp", str(tmp_path / "harbour.clew")]
    )

    async def asked():
        async with Client(command) as client:
            return await client.call_tool(
                "ask", {"question": "Who is the coxswain of the lifeboat?"}
            )

    assert "Jonas Lund" in text_of(anyio.run(asked))
