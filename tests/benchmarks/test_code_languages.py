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
CPP = """class QUAY_EXPORT Berth {
 public:
  virtual ~Berth();
  virtual int berthFerry(int n) = 0;  // berthFerry(1)
  int late(int n) { return berthFerry(n); }
};

struct Quay final : public Berth, private Gate<int> {
  Quay(int n) : n_(n), tideTable_(0) {}
  int berthFerry(int n) override;
};

int Quay::berthFerry(int n) {
  if (late(n)) {
    int found = berthFerry(n - 1);
  }
  return berthFerry(
      2);
}
"""
C = """typedef struct quay {
    int n;
} quay;

static int berthFerry(int n);

/* berthFerry(1) */
static int berthFerry(int n) {
    if (n) return berthFerry(n - 1);
    return (int)berthFerry(0);
}

int
allBerths(void) { return 0; }

quay *openGate(struct quay *q, int (*late)(int)) {
    berthFerry(q->n);
}
"""
JAVASCRIPT = """import Berth from './Berth.js';

/** berthFerry() */
class Quay extends Berth {
  constructor(n) {
    super(n);
  }

  async berthFerry(n, {late} = {}) {
    if (berthTime(n)) {
      this.berthFerry(n - 1);
    }
    return 'berthFerry(2)';
  }
}

export function berthTime(n) {
  return n.map(function (one) {
    return new Quay(one).berthFerry(1);
  });
}
"""
TYPESCRIPT = """export interface Gate<T> {
  openGate(n: number): T
  width: number
}

export abstract class Quay<T> extends Berth<T> implements Gate<T>, Dry {
  protected abstract berthFerry(n: number): Promise<T>

  late(n: number): void
  late(n: string): void {
    this.openGate(n)
  }

  public async openGate<U>(n: number): Promise<{ a: U }> {
    return await this.berthFerry(n)
  }
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
        (
            "cpp",
            CPP,
            {"Berth": 1, "late": 5, "Quay": 8, "berthFerry": 13},
            {"berthFerry": {5, 15, 17}, "late": {14}},
            {"Berth": {8}, "Gate": {8}},
            {"Berth": {4}},
        ),
        (
            "c",
            C,
            {"quay": 1, "berthFerry": 8, "openGate": 16},
            {"berthFerry": {9, 10, 17}},
            {},
            {},
        ),
        (
            "javascript",
            JAVASCRIPT,
            {"Quay": 4, "constructor": 5, "berthFerry": 9, "berthTime": 17},
            {"berthFerry": {11, 19}, "berthTime": {10}, "Quay": {19}},
            {"Berth": {4}},
            {},
        ),
        (
            "typescript",
            TYPESCRIPT,
            {"Gate": 1, "Quay": 6, "late": 10, "openGate": 14},
            {"openGate": {11}, "berthFerry": set()},
            {"Berth": {6}, "Gate": {6}, "Dry": {6}},
            {"Gate": {2}, "Quay": {7}},
        ),
    ],
)
def test_gold_is_what_a_reader_finds(file, text, defined, called, below, required, tmp_path):
    suffix = {"cpp": ".cc", "javascript": ".js", "typescript": ".ts"}.get(file, f".{file}")
    suffix = {".rust": ".rs"}.get(suffix, suffix)
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
