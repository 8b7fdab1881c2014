"""Characters of a text layer in one form: ligatures, spaces, hyphens and minus signs of an archive's pages; letters
without their marks."""

import re
import unicodedata

#: Compatible forms that are the same characters; superscripts and fractions stay, as 4,210¹ is not 4,2101.
SAME_FORM = ("<compat>", "<noBreak>", "<wide>", "<narrow>", "<font>")
JOINED = re.compile(r"(?<=[^\W\d_])\u00ad[ \u00a0]*\n?(?=[^\W\d_])|[\u200b-\u200d\u2060\ufeff]")
#: A space within a number, such as 4 210, stays a no-break space, so that a reader can tell it from columns.
GROUPS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
SOFT_MINUS = re.compile(r"\u00ad(?=[\d$€£¥.])")
SIGNS = str.maketrans({"\u2010": "-", "\u2011": "-", "\u2212": "-", "\u00ad": None, "\u2028": "\n", "\u2029": "\n"})
MARKED = re.compile(r"[^\x00-\x7f]")
#: Letters that Unicode does not decompose.
PLAIN_LETTERS = dict(zip("øłđðþıØŁĐÐÞ", "olddtiOLDDT", strict=True))
PLAIN_LETTERS |= {"æ": "ae", "œ": "oe", "ß": "ss", "Æ": "AE", "Œ": "OE", "ẞ": "SS"}


def plain(text: str) -> str:
    """A text with plain letters, spaces, hyphens and minus signs; words that a soft hyphen breaks are joined."""
    if text.isascii():
        return text
    joined = SOFT_MINUS.sub("-", JOINED.sub("", unicodedata.normalize("NFC", text)))
    parts = [MARKED.sub(lambda match: _same_form(match[0]), part).translate(SIGNS) for part in GROUPS.split(joined)]
    return unicodedata.normalize("NFC", "\u00a0".join(parts))


def _same_form(letter: str) -> str:
    """The plain form of a character; a mark that stands alone stays."""
    form, *points = unicodedata.decomposition(letter).split() or ("",)
    is_mark = len(points) > 1 and points[0] == "0020"
    return unicodedata.normalize("NFKC", letter) if form in SAME_FORM and not is_mark else letter


def unaccented(text: str) -> str:
    """A text whose letters have no marks and no ligatures: ``Nestelé`` as ``Nestele``; other characters stay."""
    if text.isascii():
        return text
    return "".join(map(_unaccented, text))


def _unaccented(letter: str) -> str:
    if letter.isascii() or not (letter.isalpha() or unicodedata.combining(letter)):
        return letter
    parts = unicodedata.normalize("NFKD", PLAIN_LETTERS.get(letter, letter))
    return "".join(part for part in parts if not unicodedata.combining(part))
