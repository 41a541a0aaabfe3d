"""Function words: by sentences that nobody wrote for a list of them."""

from __future__ import annotations

import pytest

from clew.text.function_words import FUNCTION_WORDS_OF, function_words_of
from clew.text.stems import STEMMERS
from clew.text.words import terms

QUESTIONS = {  # and the words that say what is asked
    "da": ("Hvordan ændrer jeg min adgangskode?", "ændrer adgangskode"),
    "de": ("Wie kann ich mein Passwort ändern?", "passwort ändern"),
    "en": ("Where are the keys of your boat?", "keys boat"),
    "es": ("¿Cómo puedo cambiar mi contraseña?", "cambiar contraseña"),
    "fr": ("Comment est-ce que je change l'adresse ?", "change adresse"),
    "it": ("Come posso cambiare la mia parola?", "cambiare parola"),
    "nl": ("Hoe kan ik mijn wachtwoord wijzigen?", "wachtwoord wijzigen"),
    "no": ("Hvordan kan jeg endre passordet mitt?", "endre passordet"),
    "pl": ("Jak mogę zmienić moje hasło?", "zmienić hasło"),
    "pt": ("Como posso mudar a minha senha?", "mudar senha"),
    "ru": ("Как я могу изменить мой пароль?", "изменить пароль"),
    "sv": ("Hur kan jag ändra mitt lösenord?", "ändra lösenord"),
}


@pytest.mark.parametrize("language", FUNCTION_WORDS_OF)
def test_what_is_left_of_a_question_says_what_is_asked(language):
    question, asked = QUESTIONS[language]
    left = [term for term in terms(question) if term not in function_words_of(language)]
    assert left == asked.split()


def test_every_function_word_is_a_term_of_a_language_that_is_stemmed():
    assert set(FUNCTION_WORDS_OF) <= set(STEMMERS)
    for words in FUNCTION_WORDS_OF.values():
        assert all(terms(word) == [word] for word in words)
