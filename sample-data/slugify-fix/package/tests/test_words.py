from slugify.words import drop_stop_words, fit_words, split_words


def test_split_words():
    assert split_words("one, two  three-4") == ["one", "two", "three", "4"]


def test_drop_stop_words():
    assert drop_stop_words(["The", "end"], {"the"}) == ["end"]


def test_drop_stop_words_never_drops_all():
    assert drop_stop_words(["the"], {"the"}) == ["the"]


def test_fit_words_without_limit():
    assert fit_words(["one", "two"], 0) == ["one", "two"]


def test_fit_words_stops_before_the_limit():
    assert fit_words(["one", "two", "three"], 9) == ["one", "two"]


def test_fit_words_counts_no_separator_after_the_last_word():
    assert fit_words(["one", "two"], 7) == ["one", "two"]
