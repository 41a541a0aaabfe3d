"""Every example runs as it stands, with no key and no network, and says what its first lines promise."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {
    "quickstart": (
        (),
        [
            "# statistics.harmonic_mean",
            "of 300 tokens: harmonic_mean",
            "pstdev refers to pvariance -> pvariance",
            "flowchart LR",
        ],
    ),
    "llamaindex_query_engine": (
        ("llama_index.retrievers.clew",),
        ["Return the harmonic mean of data", "1  harmonic_mean"],
    ),
    "llamaindex_postprocessor": (
        ("llama_index.postprocessor.clew",),
        ["12 nodes were found", "Return the harmonic mean of data", "Query: Which"],
    ),
    "langchain_lcel_chain": (
        ("langchain_clew",),
        ["[1] Return the harmonic mean", "harmonic_mean: question -touches-> harmonic_mean"],
    ),
    "langchain_vectorstore": (
        ("langchain_clew",),
        ["They lead to Ada Brandt", "Ada Brandt: question -fact->"],
    ),
    "langgraph_agent": (
        ("langchain_clew", "langgraph"),
        ["Return the harmonic mean of data. [harmonic_mean]"],
    ),
    "llamaindex_property_graph": (
        ("llama_index.retrievers.clew",),
        ["Ada Brandt grew up in Tromsø", "-mentions->"],
    ),
    "langchain_compressor_ensemble": (
        ("langchain_clew", "langchain_classic"),
        ["within 500 tokens", "harmonic_mean    seed"],
    ),
}
CHATS = ("chat_langchain", "chat_llama_index")  # see test_chat.py


def test_no_example_is_left_out():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SAYS, *CHATS}


@pytest.mark.parametrize("name", SAYS)
def test_the_example_says_what_it_should(name, capsys, monkeypatch):
    """In this process, where the frameworks are loaded already; in one of its own it is run below."""
    modules, wanted = SAYS[name]
    for module in modules:
        pytest.importorskip(module)
    program = str(EXAMPLES / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("went to the network"))
    runpy.run_path(program, run_name="__main__")
    said = capsys.readouterr().out
    for each in wanted:
        assert each in said


@pytest.mark.parametrize(
    "name",
    [name if name == "quickstart" else pytest.param(name, marks=pytest.mark.slow) for name in SAYS],
)
def test_the_example_runs_offline_and_says_what_it_should(name, tmp_path):
    modules, wanted = SAYS[name]
    for module in modules:
        pytest.importorskip(module)
    blocked = tmp_path / "sitecustomize.py"
    blocked.write_text(
        "import socket\ndef no(*a): raise OSError('an example went to the network')\nsocket.socket.connect = no\n"
    )
    keep = {
        key: value for key, value in os.environ.items() if "KEY" not in key and "TOKEN" not in key
    }
    paths = os.pathsep.join([str(tmp_path), *filter(None, [keep.get("PYTHONPATH")])])
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        command,
        env=keep | {"PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for said in wanted:
        assert said in done.stdout


@pytest.mark.parametrize("name", [*SAYS, *CHATS])
def test_an_example_is_read_in_a_minute_or_three(name):
    lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < (260 if name in CHATS else 60)
    assert lines[0].startswith('"""')
