"""The Dataset class, and how arguments become datasets and paths."""

import logging
from os import curdir, pardir
from pathlib import Path

from datalad.support.annexrepo import AnnexRepo
from datalad.support.exceptions import NoDatasetFound
from datalad.support.gitrepo import GitRepo

lgr = logging.getLogger('datalad.dataset')


class Dataset:
    """A dataset at a path, whether it is installed or not."""

    def __init__(self, path):
        self._pathobj = Path(path)
        self._repo = None

    def __eq__(self, other):
        return isinstance(other, Dataset) and self.pathobj == other.pathobj

    def __repr__(self):
        return f'Dataset({self.path!r})'

    @property
    def pathobj(self):
        return self._pathobj

    @property
    def path(self):
        return str(self._pathobj)

    @property
    def repo(self):
        """The repository, an annex if there is one; None without."""
        if self._repo is None:
            for cls in (AnnexRepo, GitRepo):
                if cls.is_valid(self._pathobj):
                    self._repo = cls(self._pathobj)
                    break
        return self._repo

    def is_installed(self):
        return self.repo is not None

    def subdatasets(self):
        if not self.is_installed():
            return []
        return [self._pathobj / p for p in self.repo.get_submodules()]


def require_dataset(dataset, purpose=None):
    """The dataset of an argument, or of the working directory."""
    if isinstance(dataset, Dataset):
        return dataset
    path = Path(dataset) if dataset else Path.cwd()
    ds = Dataset(path)
    if not ds.is_installed():
        raise NoDatasetFound(f'No dataset found at {path} for {purpose}')
    return ds


def resolve_path(path, ds=None):
    """Turn a path argument into an absolute path.

    A relative path is relative to a dataset that was given as an object,
    else to the working directory.
    """
    path = Path(path)
    if path.is_absolute():
        base = Path(path.anchor)
    elif isinstance(ds, Dataset):
        base = ds.pathobj
    else:
        base = Path.cwd()
    parts = []
    for part in (base / path).parts:
        if part == pardir and len(parts) > 1:
            parts.pop()
        elif part not in (curdir, pardir):
            parts.append(part)
    return Path(*parts)
