"""One spelling for words that British and American English write differently.

A question about "colour" is answered by a text about "color", and a stemmer tells the two apart; of
"organise" and "optimise" it leaves other stems than of "organize" and "optimize". So British words
are respelled before they are stemmed, in texts and in questions alike. What is no word of either
in the end does no harm, as long as it is the same for both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Before "our": colour, colourful, multicoloured, neighbourhood, unfavourable; not four or contour.
_BEFORE_OUR = """arb ard arm behavi cand clam col demean endeav enam fav ferv flav glam harb hon hum
    lab misdemean neighb od parl ranc rig rum sav savi splend succ tum val vap vig"""

# Before "ise" in words that America spells so, too. What ends in a vowel or in w is not meant
# either (raise, bruise, likewise), nor what is shorter than three letters (arise, wise).
_BEFORE_ISE = """advert adv appr chast chem circumc compr conc dem desp dev disgu enterpr exc exerc
    expert franch improv inc merchand mort parad pract prec prem prom repr rev sunr superv surm
    surpr telev treat upr val"""

# Before "re", behind which may be d or s: centre, kilometres, fibre, centred.
_BEFORE_RE = "calib cent fib lit lust maneuv meag met mit reconnoit sab somb spect theat tit"

_BEGINNINGS = {
    "aeroplane": "airplane",
    "aluminium": "aluminum",
    "anaem": "anem",
    "anaesth": "anesth",
    "archaeolog": "archeolog",
    "artefact": "artifact",
    "cypher": "cipher",
    "diarrhoea": "diarrhea",
    "encyclopaed": "encycloped",
    "enquir": "inquir",
    "focuss": "focus",
    "foet": "fet",
    "greyscale": "grayscale",
    "gynaec": "gynec",
    "haem": "hem",
    "judgement": "judgment",
    "leukaem": "leukem",
    "manoeuvr": "maneuvr",
    "mould": "mold",
    "moustache": "mustache",
    "oesophag": "esophag",
    "oestrogen": "estrogen",
    "orthopaed": "orthoped",
    "paediatr": "pediatr",
    "plough": "plow",
    "practis": "practic",
    "pyjama": "pajama",
    "sceptic": "skeptic",
    "skilful": "skillful",
    "sulph": "sulf",
    "wilful": "willful",
}

_WORDS = {
    "adaptor": "adapter",
    "adaptors": "adapters",
    "burnt": "burned",
    "cosy": "cozy",
    "dreamt": "dreamed",
    "grey": "gray",
    "greyed": "grayed",
    "greys": "grays",
    "learnt": "learned",
    "manoeuvring": "maneuvering",
    "programme": "program",
    "programmes": "programs",
    "spoilt": "spoiled",
}


def _any_of(listed: str) -> str:
    return "|".join(listed.split())


# The letters that each rule is about, a pattern of words, and what these become.
_RULES = (
    ("our", re.compile(rf"((?:{_any_of(_BEFORE_OUR)})o)u(?=r)"), r"\1"),
    (
        "is",
        re.compile(
            rf"^(?!\w*(?:[aeouw]|{_any_of(_BEFORE_ISE)})is)(\w{{3,}}i)s"
            r"(e[ds]?|ers?|ing|able|ability|ational|ations?)$"
        ),
        r"\1z\2",
    ),
    ("lys", re.compile(r"^(\w+ly)s(e[ds]?|ers?|ing)$"), r"\1z\2"),
    ("re", re.compile(rf"^(\w*?(?:{_any_of(_BEFORE_RE)}))re(s?)$"), r"\1er\2"),
    ("red", re.compile(rf"^((?:{_any_of(_BEFORE_RE)}))red$"), r"\1ered"),
    ("ogu", re.compile(r"^(\w*(?:anal|catal|dial|homol)og)u(?:(ed|ing)|e(s?))$"), r"\1\2\3"),
    ("enc", re.compile(r"^((?:def|lic|off|pret)en)c(e[ds]?|ing)$"), r"\1s\2"),
)
_BEGINNING = re.compile("|".join(_BEGINNINGS))
_FIRST_LETTERS = frozenset(beginning[:3] for beginning in _BEGINNINGS)


def american(word: str) -> str:
    """Return a word as it is spelt in America; any other as it is.

    Args:
        word: A word, casefolded.

    Example:
        >>> [american(word) for word in "colourful organisation centred catalogues grey".split()]
        ['colorful', 'organization', 'centered', 'catalogs', 'gray']
        >>> [american(word) for word in "four supervised metric dialog raised".split()]
        ['four', 'supervised', 'metric', 'dialog', 'raised']
    """
    if (known := _WORDS.get(word)) is not None:
        return known
    beginning = _BEGINNING.match(word)
    if beginning is not None:
        word = _BEGINNINGS[beginning[0]] + word[beginning.end() :]
    for letters, pattern, instead in _RULES:
        if letters in word:
            word = pattern.sub(instead, word)
    return word


def in_one_spelling(words: Iterable[str]) -> list[str]:
    """Return what `american` does of each word, soon where it is not respelled, as most.

    Args:
        words: Words, casefolded.

    Example:
        >>> in_one_spelling(["the", "harbour"])
        ['the', 'harbor']
    """
    return [
        american(word)
        if "is" in word
        or "re" in word
        or "our" in word
        or "enc" in word
        or "lys" in word
        or "ogu" in word
        or word[:3] in _FIRST_LETTERS
        or word in _WORDS
        else word
        for word in words
    ]
