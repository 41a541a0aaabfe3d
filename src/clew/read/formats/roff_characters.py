"""The characters that roff writes by name, as groff_char(7) has them.

A letter with an accent follows a rule, and so does a character by its number.
"""

from __future__ import annotations

import re
import unicodedata

_TABLE = """
 lq “  rq ”  oq ‘  cq ’  aq '  dq "  bq ‚  Bq „  Fo «  Fc »  fo ‹  fc ›  ga `  aa ´  ha ^  ti ~
 em —  en –  hy -  mi −  pl +  eq =  mu ×  di ÷  +- ±  ** ∗  *  *  <= ≤  >= ≥  != ≠  == ≡  =~ ≅
 ap ∼  ~~ ≈  ~= ≈  pt ∝  es ∅  mo ∈  nm ∉  sb ⊂  sp ⊃  ib ⊆  ip ⊇  ca ∩  cu ∪  fa ∀  te ∃  AN ∧
 OR ∨  no ¬  is ∫  if ∞  pd ∂  gr ∇  sr √  sq □  ci ○  bu •  dd ‡  dg †  lz ◊  ps ¶  sc §  lh ☜
 rh ☞  at @  sh #  CR ↵  OK ✓  co ©  rg ®  tm ™  Do $  ct ¢  eu €  Eu €  Ye ¥  Po £  Cs ¤  Fn ƒ
 de °  %0 ‰  fm ′  sd ″  mc µ  Of ª  Om º  12 ½  14 ¼  34 ¾  18 ⅛  38 ⅜  58 ⅝  78 ⅞  S1 ¹  S2 ²
 S3 ³  <- ←  -> →  <> ↔  da ↓  ua ↑  va ↕  lA ⇐  rA ⇒  hA ⇔  dA ⇓  uA ⇑  an ⎯  ba |  bb ¦  br │
 ul _  ru _  rn ‾  sl /  rs \\  lB [  rB ]  lC {  rC }  la ⟨  ra ⟩  bv ⎪  braceex ⎪  r! ¡  r? ¿
 OE Œ  oe œ  AE Æ  ae æ  ss ß  /L Ł  /l ł  /O Ø  /o ø  -D Ð  Sd ð  TP Þ  Tp þ  ij ĳ  IJ Ĳ  .i ı
 .j ȷ  ff ff  fi fi  fl fl  Fi ffi  Fl ffl  a- ¯  a^ ^  a~ ~  ao ˚  ac ¸  ho ˛  ab ˘  a. ˙
 CL ♣  SP ♠  HE ♥  DI ♦  *A Α  *B Β  *G Γ  *D Δ  *E Ε  *Z Ζ  *Y Η  *H Θ  *I Ι  *K Κ  *L Λ  *M Μ
 *N Ν  *C Ξ  *O Ο  *P Π  *R Ρ  *S Σ  *T Τ  *U Υ  *F Φ  *X Χ  *Q Ψ  *W Ω  *a α  *b β  *g γ  *d δ
 *e ε  *z ζ  *y η  *h θ  *i ι  *k κ  *l λ  *m μ  *n ν  *c ξ  *o ο  *p π  *r ρ  *s σ  *t τ  *u υ
 *f ϕ  *x χ  *q ψ  *w ω  ts ς  +f φ  +h ϑ  +p ϖ  +e ϵ
 Ah ℵ  wp ℘  Re ℜ  Im ℑ  -h ℏ  hbar ℏ  pc ·  md ⋅  c* ⊗  c+ ⊕  pp ⊥  tf ∴  sqrt √  sum ∑
 product ∏  integral ∫  lf ⌊  rf ⌋  lc ⌈  rc ⌉  lk { rk }  radicalex ‾  u2026 …
"""
_NAMED = dict(zip(_TABLE.split()[::2], _TABLE.split()[1::2], strict=True))
_ACCENTS = {  # the first sign of a name, and the accent that it puts on the letter behind it
    "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", ":": "\u0308",
    ",": "\u0327", "o": "\u030a", "v": "\u030c",
}  # fmt: skip
_HEXADECIMAL = re.compile(r"u([0-9A-Fa-f]{4,6})((?:_[0-9A-Fa-f]{4,6}){0,4})")
_LARGEST = 0x10FFFF


def named_character(name: str) -> str:
    r"""Return the character of a name, such as "bu" in `\(bu`; the empty text for an unknown one.

    Example:
        >>> [named_character(name) for name in ("bu", ":u", "u2019", "no such name")]
        ['•', 'ü', '’', '']
    """
    if known := _NAMED.get(name):
        return known
    if code := _HEXADECIMAL.fullmatch(name):
        return "".join(map(numbered_character, map(_number, [code[1], *code[2].split("_")[1:]])))
    if name[:4] == "char" and name[4:].isdecimal() and len(name) <= len("char1114111"):
        return numbered_character(int(name[4:]))
    accent = _ACCENTS.get(name[:1])
    if accent and name[1:].isalpha() and len(name) == len("'e"):
        return unicodedata.normalize("NFC", name[1] + accent)
    return name if len(name) == 1 else ""


def numbered_character(number: int) -> str:
    """Return the character of a number in Unicode; the empty text where a text can have none."""
    if number > _LARGEST:
        return ""
    character = chr(number)
    return "" if unicodedata.category(character) in ("Cc", "Cs") else character


def _number(digits: str) -> int:
    return int(digits, 16)
