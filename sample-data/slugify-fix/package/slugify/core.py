"""The public functions: slugify and unique_slug."""

import unicodedata

from slugify.words import drop_stop_words, fit_words, split_words

# Letters that do not decompose into a base letter plus a mark.
LETTERS = {
    "ß": "ss",
    "æ": "ae",
    "Æ": "Ae",
    "ø": "o",
    "Ø": "O",
    "ð": "d",
    "Ð": "D",
    "đ": "d",
    "Đ": "D",
    "ħ": "h",
    "Ħ": "H",
    "ł": "l",
    "Ł": "L",
    "þ": "th",
    "Þ": "Th",
    "œ": "oe",
    "Œ": "Oe",
    "ŋ": "n",
    "Ŋ": "N",
    "ı": "i",
}

# Signs that are read aloud, and so become words of their own.
SIGNS = {
    "@": " at ",
    "&": " and ",
    "+": " plus ",
    "%": " percent ",
    "€": " euro ",
    "£": " pound ",
}

_TABLE = str.maketrans({**LETTERS, **SIGNS})


def to_ascii(text):
    """Return the text in ASCII: known letters and signs spelled out, marks dropped."""
    text = text.translate(_TABLE)
    text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "ignore").decode("ascii")


def _words(text, stop_words, lowercase):
    text = to_ascii(text)
    if lowercase:
        text = text.lower()
    # An apostrophe joins: "don't" is one word.
    words = split_words(text.replace("'", ""))
    return drop_stop_words(words, stop_words)


def slugify(
    text,
    *,
    separator="-",
    max_length=0,
    stop_words=(),
    lowercase=True,
):
    """Return a slug of the text, at most max_length characters long.

    separator   what stands between two words; may have any length
    max_length  the limit, separators included; 0 means no limit
    stop_words  words to leave out, if other words remain
    lowercase   turn False to keep capitals
    """
    words = _words(text, stop_words, lowercase)
    words = fit_words(words, max_length, separator)
    return separator.join(words)


def unique_slug(
    text,
    taken,
    *,
    separator="-",
    max_length=0,
    stop_words=(),
    lowercase=True,
):
    """Return a slug that is not in taken: a number is added when needed.

    The number counts towards max_length: the words in front of it make room.
    """
    words = _words(text, stop_words, lowercase)
    slug = separator.join(fit_words(words, max_length, separator))
    number = 2
    while slug in taken:
        suffix = f"{separator}{number}"
        room = max_length - len(suffix) if max_length else 0
        if max_length and room < 1:
            raise ValueError(f"max_length {max_length} leaves no room for {suffix!r}")
        slug = separator.join(fit_words(words, room, separator)) + suffix
        number += 1
    return slug
