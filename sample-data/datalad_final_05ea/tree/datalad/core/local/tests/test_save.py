"""Tests of save."""

from datalad.api import save, status
from datalad.core.local.tests.utils import commit_files, make_dataset


def test_save_all(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a', 'sub/b': 'b'})
    assert len(save(dataset=ds)) == 2
    assert commit_files(ds) == ['a', 'sub/b']


def test_save_one_path(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a', 'b': 'b'})
    save(path=['a'], dataset=ds)
    assert commit_files(ds) == ['a']
    assert [r['state'] for r in status(dataset=ds)] == ['clean', 'untracked']


def test_save_directory(tmp_path):
    ds = make_dataset(tmp_path, {'d/a': 'a', 'd/b': 'b', 'c': 'c'})
    save(path=['d'], dataset=ds)
    assert commit_files(ds) == ['d/a', 'd/b']


def test_save_deleted(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a'}, saved=True)
    (tmp_path / 'a').unlink()
    save(path=['a'], dataset=ds)
    assert status(dataset=ds) == []


def test_save_to_git(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a'})
    save(path=['a'], dataset=ds, to_git=True)
    assert not (tmp_path / 'a').is_symlink()


def test_save_updated_only(tmp_path):
    ds = make_dataset(tmp_path, {'a': 'a'}, saved=True)
    (tmp_path / 'a').write_text('aa')
    (tmp_path / 'b').write_text('b')
    save(dataset=ds, updated=True)
    assert commit_files(ds) == ['a']
