"""Every example runs as it stands, with no key and no network, and says what its first lines promise."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.distributions import (
    FOLDERS,
    README,
    ROOT,
    brought_by,
    imported_modules,
    modules,
    project,
)

EXAMPLES = ROOT / "examples"
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
ASKED = ["examples/harbour", "--ask", "Who is the coxswain of the lifeboat?"]
OWN = {module: name for name, folder in FOLDERS.items() for module in modules(folder)}
OWNERS = {
    module: {canonicalize_name(name) for name in names}
    for module, names in metadata.packages_distributions().items()
}


def installed_for(example):
    """What the README's command installs, and the line that the example itself begins with, if any."""
    (command,) = re.findall(
        r"^python -m pip install (\. \./integrations/.*)$", README, re.MULTILINE
    )
    folders = [(ROOT / one).resolve() for one in shlex.split(command)]
    first_lines = (EXAMPLES / f"{example}.py").read_text("utf-8").partition("from __future__")[0]
    besides = re.findall(r"^    pip install ([\w -]+?)(?:  +#.*)?$", first_lines, re.MULTILINE)
    names = [project(folder)["project"]["name"] for folder in folders]
    return brought_by(Requirement(one) for one in [*names, *" ".join(besides).split()])


@pytest.mark.parametrize("example", [*SAYS, *CHATS])
def test_what_an_example_imports_is_installed_by_the_command_of_the_readme(example):
    installed = installed_for(example)
    for module in imported_modules(EXAMPLES / f"{example}.py"):
        top = module.partition(".")[0]
        if top not in sys.stdlib_module_names:
            owners = {OWN[module]} if module in OWN else OWNERS.get(top, set())
            assert owners & installed, f"{module} of {sorted(owners)} is not installed"


def test_one_line_of_the_readme_brings_what_some_examples_use_besides():
    (line,) = re.findall(r"`python -m pip install (langchain [\w -]+)`", README)
    brought = brought_by(map(Requirement, line.split()))
    alone = installed_for("quickstart")
    more = [name for name in [*SAYS, *CHATS] if installed_for(name) > alone]
    assert len(more) == 3  # as the README says
    for name in more:
        assert installed_for(name) <= alone | brought


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


ELSEWHERE = """
import importlib.abc, socket, sys
def no(*a): raise OSError("an example went to the network")
socket.socket.connect = no
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"the README does not install {name}", name=name)
sys.meta_path.insert(0, Absent())
"""


@pytest.mark.parametrize(
    "name",
    [
        name if name == "quickstart" else pytest.param(name, marks=pytest.mark.slow)
        for name in [*SAYS, *CHATS]
    ],
)
def test_the_example_runs_offline_with_what_the_readme_installs(name, tmp_path):
    """Whatever else happens to be installed here is hidden from it."""
    modules, wanted = SAYS.get(name, ((), ["Jonas Lund"]))
    for module in modules:
        pytest.importorskip(module)
    installed = installed_for(name)
    absent = {module for module, owners in OWNERS.items() if not owners & installed}
    (tmp_path / "sitecustomize.py").write_text(f"ABSENT = {absent!r}\n{ELSEWHERE}")
    keep = {
        key: value for key, value in os.environ.items() if "KEY" not in key and "TOKEN" not in key
    }
    paths = os.pathsep.join([str(tmp_path), *filter(None, [keep.get("PYTHONPATH")])])
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *(ASKED if name in CHATS else [])]
    done = subprocess.run(
        command,
        cwd=ROOT,
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
