"""Tests of GitRepo."""

from datalad.support.gitrepo import GitRepo, chunked, to_options
from datalad.core.local.tests.utils import make_repo


def test_to_options():
    assert to_options(m='x', no_edit=True, n=None) == ['-m', 'x', '--no-edit']


def test_chunked():
    assert [len(c) for c in chunked(range(7), 3)] == [3, 3, 1]


def test_content_info(tmp_path):
    repo = make_repo(GitRepo, tmp_path, {'a': 'a', 'd/b': 'b'})
    assert set(repo.get_content_info()) == {tmp_path / 'a', tmp_path / 'd/b'}
    assert set(repo.get_content_info(['d'])) == {tmp_path / 'd/b'}


def test_diffstatus(tmp_path):
    repo = make_repo(GitRepo, tmp_path, {'a': 'a'}, saved=True)
    (tmp_path / 'a').write_text('aa')
    [props] = repo.diffstatus('HEAD', None).values()
    assert props['state'] == 'modified'


def test_call_git_oneline(tmp_path):
    repo = make_repo(GitRepo, tmp_path, {'a': 'a'}, saved=True)
    assert len(repo.call_git_oneline(['rev-parse', 'HEAD'])) == 40
