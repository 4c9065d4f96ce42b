"""Tests of the Dataset class and of path arguments."""

import pytest

from datalad.distribution.dataset import Dataset, require_dataset, resolve_path
from datalad.support.exceptions import NoDatasetFound


def test_equality(tmp_path):
    assert Dataset(tmp_path) == Dataset(str(tmp_path))


def test_require_dataset(tmp_path):
    with pytest.raises(NoDatasetFound):
        require_dataset(tmp_path)


@pytest.mark.parametrize('name', ['f', 'd/f', 'with space', 'b[1]', 'q?', 's*'])
def test_resolve_path(tmp_path, name):
    ds = Dataset(tmp_path)
    assert resolve_path(name, ds) == tmp_path / name
    assert resolve_path(tmp_path / name) == tmp_path / name


def test_resolve_path_dots(tmp_path):
    ds = Dataset(tmp_path)
    assert resolve_path('./d/../f', ds) == tmp_path / 'f'
