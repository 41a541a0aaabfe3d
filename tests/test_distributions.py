"""The distributions agree: versions, pins, what an index of packages shows, and who owns which file."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import clew
from tests.distributions import FOLDERS, ROOT, modules, project, public_names, requirements

ADAPTERS = [name for name in FOLDERS if name != "clew"]
ADDRESS = "https://host.example/owner/clew"
OF_LLAMAINDEX = [name for name in FOLDERS if name.startswith("llama-index-")]


def test_all_versions_are_one():
    versions = {name: project(folder)["project"]["version"] for name, folder in FOLDERS.items()}
    assert versions == dict.fromkeys(FOLDERS, clew.__version__)
    for folder in FOLDERS.values():
        for file in modules(folder).values():
            said = re.findall(r'^__version__ = "(.*)"', file.read_text("utf-8"), re.MULTILINE)
            assert said in ([], [clew.__version__]), file


def test_an_adapter_wants_this_minor_version_of_clew_and_another_adapter_in_this_very_version():
    major, minor = Version(clew.__version__).release[:2]
    of_clew = SpecifierSet(f">={major}.{minor},<{major}.{minor + 1}")
    for name in ADAPTERS:
        wanted = {one.name: one.specifier for one in requirements(FOLDERS[name])}
        assert wanted["clew"] == of_clew
        for other in wanted.keys() & set(ADAPTERS):
            assert wanted[other] == SpecifierSet(f"=={clew.__version__}")


def test_both_packages_for_llamaindex_want_the_same_of_it():
    wanted = {
        (one.name, one.specifier)
        for name in OF_LLAMAINDEX
        for one in requirements(FOLDERS[name])
        if one.name == "llama-index-core"
    }
    assert len(wanted) == 1


@pytest.mark.parametrize("name", FOLDERS)
def test_an_index_of_packages_is_told_the_same_of_each(name):
    folder = FOLDERS[name]
    said, of_clew = project(folder)["project"], project(ROOT)["project"]
    for same in ("authors", "license", "license-files", "requires-python"):
        assert said[same] == of_clew[same]
    assert set(said["classifiers"]) <= set(of_clew["classifiers"])
    assert said["keywords"]
    assert len(said["description"]) < 140
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.fixture
def checkout(tmp_path):
    """What a release writes addresses into."""
    for folder in FOLDERS.values():
        for name in ("pyproject.toml", "README.md"):
            file = tmp_path / folder.relative_to(ROOT) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / name, file)
    return tmp_path


def write_addresses(checkout, *words):
    command = [sys.executable, ROOT / ".ci" / "urls", *words]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_release_says_in_each_where_the_project_is(checkout):
    assert write_addresses(checkout, "git@host:owner/clew").returncode == 2
    assert write_addresses(checkout, f"{ADDRESS}/").returncode == 0
    for folder in FOLDERS.values():
        file = checkout / folder.relative_to(ROOT) / "pyproject.toml"
        written = tomllib.loads(file.read_text("utf-8"))
        assert written["project"].pop("urls") == {
            "Homepage": ADDRESS,
            "Source": ADDRESS,
            "Changelog": f"{ADDRESS}/blob/HEAD/CHANGELOG.md",
            "Issues": f"{ADDRESS}/issues",
        }
        assert written == project(folder)
    again = write_addresses(checkout, ADDRESS)
    assert (again.returncode, "has addresses already" in again.stderr) == (1, True)
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    addressed, built = (release.index(step) for step in ("python .ci/urls", "python -m build"))
    assert addressed < built


INSTALLED = re.compile(r"pip install ([^`&#\n]*[^`&#\n ])")


@pytest.mark.parametrize("name", FOLDERS)
def test_commands_of_a_readme_are_true_in_a_checkout_and_on_the_page_of_an_index(name, checkout):
    """Here folders are installed, there names, or the repository is cloned first; links lead to it."""
    folder = FOLDERS[name]
    here = (folder / "README.md").read_text("utf-8")
    assert write_addresses(checkout, ADDRESS).returncode == 0
    there = (checkout / folder.relative_to(ROOT) / "README.md").read_text("utf-8")
    commands = [list(map(shlex.split, INSTALLED.findall(text))) for text in (here, there)]
    assert len(commands[0]) == len(commands[1]) > 0
    for in_checkout, by_name in zip(*commands, strict=True):
        brought = []
        for word in (one for one in in_checkout if one not in ("-q", "-e")):
            path, _, extras = word.partition("[")
            if path == "." or "/" in path:
                own = project((ROOT / path).resolve())["project"]
                wanted = set(filter(None, extras.rstrip("]").split(",")))
                assert wanted <= own.get("optional-dependencies", {}).keys()
                brought.append(own["name"] + word.removeprefix(path))
            else:
                brought.append(word)
        assert by_name == (in_checkout if "-e" in in_checkout else brought)
    needs_files = re.compile(r"^(.*)python -m pip install .*(?: -e | examples/).*", re.MULTILINE)
    assert set(needs_files.findall(here)) <= {""}
    assert set(needs_files.findall(there)) <= {f"git clone {ADDRESS} clew && cd clew && "}
    code = [re.findall(r"```python\n.*?```", text, re.DOTALL) for text in (here, there)]
    assert code[0] == code[1]
    links = [re.findall(r"\]\(([^)]*)\)", re.sub("```.*?```", "", text, flags=re.DOTALL)) for text in (here, there)]  # fmt: skip
    for relative, absolute in zip(*links, strict=True):
        if "://" in relative:
            assert absolute == relative
        else:
            assert (folder / relative).exists()
            place = absolute.removeprefix(f"{ADDRESS}/blob/HEAD/")
            assert (ROOT / place).resolve() == (folder / relative).resolve()
    own = there.partition("```python")[0]
    assert re.search(rf"pip install (?:.* )?{name}(?: |\n)", own)


@pytest.mark.parametrize("name", OF_LLAMAINDEX)
def test_the_hub_finds_every_class_where_the_project_says(name):
    folder = FOLDERS[name]
    hub = project(folder)["tool"]["llamahub"]
    assert hub["import_path"] == name.removesuffix("-clew").replace("-index-", "_index.") + ".clew"
    package = modules(folder)[hub["import_path"]]
    assert package.name == "__init__.py"
    assert set(hub["class_authors"]) == public_names(package)
    assert len((folder / "README.md").read_text("utf-8").splitlines()) <= 60


@pytest.mark.parametrize("name", OF_LLAMAINDEX)
def test_the_shared_namespaces_have_no_init_file(name):
    """One stray file there and no other distribution's `llama_index.…` can be imported."""
    folder = FOLDERS[name]
    leaf = folder.joinpath(*project(folder)["tool"]["llamahub"]["import_path"].split("."))
    for file in ("__init__.py", "py.typed"):
        assert [one.parent for one in folder.glob(f"llama_index/**/{file}")] == [leaf]


def test_no_module_belongs_to_two_distributions():
    owned = [module for folder in FOLDERS.values() for module in modules(folder)]
    assert len(owned) == len(set(owned)) > 100


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_uses_public_names_of_clew_alone(name):
    used = {
        found
        for file in modules(FOLDERS[name]).values()
        for found in re.findall(
            r"(?<![.\w])clew\.(\w+)",
            re.sub(r"^\s*(from|import) .*", "", file.read_text("utf-8"), flags=re.MULTILINE),
        )
    }
    assert used
    assert used <= set(clew.__all__)


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
def test_a_command_that_installs_the_adapters_installs_every_one(file):
    lines = (ROOT / file).read_text("utf-8").splitlines()
    commands = [line for line in lines if "pip install" in line and "integrations/" in line]
    assert commands
    for command in commands:
        assert set(re.findall(r"integrations/([\w-]+)", command)) == set(ADAPTERS)
