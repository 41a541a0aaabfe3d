"""What all tests share: hypothesis profiles that are the same on every machine, and an embedder that needs no model."""

from __future__ import annotations

import ast
import asyncio
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

from clew.syntax_trees import parse_python

# The ordinary run draws few examples; `--hypothesis-profile=long`, which CI asks for, draws many.
# A test that needs more or fewer than the others multiplies or divides `settings().max_examples`.
for _name, _examples in (("clew", 24), ("long", 60)):
    settings.register_profile(
        _name,
        deadline=None,
        max_examples=_examples,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
settings.register_profile(  # for mutation testing: whether a test fails is all that is asked
    "unshrunk", settings.get_profile("clew"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("clew")

# Hypothesis reads the source of lambdas; meanwhile a thread of clew may parse, too.
if _lambdas := sys.modules.get("hypothesis.internal.lambda_sources"):
    _lambdas.ast = SimpleNamespace(**vars(ast) | {"parse": parse_python})


def hashed_words(texts):
    """Unit rows [n, 24]: a bag of words by a hash that no PYTHONHASHSEED moves; never zero."""
    vectors = np.zeros((len(texts), 24))
    vectors[:, 0] = 0.5
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, 1 + zlib.crc32(word.strip(".,?!").encode("utf-8", "replace")) % 23] += 1
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def embed():
    return hashed_words


@pytest.fixture
def quick_turns():
    """Have threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """What is asked of a folder leaves nothing in the cache of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEW_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    """Calls of a model that fail are made again at once."""
    monkeypatch.setattr("clew.model.model.sleep", lambda seconds: None)


@pytest.fixture(autouse=True)
def _no_lost_loops(request, monkeypatch):
    """Event loops that a framework makes where there is none are closed: it leaves them open.

    Else the garbage collector says so, in whichever test it happens to find one.
    """
    if sys.version_info >= (3, 14) or request.node.get_closest_marker("asyncio"):
        yield  # there none is made, and here pytest-asyncio closes its own
        return
    made, policy = [], asyncio.get_event_loop_policy()
    make = policy.new_event_loop

    def new_event_loop():
        made.append(make())
        return made[-1]

    monkeypatch.setattr(policy, "new_event_loop", new_event_loop)
    yield
    idle = [loop for loop in made if not loop.is_running()]  # those of other threads stay
    for loop in idle:
        loop.close()
    if idle:
        asyncio.set_event_loop_policy(None)  # which knows of none of them
