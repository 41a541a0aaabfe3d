"""A server of a saved index answers from what another process saves, and keeps what that has saved."""

from __future__ import annotations

import logging
import threading

import clew
from clew.serve import ServedIndex, ServedOptions
from clew.serve.following import Follower
from tests.serve.serving import built, client_of
from tests.serve.test_command import Serving

QUESTION = "What do owls hunt at night?"
OWL = clew.Document("owl.md", "Owls hunt mice at night.")


def saved(folder):
    built().save(folder)
    return clew.Index.load(folder)


def test_what_another_process_saves_is_answered_from_and_told_once(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="clew")
    index = saved(tmp_path / "saved")
    with client_of(index, saved_to=tmp_path / "saved") as client:
        served = client.service.served
        follower = Follower(served)
        follower.look()
        assert served.index is index
        clew.Index.load(tmp_path / "saved").add([OWL]).save(tmp_path / "saved")
        follower.look()
        follower.look()
        items = client.post("/api/ask", json={"question": QUESTION}).json()["items"]
        assert items[0]["document"] == "owl.md"
        assert len(served.index) == 5
        clew.Index.load(tmp_path / "saved").delete("owl.md").save(tmp_path / "saved")
        follower.look()
        assert "owl.md" not in served.index.document_of
    assert [line.split(": answers come")[1] for line in caplog.messages] == [
        " from its 5 documents now",
        " from its 4 documents now",
    ]


def test_a_question_under_way_keeps_its_generation(tmp_path):
    """A question that has begun is answered by the index that was there then."""
    index, begun, go_on = saved(tmp_path / "saved"), threading.Event(), threading.Event()
    served = ServedIndex(index, ServedOptions(saved_to=tmp_path / "saved"))
    of_index, answers = type(index).ask, []

    def slowly(self, *args, **keywords):
        begun.set()
        assert go_on.wait(30)
        return of_index(self, *args, **keywords)

    object.__setattr__(index, "ask", slowly.__get__(index))
    asking = threading.Thread(target=lambda: answers.append(served.ask(QUESTION)))
    asking.start()
    assert begun.wait(30)
    index.add([OWL]).save(tmp_path / "saved")
    assert served.follow()
    assert "owl.md" in served.index.document_of
    go_on.set()
    asking.join(30)
    assert answers[0].index is index
    assert all(item.document != "owl.md" for item in answers[0].context)


def test_a_change_is_made_to_what_another_process_has_saved(tmp_path):
    """Nobody's change is lost, also where nothing was looked at between both."""
    with client_of(saved(tmp_path / "saved"), saved_to=tmp_path / "saved", writable=True) as client:
        clew.Index.load(tmp_path / "saved").add([OWL]).save(tmp_path / "saved")
        body = {"documents": [{"id": "buoy.md", "text": "The buoy is red."}]}
        change = client.post("/api/documents", json=body).json()
        assert (change["added"], change["documents"]) == (["buoy.md"], 6)
        assert not client.service.served.follow(), "its own save is nothing new"
    assert {"owl.md", "buoy.md"} <= set(clew.Index.load(tmp_path / "saved").document_of)


def test_what_cannot_be_opened_is_told_once_and_the_index_before_goes_on(tmp_path, caplog):
    index = saved(tmp_path / "saved")
    served = ServedIndex(index, ServedOptions(saved_to=tmp_path / "saved"))
    follower = Follower(served)
    index.add([OWL]).save(tmp_path / "saved")
    newest = max((tmp_path / "saved").glob("MANIFEST-*"))
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-9])
    follower.look()
    follower.look()
    [line] = caplog.messages
    assert "cannot be opened" in line
    assert served.index is index
    newest.write_bytes(whole)
    follower.look()
    assert "owl.md" in served.index.document_of


def test_the_command_follows(tmp_path):
    saved(tmp_path / "saved")
    serving = Serving(tmp_path / "saved")
    try:
        assert serving.call("/api/status")["documents"] == 4
        clew.Index.load(tmp_path / "saved").add([OWL]).save(tmp_path / "saved")
        while "answers come from its 5 documents now" not in serving.lines.get(timeout=60):
            pass
        assert serving.call("/api/status")["documents"] == 5
    finally:
        serving.process.kill()
        serving.process.wait()
        serving.reader.join()
        serving.process.stdout.close()
