"""The reference of all source code in a corpus, whatever its language."""

from __future__ import annotations

from collections.abc import Sequence

from clew.document import Document
from clew.documentation.entries import CodeReference
from clew.documentation.program_reference import read_program_reference
from clew.documentation.python_modules import GriffeMissingError
from clew.documentation.python_reference import read_python_reference

NO_PUBLIC_NAMES = "no module of these files has a public name"


def read_reference(documents: Sequence[Document]) -> CodeReference:
    """Return the public names of the source code among documents.

    Python needs griffe (the extra `document`). Where it is missing, or no name is public, the
    reference does not stand for those files, and says so in `failed`.

    Example:
        >>> reference = read_reference([Document("kit.py", "def cut(): ...", format="python")])
        >>> [entry.path for entry in reference.walk()]
        ['kit.cut']
    """
    try:
        python = read_python_reference(documents)
    except GriffeMissingError as error:
        python = CodeReference((), frozenset(), failed=(("Python", str(error)),))
    parts = [_with_names(python), _with_names(read_program_reference(documents))]
    return CodeReference(
        tuple(module for part in parts for module in part.modules),
        frozenset(id for part in parts for id in part.documents),
        frozenset(id for part in parts for id in part.examples),
        tuple(one for part in parts for one in part.failed),
    )


def _with_names(reference: CodeReference) -> CodeReference:
    """Return a reference; one without any public name stands for nothing."""
    if any(module.entries or module.reexports for module in reference.modules):
        return reference
    failed = reference.failed
    if reference.documents:
        named = ", ".join(sorted(reference.documents)[:3])
        failed += ((named, NO_PUBLIC_NAMES),)
    return CodeReference((), frozenset(), failed=failed)
