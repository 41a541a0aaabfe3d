"""One distribution, two namespaces that it shares with others."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import llama_index.postprocessor.clew
import llama_index.retrievers.clew

import clew

ROOT = Path(__file__).parents[1]


def test_the_shared_namespaces_have_no_init_file():
    """One stray file there and no other distribution's `llama_index.…` can be imported."""
    inits = sorted(
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "llama_index").rglob("__init__.py")
    )
    assert inits == ["llama_index/postprocessor/clew", "llama_index/retrievers/clew"]
    typed = sorted(
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "llama_index").rglob("py.typed")
    )
    assert typed == inits


def test_the_hub_finds_every_class_where_the_project_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    public = {*llama_index.retrievers.clew.__all__, *llama_index.postprocessor.clew.__all__}
    assert set(project["tool"]["llamahub"]["class_authors"]) == public
    assert project["tool"]["llamahub"]["import_path"] == llama_index.retrievers.clew.__name__


def test_only_public_names_of_clew_are_used():
    used = {
        name
        for path in (ROOT / "llama_index").rglob("*.py")
        for name in re.findall(
            r"\bclew\.(\w+)", re.sub(r"llama_index\.\w+\.clew[\w.]*", "", path.read_text("utf-8"))
        )
    }
    assert used
    assert used <= set(clew.__all__)


def test_the_readme_fits_on_a_screen():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 60
