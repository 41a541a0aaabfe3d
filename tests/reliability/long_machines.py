"""Runs the state machines of changes and saves for many steps.

    python -m tests.reliability.long_machines --steps 5000
    python -m tests.reliability.long_machines saves --steps 5000 --length 100 --seed 2

`saves` is `tests/store/test_changes.py::Saves`: an index changes in place and is saved and loaded
anywhere, and every load has to be what was saved, to the bit. `changes` is
`tests/index/test_in_place.py::Changes`: it changes in place, and has to be what is built at once of the
same documents, at any step and at the end. An example is a history of so many steps from an empty index. The
first difference ends a machine: it is shown with the shortest history that leads to it.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

import hypothesis
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from tests.index.test_in_place import Changes
from tests.store.test_changes import Saves

MACHINES = {"changes": Changes, "saves": Saves}


def run(
    machine: type[RuleBasedStateMachine], steps: int, length: int, seed: int
) -> tuple[Counter[str], str]:
    """Run a machine; return how many steps and histories it went, and what differed."""
    gone: Counter[str] = Counter()

    class Counted(machine):
        @invariant()
        def is_counted(self) -> None:
            self.is_begun = getattr(self, "is_begun", False) or not gone.update(histories=1)
            gone["steps"] += 1

    how = {"stateful_step_count": length, "deadline": None, "database": None, "derandomize": False}
    while gone["steps"] < steps:
        examples = -(-(steps - gone["steps"]) // length)
        chosen = hypothesis.settings(max_examples=examples, **how)
        factory = hypothesis.seed(seed)(Counted)
        try:
            run_state_machine_as_test(factory, settings=chosen)
        except Exception:  # noqa: BLE001  # any is a difference
            return gone, traceback.format_exc()
        seed += 1
    return gone, ""


def main() -> int:
    """Run machines, and return 1 where something differed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("machine", nargs="?", choices=[*MACHINES, "all"], default="all")
    parser.add_argument("--steps", type=int, default=5000, help="of each machine, at least")
    parser.add_argument("--length", type=int, default=50, help="steps of a history, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    differed = False
    for name in MACHINES if options.machine == "all" else [options.machine]:
        began = time.process_time()
        gone, difference = run(MACHINES[name], options.steps, options.length, options.seed)
        print(
            f"{name}: {gone['steps']:,} steps in {gone['histories']:,} histories, "
            f"{'a difference' if difference else 'no difference'}, "
            f"{time.process_time() - began:.0f} s of processor time",
            flush=True,
        )
        print(difference, end="", flush=True)
        differed |= bool(difference)
    return 1 if differed else 0


if __name__ == "__main__":
    sys.exit(main())
