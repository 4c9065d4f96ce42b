"""Tests of status."""

from datalad.api import status
from datalad.core.local.tests.utils import make_dataset


def test_status_untracked(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a'})
    assert [r['state'] for r in status(dataset=ds)] == ['untracked']


def test_status_of_a_path(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a', 'b': 'b'})
    assert [r['path'] for r in status(path=['b'], dataset=ds)] == [
        str(tmp_path / 'b')]


def test_status_outside(tmp_path):
    ds = make_dataset(tmp_path / 'ds', {'a': 'a'})
    [res] = status(path=[str(tmp_path)], dataset=ds)
    assert res['status'] == 'error'
