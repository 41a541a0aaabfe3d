"""One spelling: by pairs that dictionaries list, by real text, and by answers."""

from __future__ import annotations

import inspect
import re

import pytest

import clew
from clew.seed import bm25
from clew.seed._kept_stems import KeptStems
from clew.text import stems
from clew.text.spelling import american, in_one_spelling
from clew.text.stems import stem_words

PAIRS = """
    colour color, coloured colored, favourites favorites, neighbourhood neighborhood,
    behavioural behavioral, unfavourable unfavorable, honouring honoring, watercolour watercolor,
    labour labor, armour armor, rumours rumors, tumour tumor, harbour harbor, humour humor,
    organise organize, organised organized, organisation organization, recognising recognizing,
    customisable customizable, initialiser initializer, serialisation serialization,
    optimise optimize, minimises minimizes, utilise utilize, normalised normalized,
    colourise colorize, vapourised vaporized, unorganised unorganized,
    analyse analyze, analysed analyzed, analyser analyzer, paralysing paralyzing,
    centre center, centred centered, epicentres epicenters, theatre theater, fibres fibers,
    kilometre kilometer, millilitres milliliters, sombre somber, calibre caliber,
    catalogue catalog, catalogued cataloged, cataloguing cataloging, dialogues dialogs,
    licence license, defences defenses, offence offense, pretence pretense, practise practice,
    grey gray, artefact artifact, aluminium aluminum, sceptical skeptical, mouldy moldy,
    manoeuvre maneuver, manoeuvres maneuvers, manoeuvring maneuvering, ploughed plowed,
    paediatric pediatric, anaesthesia anesthesia, haemoglobin hemoglobin, foetus fetus,
    encyclopaedia encyclopedia, archaeology archeology, diarrhoea diarrhea, sulphur sulfur,
    programme program, judgement judgment, learnt learned, focussed focused, skilful skillful
"""
# Other words, in which the same letters stand: they are spelt so everywhere.
OTHERS = """
    four hour your tour contour devour flour source course courage journal tourist
    raised supervised exercises advised revising promise otherwise likewise noises premises
    enterprise surprised franchise paradise precise concise arising advertise advertising
    improvised disguised compromise comprises expertise merchandise televised mortise treatise
    acre massacre genre cadre mediocre there hire wired require stored centered red metric
    league colleague vogue tongue intrigue fence hence science sentence absence reference
    basis analysis crisis list issue isolate visible edition division promisor greyhound
"""
TEXT = "The color of every button is organized by the center of the dialog."


def test_british_words_have_the_stems_of_american_ones():
    for pair in PAIRS.split(","):
        assert len(set(stem_words(pair.split(), "en"))) == 1, pair


def test_other_words_stay_as_they_are():
    assert in_one_spelling(OTHERS.split()) == OTHERS.split()


def test_what_is_respelled_is_not_respelled_again():
    listed = sorted(set(re.findall("[a-z]+", inspect.getdoc(clew) or "" + PAIRS + OTHERS)))
    once = in_one_spelling(listed)
    assert in_one_spelling(once) == once == [american(word) for word in listed]


def test_other_languages_keep_their_words():
    assert stem_words(["favoris", "centre"], "fr") == ["favor", "centr"]


@pytest.mark.parametrize("recipe", ["bm25", "hipporag"])
def test_a_question_is_answered_in_the_other_spelling(recipe):
    others = [
        f"Ferry {i} leaves the island at nine and is back before the night." for i in range(9)
    ]
    for text, question in [(TEXT, "colour"), (TEXT, "organise"), (TEXT, "centre")]:
        index = clew.Index.from_documents([clew.Document("it", text), *others])
        assert [item.id for item in index.ask(question, recipe=recipe)][:1] == ["it"]
    british = TEXT.replace("color", "colour").replace("center", "centre").replace("zed", "sed")
    index = clew.Index.from_documents([clew.Document("it", british), *others])
    for question in ("color", "organize", "center"):
        assert [item.id for item in index.ask(question, recipe=recipe)][:1] == ["it"]


def test_an_index_from_before_finds_the_words_that_it_has(tmp_path, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(stems, "in_one_spelling", list)
        before.setattr(bm25, "KEPT_STEMS", KeptStems())  # other tests have left words in it
        stems._kept_stems.cache_clear()
        documents = [clew.Document("uk", "Organise the centre."), clew.Document("us", "A center.")]
        clew.Index.from_documents(documents).save(tmp_path / "index")
    stems._kept_stems.cache_clear()
    index = clew.Index.load(tmp_path / "index")
    assert [item.id for item in index.ask("organise", recipe="bm25")] == ["uk"]
    index = index.add([clew.Document("new", "To organise means to put in order.")])
    assert {item.id for item in index.ask("organise", recipe="bm25")} == {"uk", "new"}
