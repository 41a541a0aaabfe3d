"""Thanks, greetings and assent: what people write in a chat that asks for nothing.

The words are those of thirteen languages.
"""

from __future__ import annotations

from clew.text.words import words

COURTEOUS = (
    *("thanks", "thank you", "thx", "cheers", "ok", "okay", "hello", "hi", "hey", "bye", "goodbye"),
    *("danke", "danke schön", "vielen dank", "hallo", "tschüss", "dank je", "dank u", "bedankt"),
    *("merci", "bonjour", "au revoir", "gracias", "hola", "adiós", "obrigado", "obrigada", "olá"),
    *("grazie", "ciao", "спасибо", "привет", "дякую", "привіт", "ευχαριστώ", "γεια"),
    *(
        "شكرا",
        "شكراً",
        "مرحبا",
        "धन्यवाद",
        "नमस्ते",
        "谢谢",
        "謝謝",
        "你好",
        "ありがとう",
        "こんにちは",
    ),
)
AROUND = frozenset(
    # What stands around such words: "Thank you very much for your help!", "Great, thanks."
    """very much so a lot for your the help again all there great good fine perfect
    sehr gut prima super für die hilfe beaucoup bien muchas muy bien por la ayuda
    muito mille molto tante большое 你 您 お ご ざ い ま す""".split()  # noqa: SIM905 (read as a text)
)
MAX_WORDS, MAX_SIGNS = 12, 200
PHRASES = sorted((tuple(words(one)) for one in COURTEOUS), key=len, reverse=True)


def is_courtesy(text: str) -> bool:
    """Return whether a text only thanks, greets or assents, and asks for nothing.

    Example:
        >>> is_courtesy("Great, thank you very much!"), is_courtesy("OK."), is_courtesy("谢谢你！")
        (True, True, True)
        >>> is_courtesy("Thanks, and where is Ben?"), is_courtesy("Great"), is_courtesy("")
        (False, False, False)
    """
    said, is_said = words(text[:MAX_SIGNS]), False
    if len(text) > MAX_SIGNS or len(said) > MAX_WORDS:
        return False
    while said:
        phrase = next((one for one in PHRASES if tuple(said[: len(one)]) == one), ())
        is_said = is_said or bool(phrase)
        if not phrase and said[0] not in AROUND:
            return False
        said = said[max(1, len(phrase)) :]
    return is_said
