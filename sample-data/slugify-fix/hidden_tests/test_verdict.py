"""The verdict: what the issue asks for, and what must not change.

Agents never see this file. It runs against the workspace an agent leaves.
"""

import itertools

import pytest

from slugify import slugify, unique_slug
from slugify.words import fit_words


@pytest.mark.parametrize("separator", ["-", "_", "--", " / ", ""])
def test_a_word_that_fits_exactly_is_kept(separator):
    words = ["hello", "big", "world"]
    two = len("hello") + len(separator) + len("big")
    three = two + len(separator) + len("world")
    assert fit_words(words, two, separator) == ["hello", "big"]
    assert fit_words(words, three - 1, separator) == ["hello", "big"]
    assert fit_words(words, three, separator) == words


def test_the_issue_examples():
    assert slugify("Hello big world", max_length=9) == "hello-big"
    assert slugify("Internationalization", max_length=8) == "internat"
    assert unique_slug("Hello big", {"hello-big"}, max_length=11) == "hello-big-2"


def test_a_long_first_word_is_cut_and_stands_alone():
    assert fit_words(["internationalization", "is", "hard"], 8) == ["internat"]
    assert unique_slug("Internationalization", {"internat"}, max_length=8) == "intern-2"


def test_no_words_stay_no_words():
    assert fit_words([], 5) == []
    assert slugify("!!!", max_length=5) == ""


def test_never_longer_than_the_limit_and_never_shorter_than_it_could_be():
    vocabulary = ["a", "bc", "def", "ghijk"]
    for words in itertools.permutations(vocabulary, 3):
        for separator in ("-", "--", "+++"):
            for limit in range(1, 16):
                kept = fit_words(list(words), limit, separator)
                assert len(separator.join(kept)) <= limit
                more = list(words[: len(kept) + 1])
                if len(more) > len(kept):
                    assert len(separator.join(more)) > limit


def test_a_number_without_room_is_an_error():
    with pytest.raises(ValueError):
        unique_slug("Hello", {"h"}, max_length=1)


def test_no_limit():
    assert fit_words(["one", "two"], 0, "--") == ["one", "two"]
    assert unique_slug("One two", {"one-two", "one-two-2"}) == "one-two-3"


def test_stop_words_and_limit_together():
    assert slugify("The end of the line", stop_words={"the", "of"}, max_length=8) == "end-line"
