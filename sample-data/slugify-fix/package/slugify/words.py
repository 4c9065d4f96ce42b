"""Words: splitting a text, dropping stop words, fitting a length."""

import re

_WORD = re.compile(r"[A-Za-z0-9]+")


def split_words(text):
    """Return the runs of letters and digits in an ASCII text, in order."""
    return _WORD.findall(text)


def drop_stop_words(words, stop_words):
    """Return the words that are not stop words (compared without case).

    If nothing would be left, the words come back as they were: a title made
    of stop words alone still needs a slug.
    """
    stop = {word.lower() for word in stop_words}
    rest = [word for word in words if word.lower() not in stop]
    return rest or list(words)


def fit_words(words, max_length, separator="-"):
    """Return the leading words whose joined length is at most max_length.

    A max_length of 0 means no limit. If the first word alone is too long, it
    is cut to max_length, so that the result is never empty.
    """
    if not max_length:
        return list(words)
    kept = []
    length = 0
    for word in words:
        length += len(word) + len(separator)
        if length > max_length:
            break
        kept.append(word)
    return kept
