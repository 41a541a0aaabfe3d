"""Files of a package of Debian, read from the folder that it was unpacked into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DebianPackage:
    """A package of Debian.

    Attributes:
        name: Its name.
        folder: The folder of its files that is read.
    """

    name: str
    folder: str

    def commands(self, sources: Path | str = "SOURCES") -> str:
        """Return the commands that bring the package and unpack it."""
        return (
            f"mkdir -p {sources} && (cd {sources} && apt-get download {self.name} && "
            f"dpkg-deb -x {self.name}_*.deb {self.name})"
        )

    def read(self, sources: Path, keep: Callable[[str], bool]) -> dict[str, str]:
        """Return the texts of the files that `keep` wants, by path in the package's folder.

        Args:
            sources: The folder where the package is unpacked, in a folder of its name.
            keep: Whether the file of a path is wanted.

        Raises:
            ValueError: The package is not there.
        """
        folder = sources / self.name / self.folder
        if not folder.is_dir():
            raise ValueError(
                f"{sources} has no {self.name}/{self.folder}; get it with: {self.commands(sources)}"
            )
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        by_path = {path.relative_to(folder).as_posix(): path for path in paths}
        return {name: path.read_text("utf-8") for name, path in by_path.items() if keep(name)}
