"""The README says what is so: its Python runs, its recipes are all there are, its one line of shell works."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import clew
from clew.cli import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_every_recipe_is_listed_and_none_besides():
    guide = (ROOT / "examples" / "guide" / "recipes.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| [^|]+ \|$", guide, re.MULTILINE) == clew.recipes.names()
    assert f"lists all {len(clew.recipes.names())}," in README


def test_the_python_for_clew_alone_runs_in_the_order_it_is_read(capsys):
    names: dict = {}
    for block in BLOCKS:
        if "langchain" not in block and "llama_index" not in block:
            exec(block, names)
    assert "Ben lives on Corfu." in capsys.readouterr().out
    assert names["context"].ids


def test_the_python_for_langchain_runs():
    pytest.importorskip("langchain_clew")
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore.from_texts(
        ["Anna married Ben.", "Ben lives on Corfu."], DeterministicFakeEmbedding(size=8)
    )
    names = {"vector_store": store}
    for block in BLOCKS:
        if "langchain" in block:
            exec(block, names)
    assert names["retriever"].invoke("Where does Ben live?")


def test_the_python_for_llamaindex_runs():
    pytest.importorskip("llama_index.postprocessor.clew")
    from llama_index.core import MockEmbedding, Settings, VectorStoreIndex
    from llama_index.core.llms import MockLLM
    from llama_index.core.schema import TextNode

    Settings.llm = MockLLM()
    nodes = [TextNode(text="Anna married Ben."), TextNode(text="Ben lives on Corfu.")]
    names = {"index": VectorStoreIndex(nodes, embed_model=MockEmbedding(8))}
    for block in BLOCKS:
        if "llama_index" in block:
            exec(block, names)
    assert names["query_engine"].query("Where does Ben live?").source_nodes


def clew_says(capsys, *arguments):
    """What `clew` prints, in this process: that the command starts by itself is tested with the command."""
    capsys.readouterr()
    assert main([*arguments]) == 0
    return capsys.readouterr().out


def test_the_first_command_answers_over_real_input(tmp_path, capsys, monkeypatch):
    line = next(line for line in README.splitlines() if "clew ask" in line and "pydoc" in line)
    _, pydoc, ask = line.split(" && ")
    modules, _, file = pydoc.removeprefix("python -m pydoc ").partition(" > ")
    written = subprocess.run(
        [sys.executable, "-m", "pydoc", *modules.split()],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (tmp_path / file).write_text(written, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    said = clew_says(capsys, *shlex.split(ask)[1:])
    assert "harmonic mean" in said.partition("sources:")[0]
    assert file in said.partition("sources:")[2]


def test_both_chatbots_answer_over_the_folder_of_many_scripts(capsys, monkeypatch):
    pytest.importorskip("langchain")
    pytest.importorskip("langchain_clew")
    pytest.importorskip("llama_index.retrievers.clew")
    line = next(line for line in README.splitlines() if "examples/chat_" in line)
    _, *chats = line.split(" && ")
    monkeypatch.chdir(ROOT)
    said = []
    for chat in chats:
        _, program, *arguments = shlex.split(chat)
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        capsys.readouterr()
        runpy.run_path(program, run_name="__main__")
        said.append(capsys.readouterr().out)
    assert "Jonas Lund, Marta's brother, is its coxswain. [" in said[0]
    assert "1871" in said[0]
    assert "الخامسة" in said[1]
    assert "ferry.zh.txt" in said[1]


def test_the_documentation_of_a_package_is_written(tmp_path, capsys, monkeypatch):
    line = next(line for line in README.splitlines() if line.startswith("clew document"))
    folder = json.__path__[0]
    line = line.replace(
        "\"$(python -c 'import json; print(json.__path__[0])')\"", shlex.quote(folder)
    )
    monkeypatch.chdir(tmp_path)
    said = clew_says(capsys, *shlex.split(line)[1:])
    assert "public names" in said
    assert "on 5 pages" in said
    assert "JSONDecoder" in (tmp_path / "json-docs" / "index.md").read_text(encoding="utf-8")
