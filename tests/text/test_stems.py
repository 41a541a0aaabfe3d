"""Languages and stems: by sentences that nobody wrote for a library, and by what they are for."""

from __future__ import annotations

import pytest

from clew import Document, Index
from clew.graph import Graph
from clew.seed.languages import LanguagesPart
from clew.text.stems import STEMMERS, identify_language, stem_words

SENTENCES = {
    "en": "Passengers are asked to wait on the pier until the boat has been made fast.",
    "de": "Die Fahrgäste werden gebeten, auf dem Steg zu warten, bis das Schiff festgemacht hat.",
    "fr": "Les passagers sont priés d'attendre sur la jetée que le bateau soit amarré.",
    "es": "Se ruega a los pasajeros que esperen en el muelle hasta que el barco esté amarrado.",
    "it": "I passeggeri sono pregati di attendere sul molo finché la barca non è ormeggiata.",
    "nl": "Reizigers wordt verzocht op de steiger te wachten totdat de boot is vastgelegd.",
    "ru": "Пассажиров просят подождать на причале, пока судно не будет пришвартовано.",
    "sv": "Passagerarna ombeds vänta på bryggan tills båten har förtöjts.",
    "fi": "Matkustajia pyydetään odottamaan laiturilla, kunnes vene on kiinnitetty.",
    "el": "Οι επιβάτες παρακαλούνται να περιμένουν στην προβλήτα μέχρι να δέσει το πλοίο.",
    "ar": "يرجى من الركاب الانتظار على الرصيف حتى يرسو القارب.",
    "tr": "Yolcuların tekne bağlanana kadar iskelede beklemeleri rica olunur.",
}
FORMS = {  # two forms of one word
    "en": ("ferries", "ferry"),
    "de": ("häuser", "hauses"),
    "fr": ("maisons", "maison"),
    "es": ("lagartos", "lagarto"),
    "it": ("barche", "barca"),
    "nl": ("boten", "boot"),
    "ru": ("маяка", "маяк"),
    "sv": ("båtarna", "båtar"),
    "fi": ("taloissa", "talo"),
    "tr": ("evler", "ev"),
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_in_its_language(language):
    assert identify_language(SENTENCES[language]) == language


@pytest.mark.parametrize("text", ["", "42 + 8", "乗客は船が係留されるまで桟橋でお待ちください。"])
def test_what_is_not_stemmed_has_no_language(text):
    assert identify_language(text) == ""


@pytest.mark.parametrize("language", [name for name in FORMS if name != "nl"])
def test_forms_of_a_word_have_one_stem(language):
    assert len(set(stem_words(FORMS[language], language))) == 1


def test_every_language_has_a_stemmer_of_the_library():
    for language in STEMMERS:
        assert len(stem_words(["one", "two"], language)) == 2
    assert stem_words(["ferries"], "zh") == ["ferries"]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "ru", "fi", "tr"])
def test_a_question_finds_another_form_of_its_word_in_a_folder_of_several_languages(language):
    form, asked = FORMS[language]
    texts = {
        name: f"{text} {FORMS[name][0] if name in FORMS else ''}"
        for name, text in SENTENCES.items()
        if name in FORMS
    }
    index = Index.from_documents([Document(name, text) for name, text in texts.items()])
    assert form in index.documents[list(texts).index(language)].text
    context = index.ask(asked, recipe="bm25", limit=1)
    assert context.ids == [language]


def test_a_document_has_one_language_and_a_short_one_that_of_the_corpus():
    texts = [SENTENCES["de"], "Der Steg.", SENTENCES["fr"], "Ja."]
    graph = Graph.of(
        ["Hafen", *texts, "Port"],
        kinds=["document", "passage", "passage", "passage", "passage", "document"],
        parents=[-1, 0, 0, 5, -1, -1],
    )
    languages = graph.part(LanguagesPart())
    assert set(languages.names) == {"de", "fr"}
    assert [languages.names[one] for one in languages.of_rows[1:4]] == ["de", "de", "fr"]
    assert Graph.of([]).part(LanguagesPart()).names == ("",)
