"""The gold of questions on programs in other languages is what a reader would find in them."""

from __future__ import annotations

import pytest

from tests.benchmarks.code_languages import SAMPLE, Reference

JAVA = """package quay;

/** berthFerry() is not called here. */
abstract class Quay<T> extends Pier<T> implements Berth, Gate {
  private static final String NAME = "berthFerry()";

  protected abstract int berthFerry(T ferry);

  public Quay(int n) {
    this.n = n;
  }

  Map<String, List<T>> allBerths(int n) throws Late {
    if (n > 0) {
      return berthFerry(n);
    }
    return new Quay(berthFerry(1));
  }
}

interface Gate {
  void openGate();
}
"""
RUST = """pub trait Berth<T> {
    fn berth_ferry(&self, n: usize) -> T;

    fn late(&self) -> bool {
        self.berth_ferry(1); // berth_ferry(2)
        self.berth_ferry::<'a'>(3) == "berth_ferry(4)"
    }
}

impl<T> Berth<T> for Quay<T> {
    fn late(&self) -> bool { true }
}
"""


@pytest.mark.parametrize(
    ("file", "text", "defined", "called", "below", "required"),
    [
        (
            "go",
            SAMPLE,
            {"berthFerry": 4, "Harbour": 6, "waitForTide": 11},
            {"berthFerry": {12}},
            {},
            {"Harbour": {7, 8}},
        ),
        (
            "java",
            JAVA,
            {"Quay": 4, "berthFerry": 7, "allBerths": 13, "Gate": 21},
            {"berthFerry": {15, 17}},
            {"Pier": {4}, "Berth": {4}, "Gate": {4}},
            {"Quay": {7}, "Gate": {22}},
        ),
        (
            "rust",
            RUST,
            {"Berth": 1, "berth_ferry": 2},
            {"berth_ferry": {5, 6}},
            {"Berth": {10}},
            {"Berth": {2}},
        ),
    ],
)
def test_gold_is_what_a_reader_finds(file, text, defined, called, below, required, tmp_path):
    suffix = {"go": ".go", "java": ".java", "rust": ".rs"}[file]
    (tmp_path / f"quay{suffix}").write_text(text, encoding="utf-8")
    (tmp_path / f"quay_test{suffix}").write_text(text, encoding="utf-8")  # is left out
    found = Reference(tmp_path, file)
    path = f"quay{suffix}"
    assert list(found.texts) == [path]
    assert {name: found.defined[name] for name in defined} == {
        name: [(path, line)] for name, line in defined.items()
    }
    for wanted, of in ((called, found.called), (below, found.below), (required, found.required)):
        assert {name: of[name] for name in wanted} == {
            name: {(path, line) for line in at} for name, at in wanted.items()
        }
    assert not found.below.keys() - below.keys() - {"T"}
