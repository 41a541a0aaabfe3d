"""Frozen dataclasses do what those of Python do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from dataclasses import FrozenInstanceError, field
from functools import cached_property

import pytest

from clew import frozen

MAKERS = frozen.dataclass, dataclasses.dataclass


def classes_of(dataclass):
    """Classes of all kinds, declared by one of the decorators."""

    @dataclass(frozen=True)
    class Nothing:
        """No fields."""

    @dataclass(frozen=True)
    class One:
        """A field, and a part that it keeps."""

        name: str

        @cached_property
        def length(self):
            return len(self.name)

    @dataclass(frozen=True)
    class Several:
        """Fields of all kinds."""

        kind: typing.ClassVar[str] = "several"
        name: str
        count: int = 3
        tags: list[str] = field(default_factory=list, compare=False)
        hidden: tuple[int, ...] = field(default=(1,), repr=False)
        unhashed: str = field(default="u", hash=False)
        made: list[int] = field(init=False, hash=False, default_factory=lambda: [7])
        late: str = field(default="late", kw_only=True)
        needed: int = field(kw_only=True)

        def __post_init__(self):
            if self.count < 0:
                raise ValueError("too few")

    @dataclass(frozen=True)
    class Own:
        """Methods of its own."""

        name: str

        def __eq__(self, other):
            return self.name.lower() == getattr(other, "name", "").lower()

        def __repr__(self):
            return "own"

    @dataclass(frozen=True)
    class OwnHash:
        """A hash of its own."""

        name: str

        def __hash__(self):
            return 5

    @dataclass(frozen=True, eq=False)
    class Identical:
        """Compared by identity."""

        name: str
        other: object = None

    @dataclass(frozen=True, repr=False)
    class Below(One):
        """A class below another one."""

        more: int = 1

    @dataclasses.dataclass(frozen=True)
    class OfOthers(Several):
        """What a caller derives."""

        extra: int = field(default=0, kw_only=True)

    class Undecorated(One):
        """A class below that is no dataclass itself."""

    return Nothing, One, Several, Own, OwnHash, Identical, Below, OfOthers, Undecorated


ARGUMENTS = (
    [((), {})],
    [(("a",), {}), (("b",), {}), ((), {"name": "a"})],
    [
        (("a",), {"needed": 1}),
        (("a", 4, ["x"], (2,), "v"), {"needed": 1, "late": "l"}),
        (("a", 3, ["x"]), {"needed": 1}),
    ],
    [(("a",), {}), (("A",), {})],
    [(("a",), {}), (("b",), {})],
    [(("a",), {}), (("a",), {})],
    [(("a",), {}), (("a", 2), {})],
    [(("a",), {"needed": 1}), (("a",), {"needed": 1, "extra": 2})],
    [(("a",), {}), (("b",), {})],
)


def described(cls, arguments):
    """What can be seen of a class and of some of its objects."""
    some = [cls(*in_place, **by_name) for in_place, by_name in arguments]
    yield str(inspect.signature(cls)), cls.__match_args__, cls.__doc__
    yield [(one.name, one.type, one.init, one.kw_only) for one in dataclasses.fields(cls)]
    yield typing.get_type_hints(cls.__init__), cls.__init__.__qualname__, cls.__init__.__module__
    yield [repr(one) for one in some], [repr([one, one]) for one in some]
    yield [[one == other for other in some] for one in some], [one != 3 for one in some]
    is_by_identity = cls.__hash__ is object.__hash__
    yield is_by_identity or [[hash(one) == hash(two) for two in some] for one in some]
    yield [dataclasses.asdict(one) for one in some], [vars(copy.copy(one)) for one in some]
    yield [vars(dataclasses.replace(one)) for one in some if not hasattr(one, "made")]
    for one in some:
        for name in ("name", "unheard_of", "made"):
            for change in (lambda one, name: setattr(one, name, 1), delattr):
                try:
                    change(one, name)
                except (FrozenInstanceError, AttributeError) as error:
                    yield type(error), str(error)
                else:
                    yield name


@pytest.mark.parametrize("number", range(len(ARGUMENTS)))
def test_a_class_does_what_that_of_python_does(number):
    own, other = (list(described(classes_of(maker)[number], ARGUMENTS[number])) for maker in MAKERS)
    assert own == other


def test_a_class_is_made_here_or_by_python():
    own = [vars(cls)["__init__"].__code__.co_filename for cls in classes_of(frozen.dataclass)[:6]]
    assert own == ["<string>"] * 6
    assert all(
        cls.__repr__.__code__.co_filename != "<string>" for cls in classes_of(frozen.dataclass)[:3]
    )
    for options in ({}, {"frozen": True, "slots": True}, {"frozen": True, "order": True}):
        both = []
        for maker in MAKERS:
            Point = maker(**options)(type("Point", (), {"__annotations__": {"x": int}}))
            both.append((hasattr(Point, "__slots__"), "__lt__" in vars(Point), repr(Point(1))))
        assert both[0] == both[1]


@frozen.dataclass(frozen=True)
class Kept:
    """An object that is sent to another process."""

    name: str
    count: int = 2


def test_an_object_can_be_pickled():
    one = Kept("a")
    again = pickle.loads(pickle.dumps(one))
    assert (again, hash(again)) == (one, hash(one))
    with pytest.raises(ValueError, match="too few"):
        classes_of(frozen.dataclass)[2]("a", -1, needed=1)
    with pytest.raises(TypeError, match=r"Kept.__init__\(\) missing 1 required positional"):
        Kept()
