import pytest

from slugify import slugify, unique_slug


def test_plain_title():
    assert slugify("Hello, Big World!") == "hello-big-world"


@pytest.mark.parametrize(
    "text, slug",
    [
        ("Smörgåsbord", "smorgasbord"),
        ("Straße nach Łódź", "strasse-nach-lodz"),
        ("100% me@home", "100-percent-me-at-home"),
        ("Don't stop", "dont-stop"),
    ],
)
def test_letters_and_signs(text, slug):
    assert slugify(text) == slug


def test_stop_words():
    assert slugify("The Lord of the Rings", stop_words={"the", "of"}) == "lord-rings"


def test_keeps_capitals_when_asked():
    assert slugify("Hello World", separator="_", lowercase=False) == "Hello_World"


def test_max_length_stops_between_words():
    assert slugify("Hello big world", max_length=8) == "hello"


def test_max_length_keeps_a_word_that_fits_exactly():
    assert slugify("Hello big world", max_length=9) == "hello-big"


def test_unique_slug_counts_up():
    taken = {"hello", "hello-2"}
    assert unique_slug("Hello", taken) == "hello-3"
