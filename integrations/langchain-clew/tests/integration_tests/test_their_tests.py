"""LangChain's own tests of what uses a retriever, run with clew in its place; they are in no wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import pytest

NO_PYTEST_MOCK = """
import sys, types
sys.modules.setdefault("pytest_mock", types.SimpleNamespace(MockerFixture=object))
"""
"""They take a type from it; the one fixture that they use is in `destinations.py`."""

OURS = Path(__file__).parent / "their_tests"
OF_A_STORE = {  # they put a mock in the place of a store's method that no destination is asked for
    f"{a}{name}"
    for a in ("", "a")
    for name in (
        "index_delete_full_recovery_after_deletion_failure",
        "indexing_custom_batch_size",
        "index_with_upsert_kwargs",
    )
}
FACTS_ALONE = {  # an index of clew's takes `facts=` with documents, and says so of anything else
    f"{a}index_with_upsert_kwargs_for_document_indexer[index]" for a in ("", "a")
}


def unpacked(project: str, folder: Path) -> Path:
    """Fetch the source of the version that is installed, with its tests."""
    wanted = f"{project}=={version(project)}"
    # Of it alone the source: what builds it would else be built, too, which takes a minute.
    options = ["--no-deps", "--no-binary", project, "--dest", str(folder), "--quiet"]
    command = [sys.executable, "-m", "pip", "download", *options, wanted]
    fetched = subprocess.run(command, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"{wanted} could not be fetched: {fetched.stderr.strip()[-300:]}")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return next(path.parent for path in folder.glob("*/tests"))


def outcomes(project: str, module: str, folder: Path) -> dict[str, str]:
    """Run a module of ours beside their tests; return how each test ended, by its name."""
    root = unpacked(project, folder)
    run = folder / "run"
    run.mkdir()
    shutil.copy(OURS / module, run / f"test_{module}")
    (run / "conftest.py").write_text(NO_PYTEST_MOCK, encoding="utf-8")
    (run / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n", encoding="utf-8")
    paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-W", "ignore", "--junitxml", "report.xml"]
    done = subprocess.run(
        command,
        cwd=run,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    cases = ElementTree.parse(run / "report.xml").iter("testcase")
    return {case.get("name", ""): case[0].tag if len(case) else "passed" for case in cases}


@pytest.mark.slow
def test_the_indexing_api_keeps_a_retriever_as_it_keeps_a_store(tmp_path):
    ended = outcomes("langchain-core", "destinations.py", tmp_path)
    wrong = {name.removeprefix("test_") for name, how in ended.items() if how != "passed"}
    assert {name for name in wrong if name.partition("[")[0] not in OF_A_STORE} == FACTS_ALONE
    assert Counter(ended.values())["passed"] >= 70


@pytest.mark.slow
def test_chains_and_ensembles_read_what_clew_narrows_as_they_read_a_retriever(tmp_path):
    ended = outcomes("langchain-classic", "chains.py", tmp_path)
    assert set(ended.values()) == {"passed"}
    assert len(ended) >= 7
