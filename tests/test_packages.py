"""The distributions as an index of packages would hold them: built, looked at, installed by name, and asked."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import threading
import venv
import zipfile
from email import message_from_bytes
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.distributions import FOLDERS, ROOT, requirements

pytestmark = pytest.mark.slow
ADAPTERS = [name for name in FOLDERS if name != "clew"]
OWN = ("clew", *(name.replace("-", "_") for name in ADAPTERS))
ASK = """
import clew, langchain_clew, llama_index.postprocessor.clew, llama_index.retrievers.clew
from langchain_clew import ClewCompressor, ClewRetriever
from langchain_core.documents import Document
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import ChunkNode
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever as ClewIndexRetriever

question, texts = "Who paints boats?", ["Anna paints boats.", "Ben sleeps."]
documents, nodes = [Document(one) for one in texts], [TextNode(text=one) for one in texts]
store = SimplePropertyGraphStore()
store.upsert_nodes([ChunkNode(text=one) for one in texts])
scored = [NodeWithScore(node=one, score=0.5) for one in nodes]
said = [
    clew.Index.from_documents(texts).ask(question).text,
    ClewRetriever.from_documents(documents).invoke(question)[0].page_content,
    ClewCompressor().compress_documents(documents, question)[0].page_content,
    ClewIndexRetriever.from_nodes(nodes).retrieve(question)[0].text,
    ClewPGRetriever(store).retrieve(question)[0].text,
    ClewPostprocessor().postprocess_nodes(scored, query_str=question)[0].text,
]
assert all("Anna paints boats." in one for one in said), said
for module in (clew, langchain_clew, llama_index.postprocessor.clew, llama_index.retrievers.clew):
    print(module.__file__)
"""


def run(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A folder for each distribution, with its source archive and the wheel that is made of that."""
    found = tmp_path_factory.mktemp("index")
    hatchling = (sys.executable, "-m", "hatchling", "build")
    for name, folder in FOLDERS.items():
        run(*hatchling, "-t", "sdist", "-d", str(found / name), cwd=folder)
        unpacked = tmp_path_factory.mktemp("unpacked")
        with tarfile.open(next((found / name).glob("*.tar.gz"))) as archive:
            archive.extractall(unpacked, filter="data")
        run(*hatchling, "-t", "wheel", "-d", str(found / name), cwd=next(unpacked.iterdir()))
    return found


@pytest.fixture(scope="module")
def index_url(index):
    """The folder as a simple index, on this machine alone."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(index))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """What is installed here and is not ours: links to it."""
    found = tmp_path_factory.mktemp("libraries")
    for folder in (path for path in sys.path if path.endswith("site-packages")):
        for path in Path(folder).iterdir():
            name = path.name.partition("-")[0]
            left_out = name in OWN or path.suffix == ".pth" or path.name == "__pycache__"
            if not left_out and not (found / path.name).exists():
                (found / path.name).symlink_to(path)
    return found


def test_a_wheel_says_what_an_index_wants_to_know_and_has_its_licence(index):
    owned = {}
    for name in FOLDERS:
        (path,) = (index / name).glob("*.whl")
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            (about,) = [each for each in names if each.endswith(".dist-info/METADATA")]
            said = message_from_bytes(wheel.read(about))
        assert any(each.endswith("licenses/LICENSE") for each in names)
        assert any(each.endswith("py.typed") for each in names)
        owned |= {each: [*owned.get(each, []), name] for each in names}
        assert said["Name"] == name
        assert said["License-Expression"] == "Apache-2.0"
        assert said["Author"] or said["Author-email"]
        assert said["Description-Content-Type"] == "text/markdown"
        assert len(said.get_payload()) > 1000  # what an index shows
        needs = {Requirement(one) for one in said.get_all("Requires-Dist")}
        assert set(requirements(FOLDERS[name])) <= needs
    assert not {file: owners for file, owners in owned.items() if len(owners) > 1}
    ours = {"clew", "langchain_clew", "llama_index"}
    assert {file.split("/")[0] for file in owned if ".dist-info/" not in file} == ours


def test_what_a_release_builds_says_where_the_project_is_found(index, tmp_path):
    """It writes the addresses first, here into what a source archive holds."""
    address, built = "https://host.example/owner/clew", tmp_path / "built"
    for name in FOLDERS:
        with tarfile.open(next((index / name).glob("*.tar.gz"))) as archive:
            archive.extractall(tmp_path / name, filter="data")
        (folder,) = (tmp_path / name).iterdir()
        (folder / "PKG-INFO").unlink()  # a checkout has none
        run(sys.executable, str(ROOT / ".ci" / "urls"), address, cwd=folder)
        run(sys.executable, "-m", "hatchling", "build", "-d", str(built / name), cwd=folder)
        with tarfile.open(next((built / name).glob("*.tar.gz"))) as archive:
            packed = archive.extractfile(f"{folder.name}/PKG-INFO").read()
        with zipfile.ZipFile(next((built / name).glob("*.whl"))) as wheel:
            (about,) = [one for one in wheel.namelist() if one.endswith(".dist-info/METADATA")]
            installed = wheel.read(about)
        for metadata in map(message_from_bytes, (packed, installed)):
            assert set(metadata.get_all("Project-URL")) == {
                f"Homepage, {address}",
                f"Source, {address}",
                f"Changelog, {address}/blob/HEAD/CHANGELOG.md",
                f"Issues, {address}/issues",
            }
            assert "pip install clew" in metadata.get_payload()
            assert "pip install ." not in metadata.get_payload()


def test_a_source_archive_has_what_it_is_built_and_tested_with_and_no_other_distribution(index):
    for name in FOLDERS:
        (path,) = (index / name).glob("*.tar.gz")
        with tarfile.open(path) as packed:
            files = {Path(*Path(one).parts[1:]).as_posix() for one in packed.getnames()}
        assert {"LICENSE", "README.md", "pyproject.toml", "tests/conftest.py"} <= files
        assert not any(file.startswith("integrations/") for file in files)
        assert [file for file in files if file.endswith("pyproject.toml")] == ["pyproject.toml"]


def test_an_index_of_packages_would_take_and_show_every_file(index):
    pytest.importorskip("twine")
    files = sorted(str(path) for path in index.glob("*/*"))
    assert len(files) == 2 * len(FOLDERS)
    said = run(sys.executable, "-m", "twine", "check", "--strict", *files)
    assert said.count("PASSED") == len(files)


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_each_is_installed_by_name_with_what_it_needs_and_answers(
    kind, index_url, libraries, tmp_path
):
    """The installer finds ours in the index by their names and versions, and all else is here already."""
    venv.create(tmp_path / "env", with_pip=False)
    python = str(tmp_path / "env" / "bin" / "python")
    (site,) = (tmp_path / "env").glob("lib/*/site-packages")
    (site / "libraries.pth").write_text(f"{libraries}\n")
    clean = {
        key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "PYTHON"))
    }
    install = (sys.executable, "-m", "pip", "--isolated", "--python", python, "install")
    how = ("--no-cache-dir", "--no-build-isolation", "--index-url", index_url)
    only = ("--only-binary" if kind == "wheel" else "--no-binary", ",".join(FOLDERS))
    # Their needs bring the others.
    run(*install, *how, *only, "langchain-clew", "llama-index-postprocessor-clew", env=clean)
    installed = {
        canonicalize_name(path.name.partition("-")[0]) for path in site.glob("*.dist-info")
    }
    assert installed == set(FOLDERS)
    alone = {"PATH": os.defpath, "HOME": str(tmp_path), "CLEW_CACHE": str(tmp_path / "cache")}
    said = run(python, "-c", ASK, cwd=tmp_path, env=alone).split()
    assert len(said) == len(FOLDERS)
    assert all(file.startswith(str(site)) for file in said)
    command = str(tmp_path / "env" / "bin" / "clew")
    assert "hipporag" in run(command, "recipes", cwd=tmp_path, env=alone)
