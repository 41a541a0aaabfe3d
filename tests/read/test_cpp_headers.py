"""Headers of C++ are read as such, with the classes that they export and what these require."""

from __future__ import annotations

import pytest

import clew
from clew.read import load_documents

HEADER = """#ifndef QUAY_H_
#define QUAY_H_
namespace quay {

class QUAY_EXPORT Berth {
 public:
  virtual ~Berth();
  virtual int FindTide(int n) const = 0;
  virtual void OpenGate() = 0;
  int late_ = 1;
};

struct Dock {
  class Handler {
   public:
    virtual void Put(int n) = 0;
  };
};

}  // namespace quay
#endif
"""
SOURCE = """#include "pier.h"

class StoneBerth final : public quay::Berth {
  int FindTide(int n) const override { return n; }
};

class Porter : public Dock::Handler {
  void Put(int n) override {}
};
"""


def facts_of(folder):
    graph = clew.Index.from_documents(folder, extractor=clew.Symbols()).graph
    facts = graph.facts
    return {
        tuple(str(part) for part in (graph.texts[a], relation, graph.texts[b]))
        for a, relation, b in zip(
            facts.subjects.tolist(), facts.relations, facts.objects.tolist(), strict=True
        )
    }


def test_what_a_header_of_cpp_declares_is_known(tmp_path):
    (tmp_path / "pier.h").write_text(HEADER, encoding="utf-8")
    (tmp_path / "stone.cc").write_text(SOURCE, encoding="utf-8")
    found = {
        (a.split(" ")[-1], relation, b.split(" ")[-1])
        for a, relation, b in facts_of(tmp_path)
        if relation in ("requires", "inherits from")
    }
    last = {(a.rpartition(".")[2], relation, b.rpartition(".")[2]) for a, relation, b in found}
    assert last == {
        ("Berth", "requires", "FindTide"),
        ("Berth", "requires", "OpenGate"),
        ("Handler", "requires", "Put"),
        ("StoneBerth", "inherits from", "Berth"),
        ("Porter", "inherits from", "Handler"),
    }


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (HEADER, "cpp"),
        ("template <class T>\nT high(T a);\n", "cpp"),
        ("struct tide {\n  int n;\n};\nint high(struct tide *t);\n", "c"),
        ('#ifdef __cplusplus\nextern "C" {\n#endif\nint high(int n);\n', "c"),
        ("/* a\n * class Tide: of what is read\n */\nint class_of(int n);\n", "c"),
    ],
)
def test_a_header_is_in_the_language_that_it_is_written_in(tmp_path, text, format):
    (tmp_path / "a.h").write_text(text, encoding="utf-8")
    (document,) = load_documents(tmp_path).documents
    assert (document.format, document.text) == (format, text)
