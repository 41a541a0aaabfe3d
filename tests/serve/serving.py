"""What the tests of the server share: a small index, and clients of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi.testclient import TestClient

import clew
from clew.serve import ServedIndex, ServedOptions
from clew.serve.access import AccessRules
from clew.serve.app import create_app
from clew.serve.service import Service

HERE = "http://127.0.0.1:8765"
TEXTS = {
    "ferry.md": "# Ferries\n\nFerries sail from Corfu at nine. A ticket costs four crowns.",
    "moon.md": "# Moon\n\nThe moon pulls the sea. High water comes twice a day.",
    "anna.md": "# Anna\n\nAnna Stone married Ben Wood. Ben Wood lives on Corfu.",
    "boats.md": "# Boats\n\nOars are of ash. Sails are of flax.",
}


def documents(texts=TEXTS):
    return [
        clew.Document(id, text, {"kind": "note", "place": n % 2}, format="markdown")
        for n, (id, text) in enumerate(texts.items())
    ]


def built(texts=TEXTS, **keywords):
    keywords = {"splitter": clew.Splitter(), "extractor": clew.Names(), **keywords}
    return clew.Index.from_documents(documents(texts), **keywords)


@contextmanager
def client_of(index, *, rules=None, workers=2, max_waiting=8, base_url=HERE, **options) -> Iterator:
    """A client of a new server of the index; `client.service` is what runs behind it."""
    service = Service.of(ServedIndex(index, ServedOptions(**options)), workers, max_waiting)
    app = create_app(service, rules or AccessRules())
    with TestClient(app, base_url=base_url, raise_server_exceptions=False) as client:
        client.service = service
        yield client
