"""Two processes make the same index of the same documents, byte for byte."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import clew

ROOT = Path(__file__).parents[2]
SOURCES = [str(ROOT / "examples" / "harbour"), str(ROOT / "src" / "clew" / "seed")]
BUILD = """
import sys, clew
index = clew.Index.from_documents(sys.argv[2:], extractor=clew.NamesAndSymbols())
index.save(sys.argv[1])
"""


def digests(seed, folder):
    """The digest of each file; what is in none of them is the random end of its name."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": str(Path(clew.__file__).parents[1]),
    }
    subprocess.run(
        [sys.executable, "-c", BUILD, str(folder), *SOURCES], env=environment, check=True
    )
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix == ".npy"]
    return {
        file.name.rsplit("-", 2)[0]: hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def test_the_seed_of_hashes_is_in_no_file(tmp_path):
    one, other = (digests(seed, tmp_path / str(seed)) for seed in (1, 2))
    assert len(one) > 50
    assert {name for name in one if one[name] != other[name]} == set()
    assert one.keys() == other.keys()
