"""Machine code of loops, stored for the next process: one file for one loop with one set of types.

A file is found by its name: the loop's, and a digest of all that its code depends on. These are the
versions of Python, numba and llvmlite, the processor, the types, and the bytecode, constants and
options of the loop and of the loops that it calls. So nothing outdated is ever loaded. A file is
written under another name, and renamed when it is complete: processes that store the same loop at
once do not disturb each other. Its first bytes are a digest of the others; a damaged file is
compiled anew.

The folder is `NUMBA_CACHE_DIR`, where that is set, or beside the installed package, or the user's
cache. Where none can be written, machine code stays in memory, which is logged.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from clew.algorithms.kernels.plain import Loop, names_in

ENDING = ".machine-code"
FORM = b"2"  # in the first, functions of two processes could have the same names
DIGEST_BYTES = 32


class Store:
    """The stored machine code of one loop, with the methods that numba's dispatchers call."""

    def __init__(self, kernel: Loop) -> None:
        self.kernel = kernel

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled loop for these types, or None."""
        from numba.core.compiler import CompileResult

        target.refresh()
        path = self._path(signature, target.codegen())
        try:
            content = b"" if path is None else path.read_bytes()
        except OSError:
            return None
        body = content[DIGEST_BYTES:]
        if not body or hashlib.sha256(body).digest() != content[:DIGEST_BYTES]:
            return None
        return CompileResult._rebuild(target, *pickle.loads(body))  # noqa: S301 - our own file

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store a loop that was just compiled."""
        from numba.core.serialize import dumps

        path = self._path(signature, result.codegen)
        if path is None or result.library.has_dynamic_globals:
            return
        body = dumps(result._reduce())
        _write(path, hashlib.sha256(body).digest() + body)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = find_folder()
        if folder is None:
            return None
        parts = repr((str(signature), codegen.magic_tuple())).encode()
        digest = hashlib.sha256(_digest(self.kernel) + parts).hexdigest()
        return folder / f"{_prefix(self.kernel)}{digest[:24]}{ENDING}"


def has_some(kernel: Loop) -> bool:
    """Return whether there is machine code of this loop, for some types and some processor."""
    return _prefix(kernel) in _stored_prefixes()


@cache
def _stored_prefixes() -> frozenset[str]:
    """Return the beginnings of the names of the files that are there when it is first asked."""
    folder = find_folder()
    if folder is None:
        return frozenset()
    names = (path.name.removesuffix(ENDING) for path in folder.glob(f"*{ENDING}"))
    return frozenset(f"{name.rpartition('-')[0]}-" for name in names)


@cache
def find_folder() -> Path | None:
    """Return the first of the folders that can be written; None if there is none."""
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    logging.getLogger("clew").warning(
        "no folder for machine code can be written, so every process compiles its own; "
        "set NUMBA_CACHE_DIR to one that can"
    )
    return None


def _folders() -> Iterator[Path]:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen) / "clew"
    yield Path(__file__).parent / "__pycache__"
    home = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME")
    yield (Path(home) if home else Path("~/.cache").expanduser()) / "clew" / "machine_code"


def _write(path: Path, content: bytes) -> None:
    """Write a file that is complete wherever it is seen."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        try:
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            if not path.exists():  # on Windows nothing takes the place of what another reads
                raise
    except OSError as error:
        logging.getLogger("clew").warning("machine code could not be stored: %s", error)


@cache
def _prefix(kernel: Loop) -> str:
    """Return how the names of the files of a loop begin."""
    place = kernel.__module__.removeprefix("clew.algorithms.").replace(".kernels", "")
    return f"{place}.{kernel.__name__}-{_digest(kernel).hex()[:12]}-"


@cache
def _digest(kernel: Loop) -> bytes:
    """Return a digest of all that decides the machine code, but the types and the processor."""
    digest = hashlib.sha256(FORM + repr(sys.version_info).encode())
    for package in ("numba", "llvmlite"):
        digest.update(_version_of(package).encode())
    digest.update(repr(sorted(kernel.options.items(), key=lambda item: item[0])).encode())
    for part in _parts(kernel.function.__code__):
        digest.update(part)
    values = kernel.function.__globals__
    for name in sorted(set(names_in(kernel.function.__code__))):
        value = values.get(name)
        if isinstance(value, type(kernel)):
            digest.update(_digest(value))
        elif not (value is None or callable(value) or isinstance(value, ModuleType)):
            digest.update(f"{name}={value!r}".encode())
    return digest.digest()


def _version_of(package: str) -> str:
    """Return the version of a package, also where it is installed without metadata.

    A frozen program has none. Otherwise the package is not loaded for this, which takes long.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        own: str = importlib.import_module(package).__version__
        return own


def _parts(code: CodeType) -> Iterator[bytes]:
    """Yield the bytecode and the constants of some code."""
    yield code.co_code
    yield repr((code.co_names, code.co_varnames)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _parts(constant)
        else:
            yield repr(constant).encode()
