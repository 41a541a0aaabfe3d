"""Which files below a folder are read, by patterns as in a `.gitignore`."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

INCLUDE, EXCLUDE = "include", "exclude"


class FileChoice:
    """The files below folders that patterns choose, with a count of those that they leave out.

    A file is read that a pattern of `include` matches, or any file where there is none, unless a
    pattern of `exclude` matches it. Patterns are those of a `.gitignore` in the folder: `*.md` and
    `drafts/` match at any depth, `/notes.md` and `guide/*.md` from the folder on, `**` any number
    of folders, and `!` takes back what one before it matches. What is below an excluded folder
    stays out. A letter with a mark is the same in one character or two, as macOS may name a file.

    Args:
        include: Patterns of what is read; none for everything.
        exclude: Patterns of what is left out.

    Raises:
        ValueError: A pattern is none.

    Example:
        >>> choice = FileChoice(["*.md"], ["drafts/"])
        >>> [name for name in ("a.md", "a.png", "drafts/b.md") if choice.takes(name)]
        ['a.md']
        >>> choice.remarks()
        [('include', '1 file left out'), ('exclude', '1 file left out')]
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        chosen = {INCLUDE: tuple(include), EXCLUDE: tuple(exclude)}
        self.takes_everything = not any(chosen.values())
        self._specs = (
            {}
            if self.takes_everything
            else {name: _compiled(patterns) for name, patterns in chosen.items()}
        )
        self._left_out = dict.fromkeys(chosen, 0)
        self._unused = {
            name: [pattern for pattern in dict.fromkeys(patterns) if pattern]
            for name, patterns in chosen.items()
        }

    def takes(self, path: str) -> bool:
        """Return whether a file is read, and count it where it is not.

        Args:
            path: Its path below the folder, with forward slashes.
        """
        if self.takes_everything:
            return True
        path = unicodedata.normalize("NFC", path)
        for name, unused in self._unused.items():
            self._unused[name] = [one for one in unused if not _matches(one, path)]
        include, exclude = self._specs[INCLUDE], self._specs[EXCLUDE]
        if len(include) and not include.match_file(path):
            self._left_out[INCLUDE] += 1
        elif exclude.match_file(path):
            self._left_out[EXCLUDE] += 1
        else:
            return True
        return False

    def excludes_folder(self, path: str) -> bool:
        """Return whether nothing below a folder is read.

        Args:
            path: Its path below the folder that is read, with forward slashes.
        """
        if self.takes_everything:
            return False
        return self._specs[EXCLUDE].match_file(f"{unicodedata.normalize('NFC', path)}/")

    def leave_out(self, path: str) -> None:
        """Count a file that is below an excluded folder."""
        if self.takes(path):
            self._left_out[EXCLUDE] += 1

    def remarks(self) -> list[tuple[str, str]]:
        """Return ("include" or "exclude", remark) on what was left out, and what matches nothing.

        They stand among the reasons of what is skipped, once for all folders together.
        """
        remarks = [
            (name, f"{number:,} file{'s' * (number > 1)} left out")
            for name, number in self._left_out.items()
            if number
        ]
        remarks += [
            (name, f"no file matches {pattern!r}")
            for name, unused in self._unused.items()
            for pattern in unused
        ]
        return remarks


def checked_patterns(option: str, patterns: object) -> tuple[str, ...]:
    """Return patterns of an option, one or several.

    Raises:
        TypeError: They are no texts.
        ValueError: One cannot be read.

    Example:
        >>> checked_patterns("exclude", "*.log")
        ('*.log',)
    """
    several = (patterns,) if isinstance(patterns, str) else patterns
    if isinstance(several, Mapping) or not isinstance(several, Sequence):
        raise TypeError(
            f"{option} is a pattern such as '*.md', or a list of them; got {patterns!r}"
        )
    for pattern in several:
        if not isinstance(pattern, str):
            raise TypeError(f"{option} has patterns such as '*.md'; got {pattern!r}")
        if not _is_pattern(pattern):
            raise ValueError(
                f"{option} has patterns as in a .gitignore, such as '*.md', 'drafts/' or "
                f"'/guide/**'; got {pattern!r}, which matches nothing"
            )
    return tuple(several)


def pattern_remarks(
    skipped: Sequence[tuple[str, str]],
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return what the command says of its patterns, and all else that was skipped.

    Args:
        skipped: (path, reason) of what was skipped, and what `FileChoice.remarks` returned.

    Example:
        >>> pattern_remarks([("exclude", "12 files left out"), ("a.png", "binary")])
        (['12 files left out by --exclude'], [('a.png', 'binary')])
    """
    remarks, others = list[str](), list[tuple[str, str]]()
    for name, reason in skipped:
        is_option = name in (INCLUDE, EXCLUDE)
        if is_option and re.fullmatch(r"[\d,]+ files? left out", reason):
            remarks.append(f"{reason} by --{name}")
        elif is_option and reason.startswith("no file matches "):
            remarks.append(f"--{name}: {reason}; patterns are relative to the folder")
        else:
            others.append((name, reason))
    return remarks, others


@cache
def _compiled(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # where there are patterns: most questions have none

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of a set in a set, which is no error
        return GitIgnoreSpec.from_lines(unicodedata.normalize("NFC", one) for one in patterns)


def _matches(pattern: str, path: str) -> bool:
    """Return whether a pattern alone matches a file, whatever it is for."""
    return _compiled((pattern.removeprefix("!"),)).match_file(path)


def _is_pattern(pattern: str) -> bool:
    try:
        return any(one.include is not None for one in _compiled((pattern,)).patterns)
    except (ValueError, re.error):
        return False
