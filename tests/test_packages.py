"""The three distributions, as an index of packages would hold them: built, installed by name, and used."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "clew": ROOT,
    "langchain-clew": ROOT / "integrations" / "langchain-clew",
    "llama-index-retrievers-clew": ROOT / "integrations" / "llama-index-retrievers-clew",
}
USE = """
import clew, langchain_clew
from llama_index.postprocessor.clew import ClewPostprocessor
from llama_index.retrievers.clew import ClewPGRetriever, ClewRetriever
assert clew.narrow("Who paints?", ["Anna paints.", "Ben sleeps."]).ids
"""


def run(*command, **how):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for path in FOLDERS.values():
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(path))
    return folder


@pytest.mark.slow
def test_a_wheel_says_what_an_index_wants_to_know_and_has_its_licence(wheels):
    found = {}
    for path in wheels.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
            (about,) = [name for name in names if name.endswith(".dist-info/METADATA")]
            said = message_from_bytes(wheel.read(about))
            found[said["Name"]] = said
            assert any(name.endswith("licenses/LICENSE") for name in names)
            assert any(name.endswith("py.typed") for name in names)
            assert not any(name.startswith(("tests/", "examples/")) for name in names)
    assert set(found) == set(FOLDERS)
    for name, said in found.items():
        assert said["License-Expression"] == "Apache-2.0"
        assert said["Author"] or said["Author-email"]
        assert said["Description-Content-Type"] == "text/markdown"
        assert len(said.get_payload()) > 1000  # what an index shows
        needs = [need for need in said.get_all("Requires-Dist") if need.startswith("clew")]
        assert name == "clew" or needs == ["clew<0.2,>=0.1"]


@pytest.mark.slow
def test_the_distributions_are_installed_by_name_and_are_used_together(wheels, tmp_path):
    """What they need besides is here already; an index of packages would bring it."""
    venv.create(tmp_path / "env", with_pip=True, system_site_packages=False)
    python = str(tmp_path / "env" / "bin" / "python")
    own = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--find-links", str(wheels))
    run(python, *own, "llama-index-retrievers-clew", "langchain-clew", "clew")
    here = [path for path in sys.path if path.endswith("site-packages")]
    program = f"import sys; sys.path += {here!r}\n{USE}\nprint(clew.__file__)"
    said = run(python, "-c", program, cwd=tmp_path, env={"PATH": "", "HOME": str(tmp_path)})
    assert said.strip().startswith(str(tmp_path / "env"))


@pytest.mark.slow
def test_a_source_archive_of_an_adapter_has_what_it_is_built_and_tested_with(tmp_path):
    pytest.importorskip("hatchling")
    for name in ("langchain-clew", "llama-index-retrievers-clew"):
        command = (sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path))
        run(*command, cwd=FOLDERS[name])
        (archive,) = tmp_path.glob(f"{name.replace('-', '_')}-*.tar.gz")
        with tarfile.open(archive) as packed:
            files = {Path(*Path(one).parts[1:]).as_posix() for one in packed.getnames()}
        assert {"LICENSE", "README.md", "pyproject.toml"} <= files
        assert any(file.startswith("tests/") for file in files)
