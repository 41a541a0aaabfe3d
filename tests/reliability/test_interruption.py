"""Ctrl-C at any moment: the command ends with 130 and one line, and an index in memory stays usable."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from clew import Document, Index
from clew.interruption import is_command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")

NAMES = ["Anna", "Ben", "Cleo", "Dora", "Emil"]
DOCUMENTS = [
    Document(f"d{i}", f"{NAMES[i % 5]} met {NAMES[i * 2 % 5]} in hall {i % 7}.") for i in range(40)
]
RECIPES = ("hipporag", "agrag", "kurisu", "bm25", "mmr")


@pytest.fixture(autouse=True)
def interrupts_arrive():
    """A shell lets what it runs in the background ignore interrupts, and its children with it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(arguments, after, environment):
    """Send SIGINT to the command after so many seconds; return its exit code, its output and how long it took to end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "clew", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    time.sleep(after)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors, time.monotonic() - sent


@pytest.fixture
def folder(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for document in DOCUMENTS:
        (notes / f"{document.id}.md").write_text(document.text, encoding="utf-8")
    return notes


def check_end(code, errors):
    """A command that was not done yet ended with 130 and a last line of its own."""
    assert "Traceback" not in errors
    assert "ignored" not in errors
    if code == -signal.SIGINT:  # before Python had a handler of its own
        assert not errors
    elif code:  # else it was done before
        assert code == 130
        assert errors.splitlines()[-1].startswith("clew: interrupted")


def test_the_command_ends_at_once(folder, tmp_path):
    code, errors, _ = interrupted(["warm"], 0.5, {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert code == 130
    check_end(code, errors)


@pytest.mark.slow
def test_the_command_ends_at_any_moment_and_a_saved_index_is_whole(folder, tmp_path):
    saved = tmp_path / "saved.clew"
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "CLEW_CACHE": str(tmp_path / "cache")}
    commands = [
        ["index", folder, "-o", saved],
        ["ask", folder, "Whom did Anna meet?", "--recipe", "budgeted"],
        ["warm", "agrag"],
    ]
    moments = random.Random(0)
    worst, ends = 0.0, 0
    for i in range(15):
        code, errors, seconds = interrupted(commands[i % 3], moments.uniform(1, 9), environment)
        check_end(code, errors)
        ends, worst = ends + (code == 130), max(worst, seconds)
        if saved.exists():
            checked = subprocess.run(
                [sys.executable, "-m", "clew", "check", str(saved)],
                capture_output=True,
                check=False,
            )
            assert checked.returncode == 0, checked
    assert ends > 4
    sys.stderr.write(f"{ends} of 15 were interrupted; the slowest ended after {worst:.2f} s\n")


def test_other_programs_keep_their_own_interrupts():
    assert is_command(["python", "-m", "clew", "ask"])
    assert is_command(["python", "/usr/bin/clew", "ask"])
    for other in (["python"], ["python", "-m", "clewless"], ["python", "serve.py", "-m", "clew"]):
        assert not is_command(other)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.fixture
def dropped_interrupts(monkeypatch):
    """What a signal raises while Python calls back for garbage or a dead reference is dropped there, as it must be."""
    report = sys.unraisablehook

    def hook(unraisable):
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            report(unraisable)

    monkeypatch.setattr(sys, "unraisablehook", hook)


@pytest.mark.usefixtures("dropped_interrupts")
@pytest.mark.parametrize("interrupts", [12, pytest.param(300, marks=pytest.mark.slow)])
def test_an_index_is_usable_after_interrupts_at_any_moment(embed, interrupts):
    facts = {f"d{i}": [(NAMES[i % 5], "met", NAMES[i * 2 % 5])] for i in range(0, 40, 2)}

    def build():
        return Index.from_documents(DOCUMENTS, embedder=embed, facts=facts)

    def ask_all(index):
        return [index.ask("Whom did Anna meet?", recipe=recipe).text for recipe in RECIPES]

    def ask_elsewhere(index):
        """In another thread, which a lock that is still held would not let in."""
        answers = []
        other = threading.Thread(target=lambda: answers.append(ask_all(index)), daemon=True)
        other.start()
        other.join(60)
        return answers

    def interrupt(*_):
        raise KeyboardInterrupt

    expected, moments = ask_all(build()), random.Random(0)
    for _ in range(4):  # by then there is machine code
        index, seconds = build(), []
        for _ in range(2):  # the first time stages are bound
            begin = time.monotonic()
            assert ask_all(index) == expected
            seconds.append(time.monotonic() - begin)
    before = signal.signal(signal.SIGALRM, interrupt)
    hits = 0
    try:
        for i in range(interrupts):
            if i % 4 == 0:
                index = build()
            try:
                signal.setitimer(signal.ITIMER_REAL, moments.uniform(0, seconds[i % 4 > 0]) + 1e-5)
                ask_all(index)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hits += 1
            assert ask_elsewhere(index) == [expected]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hits
