r"""No possessive group takes what it has tried in vain, in any Python that is supported.

Up to Python 3.11.4, where a possessive or atomic group fails behind a repetition that began behind
its first sign, what was read until there counts as matched: `(?:_[a-z]+)*+` matches the sign of
"_". A group that may do so ends with an alternative that fails at once, `|(?!)`, which goes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.reliability import growth

SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")  # they read one sign
FAILS = ("[(ASSERT_NOT, (1, []))]", "[(FAILURE, ())]")  # `(?!)`, as versions parse it


def groups_of(nodes: Any) -> Iterator[list[Any]]:
    """Yield what possessive and atomic groups hold, wherever they are in a parsed pattern."""
    for op, argument in nodes:
        name = str(op)
        if name == "ATOMIC_GROUP" or (name == "POSSESSIVE_REPEAT" and len(argument[2])):
            yield list(argument if name == "ATOMIC_GROUP" else argument[2])
        for part in growth._parts(op, argument):
            yield from groups_of(part)


def may_fail_behind_a_repetition(nodes: list[Any], *, has_read: bool = False) -> bool:
    """Return whether a group may fail after the last place it noted is not its beginning."""
    noted = False
    for at, (op, argument) in enumerate(nodes):
        name = str(op)
        if name == "BRANCH" and not has_read and not noted:
            parts = [list(part) for part in argument[1]]
            if str(parts[-1]) in FAILS:
                return False
            return any(may_fail_behind_a_repetition([*part, *nodes[at + 1 :]]) for part in parts)
        if name in SINGLE or name == "AT":
            if noted:
                return True
            has_read = has_read or name != "AT"
        elif "REPEAT" in name and len(argument[2]) == 1 and str(argument[2][0][0]) in SINGLE:
            noted = noted or has_read
            if noted and argument[0] > 0:
                return True
            has_read = True
        else:  # what is not looked into
            return True
    return False


def parsed(pattern: re.Pattern[Any]) -> Any:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    return growth.parser.parse(source, pattern.flags & ~re.UNICODE)


def is_safe(pattern: re.Pattern[Any]) -> bool:
    return not any(map(may_fail_behind_a_repetition, groups_of(parsed(pattern))))


@pytest.mark.parametrize(
    ("pattern", "safe"),
    [
        ("a(?:_[a-z]+)*+", False),
        ("a(?:_[a-z][a-z]*+)*+", True),
        ("a(?:_[a-z]+|(?!))*+", True),
        (r"(?:[.#]|::)*+", True),
        (r"(?>\s*\w+:)", False),
        (r"(?:\s*:)++", True),
        ("[a-z]++_*+", True),
    ],
)
def test_what_is_safe(pattern, safe):
    assert is_safe(re.compile(pattern)) == safe


@pytest.mark.parametrize(
    "used",
    [used for used in growth.used_patterns("clew") if [*groups_of(parsed(used.pattern))]],
    ids=lambda used: used.place.removeprefix("clew."),
)
def test_no_group_takes_what_it_has_tried_in_vain(used):
    assert is_safe(used.pattern), "end the group with |(?!)"
