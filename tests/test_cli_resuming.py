"""What a run that was ended has read is kept: the next one reads the other files, and makes the same index."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from clew import Index, cli, user_cache

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")

QUESTION = "When do ferries sail?"
FILES = {
    "a.md": "---\ntitle: Ferries\ntags: [sea, quay]\n---\n# Ferries\n\nFerries [sail](b.md) at nine.\n",
    "b.html": "<html><title>Quay</title><h1 id='q'>Quay</h1><p>The quay is long.<p>It is old.</html>",
    "c.jsonl": '{"text": "Boats wait here.", "price": 2.5}\n{"text": "Nets dry there.", "price": 3}\n',
    "d.py": '"""Tides."""\nimport os\n\n\ndef ebb(level):\n    """Lower it."""\n    return flow(level)\n'
    "\n\ndef flow(level):\n    return os.fspath(level)\n",
    "e.bin": "\0\1\2",
    "f.txt": "\ud800 The moon pulls the sea." * 90,
    "g.md": "# Moon\n\n" + "The moon is far. It is dark there. " * 60,
    "h.md": "# Sun\n\nThe sun is further.\n",
    "i.py": "from d import ebb\n\n\nclass Tide:\n    def turn(self):\n        return ebb(self)\n",
}
SCRIPT = """
import os, signal, sys, time
from clew.cli import main, resuming
from clew.read import known_files
from clew.read.formats.source_file import SourceFile
known_files.SAFE_NANOSECONDS = -(10**12)  # of these young files
load, text, add = known_files.read_file, SourceFile.text, resuming.KeptReading.add
wait, interval, most = os.environ.get("WAIT"), os.environ.get("INTERVAL"), os.environ.get("MOST")
if interval:
    resuming.INTERVAL, resuming.MAX_SHARE = float(interval), float("inf")
def read_file(file, cut=None):
    print("read", file.id, file=sys.stderr, flush=True)
    if file.id == wait:
        print("waiting", flush=True)
        [time.sleep(0.1) for _ in range(6000)]  # a signal may come just before a sleep
    return load(file, cut)
n_added = [0]
def added(kept, files):
    add(kept, files)
    n_added[0] += len(files)
    if most and n_added[0] > int(most):
        os.kill(os.getpid(), signal.SIGINT)
known_files.read_file, resuming.KeptReading.add = read_file, added
sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_CACHE", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in FILES.items():
        (docs / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    (tmp_path / "clew").write_text(SCRIPT)  # goes by the name of the command, as Ctrl-C asks
    return docs


def start(folder, arguments, **environment):
    """Start the command, which Ctrl-C reaches also where a shell lets this process ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, folder.parent / "clew", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def end_at(folder, name, sent, arguments, **environment):
    """End the command by a signal when it comes to a file; return its exit code and last line."""
    process = start(folder, arguments, WAIT=name, **environment)
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(sent)
    errors = process.communicate(timeout=60)[1]
    return process.returncode, errors.splitlines()[-1]


def run(folder, arguments):
    """Run the command to its end; return what it prints, which files it reads, and its remarks."""
    out, errors = start(folder, arguments).communicate(timeout=100)
    lines = errors.splitlines()
    read = [line.split()[1] for line in lines if line.startswith("read ")]
    return out, read, [line for line in lines if not line.startswith("read ")]


def contents(index):
    """The bytes of the arrays of a saved index, by their names."""
    files = Path(index, "data").iterdir()
    return {file.name.split("-")[0]: file.read_bytes() for file in files}


KEPT = "4 files read until now: the same command goes on from there"
ENDS = {
    signal.SIGINT: (130, f"clew: interrupted; {KEPT}"),
    signal.SIGTERM: (-signal.SIGTERM, f"clew: interrupted; {KEPT}"),
}


@pytest.mark.parametrize("sent", ENDS)
def test_the_next_run_reads_the_other_files_and_makes_the_same_index(folder, tmp_path, sent):
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    assert run(folder, ["index", folder, "-o", plain])[1] == list(FILES)
    assert end_at(folder, "e.bin", sent, ["index", folder, "-o", resumed]) == ENDS[sent]
    assert not resumed.exists()
    _, read, remarks = run(folder, ["index", folder, "-o", resumed])
    assert read == list(FILES)[4:]
    assert "clew: 4 files that an interrupted run has read are not read again" in remarks
    assert contents(resumed) == contents(plain)
    assert user_cache.cached_folders() == []


def test_a_second_interruption_adds_to_the_first_and_a_changed_file_is_read_again(folder, tmp_path):
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    command = ["index", folder, "-o", resumed]
    end_at(folder, "d.py", signal.SIGINT, command)
    end_at(folder, "g.md", signal.SIGINT, command)
    (folder / "a.md").write_text("# Ferries\n\nFerries sail at noon.\n")
    (folder / "c.jsonl").unlink()
    _, read, _ = run(folder, command)
    assert read == ["a.md", "g.md", "h.md", "i.py"]
    run(folder, ["index", folder, "-o", plain])
    assert contents(resumed) == contents(plain)
    assert "noon" in Index.load(resumed).ask(QUESTION).text


def test_what_was_written_before_a_kill_counts_and_what_is_torn_is_read_again(folder, tmp_path):
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    command = ["index", folder, "-o", resumed]
    process = start(folder, command, WAIT="f.txt", INTERVAL="0")
    assert process.stdout.readline() == "waiting\n"
    process.kill()
    process.communicate()
    (kept,) = user_cache.cached_folders()
    parts = sorted(kept.path.glob("*.files"))
    assert len(parts) == 5, "one for each file"
    parts[1].write_bytes(parts[1].read_bytes()[:-9])
    parts[2].write_bytes(b"")
    _, read, _ = run(folder, command)
    assert read == ["b.html", "c.jsonl", *list(FILES)[5:]]
    run(folder, ["index", folder, "-o", plain])
    assert contents(resumed) == contents(plain)


def test_other_ways_of_cutting_take_the_texts_alone(folder, tmp_path):
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    end_at(folder, "h.md", signal.SIGINT, ["index", folder, "-o", resumed])
    _, read, _ = run(folder, ["index", folder, "-o", resumed, "--tokens", 30, "--sentences"])
    assert read == ["h.md", "i.py"]
    run(folder, ["index", folder, "-o", plain, "--tokens", 30, "--sentences"])
    assert contents(resumed) == contents(plain)


def test_a_question_on_a_folder_goes_on_and_the_cache_shows_what_is_kept(folder, capsys):
    answer = run(folder, ["ask", folder, QUESTION, "--no-cache"])[0]
    end_at(folder, "h.md", signal.SIGTERM, ["ask", folder, QUESTION, "--no-cache"])
    assert user_cache.cached_folders() == []
    end_at(folder, "h.md", signal.SIGINT, ["ask", folder, QUESTION])
    assert stat.S_IMODE(user_cache.cache_root().stat().st_mode) == 0o700
    assert cli.main(["cache"]) == 0
    assert "files that an interrupted run has read" in capsys.readouterr().out
    out, read, _ = run(folder, ["ask", folder, QUESTION])
    assert (out, read) == (answer, ["h.md", "i.py"])
    (kept,) = user_cache.cached_folders()
    assert not kept.is_interrupted, "the index, for the next question"
    end_at(folder, "b.html", signal.SIGINT, ["ask", folder, QUESTION, "--tokens", 40])
    assert cli.main(["cache", "--clear", str(folder)]) == 0
    assert run(folder, ["ask", folder, QUESTION, "--tokens", 40])[1] == list(FILES)


def test_what_other_processes_have_read_is_kept_too(folder, tmp_path):
    for number in range(30):
        text = f"# Quay {number}\n\n" + f"Ferry {number} sails at {number} o'clock.\n\n" * 3_000
        (folder / f"quay{number:02d}.md").write_text(text)
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    command = ["index", folder, "-o", resumed, "--processes", 2]
    process = start(folder, command, MOST="20")
    process.communicate(timeout=100)
    assert process.returncode == 130
    _, _, remarks = run(folder, command)
    (remark,) = [line for line in remarks if "are not read again" in line]
    assert int(remark.split()[1]) > 20
    run(folder, ["index", folder, "-o", plain])
    assert contents(resumed) == contents(plain)


MODEL = """
import json, sys, time
from pathlib import Path
def answer(prompt):
    text = prompt.split("Text:\\n")[1].strip()
    with Path("asked").open("a") as file:
        print(text, file=file)
    if "Corfu" in text and not Path("free").exists():
        print("waiting", flush=True)
        [time.sleep(0.1) for _ in range(6000)]  # a signal may come just before a sleep
    subject, relation, *_, object = text.strip(".").split()
    return json.dumps({"facts": [[subject, relation, object]]})
"""


def test_no_answer_of_a_language_model_is_paid_for_twice(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODEL)
    docs = tmp_path / "notes"
    docs.mkdir()
    texts = ["Anna married Ben.", "Cleo met Dora.", "Ben inhabits Corfu.", "Emil sold boats."]
    for number, text in enumerate(texts):
        (docs / f"{number}.txt").write_text(text)
    command = ["index", docs, "-o", tmp_path / "made", "--model", "mine:answer", "--workers", "1"]
    process = start(folder, command)
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    (tmp_path / "free").touch()
    _, read, _ = run(folder, command)
    assert read == []
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == [*texts[:3], *texts[2:]], "what was not answered is asked again"
    assert len(Index.load(tmp_path / "made").graph.facts) == len(texts)


LIBRARY = """
import hashlib, sys, time
from pathlib import Path
import numpy as np
class SentenceTransformer:
    def __init__(self, name, **_):
        self.name = name
    def encode(self, texts):
        if "WAIT" in __import__("os").environ and Path("embedded").exists():
            print("waiting", flush=True)
            [time.sleep(0.1) for _ in range(6000)]  # a signal may come just before a sleep
        with Path("embedded").open("a") as file:
            print(*(hashlib.sha256(text.encode()).hexdigest() for text in texts), file=file)
        digests = [hashlib.sha256(text.encode()).digest()[:8] for text in texts]
        return np.array([[1 + byte for byte in own] for own in digests], np.float32)
"""


@pytest.mark.parametrize("is_writable", [True, False])
def test_no_vector_of_a_model_is_made_twice(folder, tmp_path, monkeypatch, is_writable):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sentence_transformers.py").write_text(LIBRARY)
    docs = tmp_path / "notes"
    docs.mkdir()
    for number in range(300):  # a batch has 256
        (docs / f"{number}.txt").write_text(f"Ferry {number} sails to island {number}.")
    plain, resumed = tmp_path / "plain.clew", tmp_path / "resumed.clew"
    command = ["index", docs, "-o", resumed, "--embedder", "mine"]
    process = start(folder, command, WAIT="nothing")
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    (kept,) = user_cache.cached_folders()
    if not is_writable:
        (kept.path / "vectors").write_bytes(b"damaged" * 1_000)
    _, _, remarks = run(folder, command)
    assert any("vectors are not kept" in line for line in remarks) is not is_writable
    embedded = (tmp_path / "embedded").read_text().split()
    assert (len(embedded) == len(set(embedded))) is is_writable
    assert user_cache.cached_folders() == []
    run(folder, ["index", docs, "-o", plain, "--embedder", "mine"])
    assert contents(resumed) == contents(plain)
    assert run(folder, command)[0].endswith("nothing has changed\n")
    assert not kept.path.exists()
