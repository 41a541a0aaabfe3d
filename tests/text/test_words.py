"""Words in the scripts of the world."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.numbering import Numbering
from clew.text.words import (
    BOUNDARY,
    CODE_NAME,
    IDEOGRAPHS,
    OTHER_SCRIPT,
    PLAIN_WORD,
    UNSPACED,
    _names_and_parts,
    _split,
    _word_pattern,
    _words_and_pairs,
    cased_words,
    find_cased_words,
    fold_case,
    number_runs,
    number_words,
    terms,
    terms_of_all,
    terms_of_run,
    words,
    words_of_all,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The cat's Straße, naïve: 42nd_try",
            ["the", "cat", "s", "strasse", "naïve", "42nd", "try"],
        ),
        ("Ｆｕｌｌ ｗｉｄｔｈ ﬁne", ["full", "width", "fine"]),
        ("nai\u0308ve", ["naïve"]),
        ("Всё о Москве!", ["всё", "о", "москве"]),
        ("Αθήνα, ΣΟΦΟΣ σοφός", ["αθήνα", "σοφοσ", "σοφόσ"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مَرْحَبًا بالعالم", ["مَرْحَبًا", "بالعالم"]),
        ("北京在中国", ["北", "京", "在", "中", "国"]),
        ("東京タワーに行く", list("東京タワーに行く")),
        ("𠀀𪜶 B細胞", ["𠀀", "𪜶", "b", "細", "胞"]),
        ("한국어 공부", ["한국어", "공부"]),
        ("ภาษาไทย ดี", ["ภาษาไทย", "ดี"]),
        ("GPT-4o 3.5%", ["gpt", "4o", "3", "5"]),
        ("🙂 👍🏽 … — ?!", []),
        ("", []),
        (" \t\n", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_scripts_that_are_read_without_tables_have_no_mark_and_no_sign_without_spaces():
    special = re.compile(f"[{UNSPACED}{IDEOGRAPHS}]")
    plain = [sign for sign in map(chr, range(0x110000)) if not OTHER_SCRIPT.match(sign)]
    assert len(plain) > 4000
    assert not [
        sign for sign in plain if unicodedata.category(sign)[0] == "M" or special.match(sign)
    ]
    assert {unicodedata.category(sign) for sign in map(chr, range(0x300, 0x370))} == {"Mn"}


def test_a_text_with_accents_alone_is_read_without_the_tables_of_all_scripts(monkeypatch):
    monkeypatch.setattr("clew.text.words._unspaced_or_mark", None)
    assert words("It\u00b4s na\u0308\u0301ive, x\u0302 is") == ["it", "\u0301s", "nä́ive", "x̂", "is"]


def test_composed_and_decomposed_are_one_word():
    assert words("ἈΘΗ͂ΝΑΙ") == words("Ἀθῆναι".lower())
    assert words("é ガ") == words("e\u0301 カ\u3099")


def test_folded_texts_are_compared_without_case_width_and_spacing():
    assert fold_case("  Straße\n\tＡ ") == fold_case("STRASSE a") == "strasse a"


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_latin_is_read_as_all_else_is(text):
    assert words(text) == words(text + " é")[:-1]


@given(st.text())
def test_words_are_stable(text):
    """What is a word stays one, by itself and beside others."""
    assert words(" ".join(words(text))) == words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京在中", ["北", "北京", "京", "京在", "在", "在中", "中"]),
        ("海", ["海"]),
        ("タワーに行く", ["タワ", "ワー", "ーに", "に行", "行", "行く"]),
        ("の b の", ["の", "b", "の"]),
        ("ภาษาไทย ดี", ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย", "ดี"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("ខ្មែរ", ["ខ្មែ", "មែរ"]),
        ("Ｂ細胞 ΣΟΦΟΣ", ["b", "細", "細胞", "胞", "σοφοσ"]),
        ("read_path", ["read", "path", "read_path"]),
        ("parseXMLFile2", ["parsexmlfile2", "parse", "xml", "file", "2"]),
        ("HTTPResponse", ["httpresponse", "http", "response"]),
        ("NASA met Anna", ["nasa", "met", "anna"]),
        ("", []),
    ],
)
def test_terms(text, expected):
    assert terms(text) == expected


@given(
    st.text(
        st.characters(categories=("L", "N", "P", "Z"), max_codepoint=0x0DFF).filter(
            lambda sign: not sign.isupper()
        )
    )
)
def test_terms_are_words_where_space_is_put_between_them(text):
    assert [term for term in terms(text) if "_" not in term] == words(text)


def test_every_letter_digit_and_mark_of_unicode_is_in_a_word():
    signs = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    wanted = [
        sign for sign in signs if sign.isalnum() or unicodedata.category(sign) in ("Mn", "Mc", "Me")
    ]
    pattern = _word_pattern(has_higher_planes=True)
    assert [sign for sign in wanted if not pattern.fullmatch(sign)] == []


def test_between_letters_every_sign_of_unicode_is_read_by_the_pattern_of_a_word():
    """Most texts are read by a quicker pattern, which has to find the same words."""
    signs = map(chr, (*range(0xD800), *range(0xE000, 0x32000), *range(0xE0000, 0xE1000)))
    pattern = _word_pattern(has_higher_planes=True)
    wrong = [sign for sign in signs if _split(f"a{sign}b") != pattern.findall(f"a{sign}b")]
    assert wrong == []


@given(st.text(st.sampled_from("ab1_ é\u0301ßд文カไก\u0e31🙂\ufe0f¶―")))
def test_signs_side_by_side_are_read_by_the_pattern_of_a_word(text):
    assert _split(text) == _word_pattern(has_higher_planes=True).findall(text)
    if not set(text) & set("文カไก\u0e31"):
        assert _words_and_pairs(text) == _word_pattern(has_higher_planes=True).findall(text)


@given(st.text(st.sampled_from("aBcD1_ .-éß中"), max_size=40), st.booleans())
def test_words_and_names_of_code_are_those_of_expressions(text, long):
    """By the definition: runs of letters and digits, and every run of code looked at."""
    text = text.replace("a", "a" * 150) if long else text
    if text.isascii():
        assert words(text) == re.findall("[a-z0-9]{1,256}", text.lower())
        assert cased_words(text) == re.findall("[A-Za-z0-9]{1,256}", text)
    runs = [run for run in CODE_NAME.findall(text) if len(run) <= 256]
    named = [term for run in runs for term in _names_and_parts(run)]
    assert terms(text) == terms(text, identifiers=False) + named


def test_the_quick_pattern_knows_the_letters_and_digits_of_its_scripts() -> None:
    signs = [sign for sign in map(chr, range(0x110000)) if not OTHER_SCRIPT.search(sign)]
    letters = {sign for sign in signs if sign.isalnum()}
    assert {"a", "é", "Ω", "ж", "ֆ", "7", "²"} <= letters
    assert {sign for sign in signs if PLAIN_WORD.fullmatch(sign)} == letters


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.text("aBC_1 é\x01…北ｆ\u0130\u0301", max_size=12),
            st.sampled_from(["parseXMLFile", "read_path", "x" * 300, "Öst og vest", ""]),
        ),
        max_size=8,
    )
)
def test_words_and_terms_of_many_texts_are_those_of_each(texts):
    for _ in range(2):  # found, and kept
        assert list(map(list, words_of_all(texts))) == list(map(words, texts))
        assert list(map(list, terms_of_all(texts))) == list(map(terms, texts))


@given(st.lists(st.text("aB é\x01._1", max_size=12), max_size=70), st.sets(st.integers(0, 69)))
def test_words_of_plain_texts_are_numbered_as_they_come(texts, long):
    texts = [text.replace("a", "a" * 200) if i in long else text for i, text in enumerate(texts)]
    number_of = Numbering({BOUNDARY: 0})
    found, every = number_words(texts, number_of), list(number_of)
    read = [[every[n] for n in found.numbers[found.owners == i]] for i in range(len(texts))]
    for i, text in enumerate(texts):
        is_plain = text.isascii() and BOUNDARY not in text
        is_read = is_plain and max(map(len, cased_words(text)), default=0) < 256
        if i in found.others:
            assert read[i] == []
            assert not is_read
        else:
            assert read[i] == cased_words(text)


@given(st.text("aBcD1_", min_size=1, max_size=12))
def test_terms_of_a_run_are_those_of_a_text_that_is_nothing_else(run):
    own, names = terms_of_run(run)
    assert own + names == terms(run)
    number_of = Numbering({BOUNDARY: 0})
    number_runs([run], number_of)
    assert list(number_of)[1:] == [run]


@given(st.lists(st.text("aBé 1.İ北", max_size=9), max_size=5), st.data())
def test_some_of_the_words_that_were_found_are_read_by_their_numbers(texts, data):
    found = find_cased_words(texts)
    every = found.all_words()
    numbers = data.draw(
        st.lists(st.integers(0, len(every) - 1), max_size=9) if every else st.just([])
    )
    assert found.words(numbers) == [every[i] for i in numbers]
