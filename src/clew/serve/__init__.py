"""One index that many ask at once: in a browser, over HTTP, by the API that chat front ends know.

`served_index.py` is what is asked and changed, and `chat.py` makes an answer of it; neither knows a
framework. `work_queue.py` bounds what runs and waits. `app.py` puts both on HTTP, and needs the
extra `serve`.
"""

from clew.serve.served_index import (
    AskedAnswer,
    IndexChange,
    KnownIdError,
    NoFolderError,
    ReadOnlyError,
    ServedIndex,
    ServedOptions,
    UnknownIdError,
)
from clew.serve.work_queue import QueueFullError, WorkQueue

__all__ = [
    "AskedAnswer",
    "IndexChange",
    "KnownIdError",
    "NoFolderError",
    "QueueFullError",
    "ReadOnlyError",
    "ServedIndex",
    "ServedOptions",
    "UnknownIdError",
    "WorkQueue",
]
