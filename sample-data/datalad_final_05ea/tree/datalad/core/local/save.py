"""Save the current state of a dataset."""

import logging
from pathlib import Path

from datalad.core.local.status import Status
from datalad.distribution.dataset import require_dataset, resolve_path

lgr = logging.getLogger('datalad.core.local.save')


class Save:
    """Save modifications of a dataset, of given paths only if there are any.

    path       files or directories to save; everything if empty
    message    commit message
    recursive  descend into subdatasets
    to_git     add to Git, not to the annex
    updated    leave untracked files alone
    """

    @staticmethod
    def __call__(path=None, message=None, dataset=None, recursive=False,
                 to_git=None, updated=False):
        ds = require_dataset(dataset, purpose='saving')
        paths = [resolve_path(p, dataset) for p in path or []]
        paths_by_ds = {}
        for res in Status()(
                path=[str(p) for p in paths],
                dataset=ds.path,
                untracked='no' if updated else 'all',
                recursive=recursive):
            if res['status'] == 'error':
                yield res
                continue
            parent = Path(res['parentds'])
            paths_by_ds.setdefault(parent, {})[Path(res['path'])] = {
                key: value for key, value in res.items()
                if key not in ('status', 'path')
            }
        # bottom up, so that a parent records the new state of its children
        for dspath in sorted(paths_by_ds, reverse=True):
            yield from _save_one(
                dspath, paths_by_ds[dspath], message, to_git)


def _save_one(dspath, content, message, to_git):
    repo = require_dataset(dspath).repo
    if not any(props['state'] != 'clean' for props in content.values()):
        lgr.debug('nothing to save in %s', dspath)
        return
    for res in repo.save_(
            message=message or '[DATALAD] Recorded changes',
            paths=[p.relative_to(dspath) for p in content],
            git=to_git,
            _status=content):
        yield dict(
            res,
            action='add' if res['status'] == 'added' else 'save',
            status='ok',
            refds=str(dspath))
