"""The code blocks of a page, and what happens when they are carried out in the order of reading.

Python runs in one namespace for the page. A line of shell that begins with `clew` runs the command
in this process. A block of `text` below one of these is what it prints: every line of it, but that
a line of three dots stands for any number of lines, and three dots behind a line for its rest.

`renew.py` beside this file writes into a page what its code prints now.

A comment `<!-- not run: REASON -->` above a block says why it is only checked for its syntax.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

GUIDE = Path(__file__).parents[1]
SAMPLES = (GUIDE / "curies.jsonl", GUIDE.parent / "harbour")
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+?) -->\n\n?)?"
    r"^```(?P<language>[\w{}-]+)(?P<rest>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of a page between two fences.

    Attributes:
        language: The word behind the first fence.
        rest: What else stands there.
        text: What stands between the fences.
        reason: Why it is not run; "" where it is.
        start: Where the block begins in the page.
        end: Where it ends.
    """

    language: str
    rest: str
    text: str
    reason: str
    start: int
    end: int


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page in order."""
    return [
        Block(
            found["language"],
            found["rest"].strip(),
            found["text"],
            found["reason"] or "",
            found.start("language") - 3,
            found.end(),
        )
        for found in FENCE.finditer(page)
    ]


@dataclass
class Reader:
    """Somebody who does what a page says, in the current folder.

    Attributes:
        names: What Python's names stand for by now.
        printed: What the last block printed; None where it was not run.
        ran: How many blocks were run.
        checked: How many were checked for their syntax alone.
        compared: How many printed what the page shows.
    """

    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str | None = None
    ran: int = 0
    checked: int = 0
    compared: int = 0

    def carry_out(self, block: Block) -> None:
        """Run a block of Python or shell, or compare a block of text with what was printed."""
        if block.language == "python":
            code = compile(block.text, f"<{block.text.splitlines()[0]}>", "exec")
            self._run(block, lambda: exec(code, self.names))  # noqa: S102  # our own pages
        elif block.language == "bash":
            done = subprocess.run(["bash", "-n", "-c", block.text], check=False)  # noqa: S603, S607
            assert done.returncode == 0, block.text
            self._run(block, lambda: run_shell(block.text))
        elif block.language == "text" and self.printed is not None:
            assert matches(self.printed, block.text), f"{self.printed}\nis not\n{block.text}"
            self.compared += 1

    def _run(self, block: Block, work: Callable[[], None]) -> None:
        self.printed = None
        if block.reason:
            self.checked += 1
            return
        with (
            contextlib.redirect_stdout(io.StringIO()) as printed,
            contextlib.redirect_stderr(io.StringIO()) as errors,
        ):
            try:
                work()
            except (Exception, SystemExit) as error:
                error.add_note(f"in\n{block.text}\n{errors.getvalue()}")
                raise
        self.printed, self.ran = printed.getvalue(), self.ran + 1


@contextlib.contextmanager
def in_samples() -> Iterator[None]:
    """Work in a new folder that has the documents of the examples."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for sample in SAMPLES:
            (shutil.copytree if sample.is_dir() else shutil.copy)(sample, sample.name)
        before = os.environ.get("CLEW_CACHE")
        os.environ["CLEW_CACHE"] = str(Path(folder) / "cache")
        try:
            yield
        finally:
            os.environ.pop("CLEW_CACHE")
            if before is not None:
                os.environ["CLEW_CACHE"] = before


def run_shell(text: str) -> None:
    """Run lines of shell that begin with `clew`, in this process.

    Args:
        text: A command a line, with comments. A line that ends in a backslash goes on. Each has to
            succeed; one that ends in `|| true` may exit with 1.
    """
    from clew.cli import main

    for line in text.replace("\\\n", " ").splitlines():
        command, _, may_fail = line.partition(" || ")
        command, _, file = command.partition(" > ")
        words = shlex.split(command, comments=True)
        if not words:
            continue
        assert words[0] == "clew", f"a page runs no other command than clew: {line}"
        with contextlib.ExitStack() as stack:
            if file:
                out = stack.enter_context(Path(file.strip()).open("w", encoding="utf-8"))
                stack.enter_context(contextlib.redirect_stdout(out))
            code = main(words[1:])
        assert code == 0 or (may_fail and code == 1), f"{line} exited with {code}"


def matches(printed: str, shown: str) -> bool:
    """Return whether a page shows what was printed.

    Example:
        >>> matches("one\\ntwo\\nthree\\n", "one\\n...\\nthree\\n")
        True
    """
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else line_pattern(line)
        for line in trimmed(shown).splitlines()
    )
    return re.fullmatch(pattern, trimmed(printed)) is not None


def line_pattern(line: str) -> str:
    """Return a regular expression for one line that a page shows."""
    if line.endswith(" ..."):
        return re.escape(line.removesuffix("...")) + r".*\n"
    return re.escape(line) + r"\n"


def trimmed(text: str) -> str:
    """Return a text without spaces at the ends of lines and without empty lines at its ends."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
