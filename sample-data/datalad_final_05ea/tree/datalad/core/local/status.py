"""Report on the state of dataset content."""

import logging
from collections import defaultdict
from pathlib import Path

from datalad.distribution.dataset import require_dataset, resolve_path
from datalad.support.path import get_parent_paths

lgr = logging.getLogger('datalad.core.local.status')


class Status:
    """Like `git status`, for a dataset and its subdatasets."""

    @staticmethod
    def __call__(path=None, dataset=None, untracked='normal', recursive=False):
        ds = require_dataset(dataset, purpose='status reporting')
        paths_by_ds = defaultdict(list)
        for p in path or []:
            p = resolve_path(p, dataset)
            root = _containing_dataset(ds, p)
            if root is None:
                yield dict(
                    action='status', path=str(p), status='error',
                    message='path not underneath this dataset')
                continue
            paths_by_ds[root].append(p)
        if not path:
            paths_by_ds[ds.pathobj] = []
        for root, paths in paths_by_ds.items():
            yield from yield_dataset_status(
                require_dataset(root), paths, untracked, recursive)


def yield_dataset_status(ds, paths, untracked, recursive):
    """Yield one record per file that is not clean, or was asked for."""
    repo_path = ds.repo.pathobj
    status = ds.repo.diffstatus(
        fr='HEAD' if ds.repo.get_hexsha() else None,
        to=None,
        # recode paths with repo reference for low-level API
        paths=[repo_path / p.relative_to(ds.pathobj) for p in paths] or None,
        untracked=untracked)
    for path, props in sorted(status.items()):
        cpath = ds.pathobj / path.relative_to(repo_path)
        yield dict(
            props,
            action='status',
            status='ok',
            path=str(cpath),
            parentds=ds.path)
        if recursive and props.get('type') == 'dataset':
            yield from yield_dataset_status(
                require_dataset(cpath), [], untracked, recursive)


def _containing_dataset(ds, path):
    """The dataset underneath `ds` that holds a path, None if outside."""
    try:
        rel = path.relative_to(ds.pathobj)
    except ValueError:
        return None
    subs = {sub.relative_to(ds.pathobj) for sub in ds.subdatasets()}
    inside = [Path(p) for p in get_parent_paths([str(rel)], subs)]
    return ds.pathobj / max(inside, key=lambda p: len(p.parts), default='')
