"""Files of a git repository at a pinned commit, read without a work tree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Checkout:
    """A public repository at a commit.

    Attributes:
        repository: `OWNER/NAME` on GitHub.
        commit: The full digest of the commit.
    """

    repository: str
    commit: str

    @property
    def folder(self) -> str:
        """The name of the clone in the folder of clones."""
        return self.repository.replace("/", "+")

    def commands(self, sources: Path | str = "SOURCES") -> str:
        """Return the commands that bring the commit, and nothing older."""
        clone = f"{sources}/{self.folder}"
        return (
            f"git init -q {clone} && git -C {clone} fetch -q --depth 1 "
            f"https://github.com/{self.repository} {self.commit}"
        )

    def read(self, sources: Path, keep: Callable[[str], bool]) -> dict[str, str]:
        """Return the texts of the files that `keep` wants, by path, in the order of paths.

        Args:
            sources: The folder of clones, ordinary or bare, each named OWNER+NAME.
            keep: Whether the file of a path is wanted.

        Raises:
            ValueError: There is no such clone, or it lacks the commit.
        """
        git = ["git", f"--git-dir={self._git_folder(sources)}"]
        listing = _run([*git, "ls-tree", "-r", "-z", self.commit], self.commands(sources))
        entries = [line.split("\t", 1) for line in listing.decode().split("\0") if line]
        wanted = sorted(
            (path, head.split()[2])
            for head, path in entries
            if head.split()[1] == "blob" and keep(path)
        )
        asked = "".join(f"{digest}\n" for _, digest in wanted).encode()
        answer = _run([*git, "cat-file", "--batch"], self.commands(sources), asked)
        texts, start = {}, 0
        for path, digest in wanted:
            head_end = answer.index(b"\n", start)
            head = answer[start:head_end].split()
            if len(head) != 3:
                raise ValueError(f"{self.repository} at {self.commit} lacks {path} ({digest})")
            start = head_end + 1 + int(head[2])
            texts[path] = answer[head_end + 1 : start].decode("utf-8", "replace")
            start += 1
        return texts

    def _git_folder(self, sources: Path) -> Path:
        clone = sources / self.folder
        for folder in (clone / ".git", clone, clone / "repo", clone / "repo" / ".git"):
            if (folder / "HEAD").is_file():
                return folder
        raise ValueError(
            f"{sources} has no clone {self.folder}; get it with: {self.commands(sources)}"
        )


def _run(command: list[str], remedy: str, given: bytes = b"") -> bytes:
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(command)}: {done.stderr.decode().strip()}; try: {remedy}")
    return done.stdout
