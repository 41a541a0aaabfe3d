"""The workflows build, publish and test the distributions of this repository, all of them and no other."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from packaging.utils import canonicalize_name

from tests.distributions import FOLDERS, ROOT, project, requirements

yaml = pytest.importorskip("yaml")
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
RELEASE = yaml.safe_load(WORKFLOWS["release"].read_text("utf-8"))["jobs"]
TESTS = yaml.safe_load(WORKFLOWS["tests"].read_text("utf-8"))["jobs"]
PUBLISHES = {name: job for name, job in RELEASE.items() if "id-token" in job.get("permissions", {})}


def commands(job, starts):
    """The commands of a job that start so, each as a list of words."""
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
    return [shlex.split(line) for line in lines if line.startswith(starts)]


def published_by(job):
    """The distributions that a job publishes: one, or one for each of its runs."""
    (folder,) = [step["with"]["packages-dir"] for step in job["steps"] if "pypi" in step["uses"]]
    each = job.get("strategy", {}).get("matrix", {}).get("distribution", [""])
    return [folder.replace("${{ matrix.distribution }}", one) for one in each]


def before(name):
    """The jobs that are done before one."""
    needs = RELEASE[name].get("needs")
    return [] if needs is None else [needs, *before(needs)]


def test_every_distribution_is_built():
    built = {words[-2]: words[-1] for words in commands(RELEASE["build"], "python -m build")}
    folders = {f"dist/{name}": folder for name, folder in FOLDERS.items()}
    assert {out: (ROOT / folder).resolve() for out, folder in built.items()} == folders
    assert commands(RELEASE["build"], "python -m twine check --strict")


def test_every_distribution_is_published_once_and_after_what_it_needs():
    job_of = {folder: name for name, job in PUBLISHES.items() for folder in published_by(job)}
    assert set(job_of) == {f"dist/{name}/" for name in FOLDERS}
    assert sum(len(published_by(job)) for job in PUBLISHES.values()) == len(FOLDERS)
    for name, folder in FOLDERS.items():
        done = before(job_of[f"dist/{name}/"])
        assert done[-2:] == ["build", "tests"]
        for need in {canonicalize_name(one.name) for one in requirements(folder)} & set(FOLDERS):
            assert job_of[f"dist/{need}/"] in done


def test_nothing_is_published_but_by_the_trust_in_the_workflow():
    for file in WORKFLOWS.values():
        text = file.read_text("utf-8")
        assert "secrets." not in text
        assert "password" not in re.sub(r"#.*", "", text)
        assert yaml.safe_load(text)["permissions"] == {}
        for used in re.findall(r"uses: (\S+)", text):  # a tag may be moved, a commit may not
            assert used.startswith("./") or re.search(r"@[0-9a-f]{40}$", used), used
    for job in PUBLISHES.values():
        assert job["environment"] == "pypi"
        assert job["permissions"] == {"id-token": "write"}
        assert not any("run" in step for step in job["steps"])


def test_every_version_of_python_that_is_named_is_tested_with_every_adapter():
    named = {
        one.rpartition(" ")[2]
        for one in project(ROOT)["project"]["classifiers"]
        if re.search(r"Python :: 3\.\d+$", one)
    }
    assert set(TESTS["newest"]["strategy"]["matrix"]["python"]) == named
    assert project(ROOT)["project"]["requires-python"] == f">={min(named)}"
    adapters = {folder.relative_to(ROOT).as_posix() for folder in FOLDERS.values()} - {"."}
    for job in ("newest", "packages", "stores"):
        (words,) = commands(TESTS[job], "python -m pip install")
        assert {word for word in words if word.startswith("integrations/")} == adapters
    (words,) = commands(TESTS["oldest"], ".ci/oldest")
    assert words[:3] == [".ci/oldest", "integrations", "tests"]


def test_stores_are_tested_where_nothing_is_skipped_for_want_of_a_package(tmp_path):
    (words,) = commands(TESTS["stores"], "python -m pip install")
    assert ".[test,stores,exact]" in words
    assert commands(TESTS["stores"], ".ci/stores") == [[".ci/stores"]]
    runs = re.findall(
        r"^python -m pytest (.*)", (ROOT / ".ci/stores").read_text("utf-8"), re.MULTILINE
    )
    assert len(runs) == 2
    assert all("-p tests.nothing_skipped " in run for run in runs)
    files = {
        "test_module": "import pytest\npytest.importorskip('no_such')\ndef test(): pass",
        "test_one": "import pytest\ndef test(): pytest.importorskip('no_such')",
        "test_marked": "import pytest\n@pytest.mark.skipif(True, reason='no such')\ndef test(): pass",
        "test_awaited": "import pytest\n@pytest.mark.xfail\ndef test(): assert False",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    how = ("-c", os.devnull, "--disable-plugin-autoload", "--continue-on-collection-errors", "-q")
    run = [sys.executable, "-m", "pytest", *how, "-p", "tests.nothing_skipped", tmp_path]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 xfailed, 2 errors" in done.stdout


def test_every_reader_is_fuzzed_for_an_hour_each_week():
    text = WORKFLOWS["fuzz"].read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    (words,) = commands(jobs["fuzz"], "python -m tests.reliability.fuzz")
    run = next(
        step for step in jobs["fuzz"]["steps"] if "tests.reliability.fuzz" in step.get("run", "")
    )
    values = {f"${name}": value for name, value in run["env"].items()}
    minutes = values[words[words.index("--minutes") + 1]]
    assert re.search(r"\|\| '(\d+)'", minutes)[1] == "60"
    assert jobs["fuzz"]["timeout-minutes"] > 60
    assert "schedule:" in text
    assert (
        jobs["fuzz"]["strategy"]["matrix"]["target"]
        == "${{ fromJSON(needs.targets.outputs.names) }}"
    )
    listing = next(step for step in jobs["targets"]["steps"] if step.get("id") == "list")["run"]
    assert "python -m tests.reliability.fuzz |" in listing
