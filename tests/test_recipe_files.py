"""A recipe as a file: it comes back as it was, every parameter can be set, and nothing else can."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clew
from clew import recipes, spread
from clew.recipe_files import parse_recipe, read_recipe, with_settings, write_recipe


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_comes_back_from_its_file(name, tmp_path):
    method = recipes.get(name)
    file = tmp_path / "my.toml"
    file.write_text(write_recipe(method, "what it does\n\nand when"), encoding="utf-8")
    assert read_recipe(str(file)) == method
    assert read_recipe(name) == method


def places(value, path=()):
    """Every field of a method, however deep: its path, and what holds it."""
    for field in fields(value):
        one, own = getattr(value, field.name), (*path, field.name)
        if is_dataclass(one):
            yield from places(one, own)
        elif isinstance(one, tuple) and one and is_dataclass(one[0]):
            for i, each in enumerate(one):
                yield from places(each, (*own, str(i)))
        else:
            yield own, value


def at(value, path):
    for step in path:
        value = value[int(step)] if step.isdecimal() else getattr(value, step)
    return value


@pytest.mark.parametrize("name", ["agrag", "da_rag", "journey", "kurisu", "router"])
def test_every_number_of_a_recipe_can_be_set(name):
    method, changed = recipes.get(name), 0
    for path, _ in places(method):
        old = at(method, path)
        if isinstance(old, bool):
            new = str(not old).lower()
        elif isinstance(old, (int, float)):
            new = repr(old)
        else:
            continue
        try:
            other = with_settings(method, [f"{'.'.join(path)}={new}"])
        except ValueError as problem:
            if "is a" in str(problem):
                raise
            continue  # a stage's own check of two fields together
        assert at(other, path) == (not old if isinstance(old, bool) else old)
        assert type(at(other, path)) is type(old)
        changed += 1
    assert changed > 5


def test_a_setting_may_leave_out_the_place_where_there_is_one_that_fits():
    method = with_settings(
        recipes.get("enterprise"),
        ["select.max_reports=2", "spreads.0.exponent=4", "select.rest.lambda_mult=1"],
    )
    assert method.selects[0].max_reports == 2
    assert method.selects[0].rest.lambda_mult == 1.0
    assert isinstance(method.selects[0].rest.lambda_mult, float)
    assert method.spreads[0] == spread.Power(4.0)
    assert with_settings(method, ["select.level=1"]).selects[0].level == 1
    assert with_settings(method, ["select.level=fit"]).selects[0].level == "fit"
    assert with_settings(method, ["select.max_reports=none"]).selects[0].max_reports is None
    other = with_settings(method, ["seed=BM25"])
    assert other.seed == clew.seed.BM25()


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("select.varient=sum", "MCMI has no 'varient'; it has variant, max_steps"),
        ("select.max_steps=many", "select.max_steps is a whole number; got 'many'"),
        ("select.max_steps=2.5", "is a whole number; got 2.5"),
        ("select.max_steps=true", "is a whole number; got True"),
        ("select.variant=x", "select.variant: "),
        ("seed=MCMI", "seed is one of BM25, Blend"),
        ("seed=os.system", "seed is one of BM25"),
        ("seed.max_facts.x=1", "nothing below int"),
        ("selects.3.variant=sum", "places are 0 to 0"),
        ("select", "PATH=VALUE"),
        ("select.kinds=3", "in brackets"),
        ('select.kinds=["a", 3]', "select.kinds.1"),
        ("nothing.k=1", "Pipeline has no 'nothing'; it has seed, spreads"),
        ('select.variant="sum"\nuse="x"', "select.variant"),
    ],
)
def test_a_wrong_setting_says_what_there_is(setting, reason):
    with pytest.raises(ValueError) as caught:
        with_settings(recipes.get("agrag"), [setting])
    assert reason in str(caught.value)


def test_several_stages_of_one_kind_are_named_by_their_places():
    with pytest.raises(ValueError, match=r"spreads\.0 is Power, spreads\.1 is LocalPageRank"):
        with_settings(recipes.get("enterprise"), ["spread.damping_factor=1"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the recipe is one of DaRag, Pipeline, Router; there is no `use`"),
        ("use = [", "it is not TOML"),
        ('use = "Dense"', "the recipe is one of DaRag, Pipeline, Router; got 'Dense'"),
        ('use = "os.system"', "the recipe is one of"),
        ('use = "Path"', "the recipe is one of"),
        ('use = "Pipeline"', "Pipeline needs seed, order"),
        ('use = "Pipeline"\nseed = "BM25"\norder = "ByPrize"\nk = 1', "Pipeline has no 'k'"),
        ('use = "Pipeline"\nseed = "Top"\norder = "ByPrize"', "seed is one of BM25"),
        ('use = "Pipeline"\nseed = 3\norder = "ByPrize"', "seed is a table or a name; got 3"),
        ('use = "Pipeline"\norder = "ByPrize"\n[seed]\nuse = "BM25"\nk1 = "x"', "seed.k1 is a num"),
        ('use = "Pipeline"\norder = "ByPrize"\nseed = "BM25"\nselects = ["Power"]', "selects.0 is"),
        ("[" * 50_000, "TOML"),
        ("a = " + "[" * 50_000, "nested too deep"),
    ],
)
def test_a_wrong_file_says_what_there_is(text, reason, tmp_path):
    file = tmp_path / "my.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_recipe(str(file))
    assert reason in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["use", "seed", "order", "selects", "k", "kinds", "render"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_a_file_of_anything_is_a_method_or_one_clear_error(value):
    from clew.recipe_files import _from_table
    from clew.types import Method

    try:
        made = _from_table(value, Method, "", None)
    except ValueError:
        return
    assert type(made).__module__.startswith("clew.")


def test_a_stage_of_ones_own_cannot_be_written():
    class Own(spread.Power):
        pass

    with pytest.raises(ValueError, match="Own is not clew's own"):
        write_recipe(replace(recipes.get("enterprise"), spreads=(Own(2.0),)))
    text = write_recipe(replace(recipes.get("enterprise"), spreads=(spread.Power(math.pi),)))
    assert parse_recipe(text).spreads[0].exponent == math.pi


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_is_read_as_a_shell_of_windows_writes_it(tmp_path, encoding):
    file, method = tmp_path / "mine.toml", recipes.get("agentic")
    file.write_bytes(
        write_recipe(method, comment="Überblick").replace("\n", "\r\n").encode(encoding)
    )
    assert read_recipe(file) == method
