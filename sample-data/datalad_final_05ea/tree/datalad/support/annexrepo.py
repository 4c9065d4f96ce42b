"""Interface to git-annex."""

import logging

from datalad.support.gitrepo import GitRepo
from datalad.support.exceptions import CommandError

lgr = logging.getLogger('datalad.annex')


class AnnexRepo(GitRepo):
    """A Git repository with an annex."""

    @classmethod
    def is_valid(cls, path):
        return super().is_valid(path) and (path / '.git' / 'annex').exists()

    def _call_annex_records(self, args, files=None):
        """Run git-annex with --json and yield its records."""
        cmd = ['annex', *args, '--json', '--json-error-messages']
        for record in self.call_git_items_(cmd, files=files, json=True):
            if record.get('error-messages'):
                raise CommandError(cmd, record['error-messages'])
            yield record

    def get_content_annexinfo(self, paths=None, init=None):
        """Add key, size and presence of annexed files to content info."""
        info = init or self.get_content_info(paths=paths)
        for record in self._call_annex_records(
                ['find', '--anything'],
                files=[str(p.relative_to(self.pathobj)) for p in info]):
            path = self.pathobj / record['file']
            info[path].update(
                key=record['key'],
                bytesize=int(record['bytesize']),
                backend=record['backend'])
        return info

    def _save_add(self, files, git=None):
        """Add files to the annex, or to Git where that was asked for."""
        if git:
            yield from super()._save_add(files, git=git)
            return
        for record in self._call_annex_records(
                ['add'], files=[str(f) for f in files]):
            yield dict(
                path=str(self.pathobj / record['file']),
                status='added' if record['success'] else 'error',
                key=record.get('key'))
