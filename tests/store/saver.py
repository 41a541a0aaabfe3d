"""Saves generation after generation until it is killed; started by test_kill.py in another process.

With "changes" as its second argument it saves changes of what is there, which is opened before the child is forked; state k is what
`changed` makes of state k - 1.

For every line on standard input, a number k, a child is forked that saves state k, k + 1, ... to the folder and says "saved k" of each
once `save` has returned. Its process id is said before, and "dead" when it is.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np

from clew import Document, Index
from clew.index import in_place
from clew.store import saving


def embed(texts):
    return np.array([[1.0, len(text), text.count("a"), text.count("e")] for text in texts])


def say(words):
    os.write(1, f"{words}\n".encode())


def changed(index, k):
    """State k of the state before: one document more, and the oldest of those that came gone."""
    if len(index) > 304:
        index = index.delete(index.documents[300].id)
    index = index.add([Document(f"new {k}", f"passage {k} of the winter")])
    return replace(index, skipped=(("k", str(k)),))


def save_changes(folder, index, k):
    """Save states from k on, where the index is state k - 1."""
    while True:
        index = changed(index, k)
        index.save(folder)
        say(f"saved {k}")
        k += 1


def main(folder, kind="whole"):
    documents = [
        Document(f"d{i}", f"passage {i} of the sea and the island, the ferry and the winter")
        for i in range(300)
    ]
    index = Index.from_documents(documents, embedder=embed, links=())
    index.ask("the sea", recipe="bm25")  # counts the words, which every child then saves
    say("ready")
    in_place.MIN_PASSAGES, saving.MAX_CHANGES = 0, 8
    if kind == "changes":
        saving.MIN_BYTES, saving.MAX_SHARE = 0, 1e9
    for line in sys.stdin:
        if kind == "changes" and int(line) > 1:
            index = Index.load(folder, embedder=embed)
        child = os.fork()
        if child == 0:
            k = int(line)
            if kind == "changes":
                save_changes(folder, index, k)
            while True:
                documents = index.documents[: k % 200 + 1]
                replace(index, documents=documents, skipped=(("k", str(k)),)).save(folder)
                say(f"saved {k}")
                k += 1
        say(f"pid {child}")
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main(*sys.argv[1:])
