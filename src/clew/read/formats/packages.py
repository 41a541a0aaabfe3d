"""The Python package that a folder is in, which a module in it has in its name."""

from __future__ import annotations

from pathlib import Path, PurePosixPath


def package_of(folder: str, below: str = "") -> tuple[str, ...]:
    """Return the names of the packages that a folder is in, the outermost first.

    Without a package these are the folders below the one that is read. The packages above that
    folder belong to them, too; those below need not all have an `__init__.py`, which is left out of
    an index where it is empty.

    Args:
        folder: The path of the folder.
        below: Its path below the folder that is read; "" where it is that itself.

    Example:
        >>> package_of("/tmp"), package_of("/tmp/sea/deep", "sea/deep")
        ((), ('sea', 'deep'))
    """
    here, own = Path(folder).absolute(), PurePosixPath(below).parts
    if len(own) <= len(here.parents):
        here = [here, *here.parents][len(own)]
    folders = [*own]
    while (here / "__init__.py").exists() and here.name:
        folders.insert(0, here.name)
        here = here.parent
    packages = (
        n for n in range(len(folders)) if here.joinpath(*folders[: n + 1], "__init__.py").exists()
    )
    return tuple(folders[next(packages, 0) :])


def shown_package(folder: str, below: str = "") -> str:
    """Return the packages that a folder is in, joined by dots.

    Example:
        >>> shown_package("/tmp/sea/deep", "sea/deep")
        'sea.deep'
    """
    return ".".join(package_of(folder, below))
