"""Saves generation after generation until it is killed; started by test_kill.py in another process.

For every line on standard input, a number k, a child is forked that saves state k, k + 1, ... to the folder and says "saved k" of each
once `save` has returned. Its process id is said before, and "dead" when it is.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import numpy as np

from clew import Document, Index


def embed(texts):
    return np.array([[1.0, len(text), text.count("a"), text.count("e")] for text in texts])


def say(words):
    os.write(1, f"{words}\n".encode())


def main(folder):
    documents = [
        Document(f"d{i}", f"passage {i} of the sea and the island, the ferry and the winter")
        for i in range(300)
    ]
    index = Index.from_documents(documents, embedder=embed, links=())
    index.ask("the sea", recipe="bm25")  # counts the words, which every child then saves
    say("ready")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            k = int(line)
            while True:
                documents = index.documents[: k % 200 + 1]
                replace(index, documents=documents, skipped=(("k", str(k)),)).save(folder)
                say(f"saved {k}")
                k += 1
        say(f"pid {child}")
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main(sys.argv[1])
