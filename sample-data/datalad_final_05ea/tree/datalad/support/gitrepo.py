"""Interface to Git."""

import json as jsonlib
import logging
import re
from pathlib import Path

from datalad.cmd import Runner, StdOutErrCapture
from datalad.support.exceptions import CommandError

lgr = logging.getLogger('datalad.gitrepo')

# how `git ls-files -s` and `git ls-tree` write a line
_LS_LINE = re.compile(
    r'(?P<mode>\d{6}) (?:(?P<kind>\w+) )?(?P<sha>[0-9a-f]{40})'
    r'(?: (?P<stage>\d))?\t(?P<path>.*)$')
_TYPES = {'100644': 'file', '100755': 'file', '120000': 'symlink',
          '160000': 'dataset'}


def to_options(**kwargs):
    """Turn keyword arguments into options of a command line."""
    options = []
    for key, value in kwargs.items():
        key = ('-' if len(key) == 1 else '--') + key.replace('_', '-')
        if value is True:
            options.append(key)
        elif value not in (None, False):
            options.extend((key, str(value)))
    return options


def chunked(files, size=500):
    """Cut a list of files into pieces that fit on a command line."""
    files = list(files)
    for start in range(0, len(files), size):
        yield files[start:start + size]


class GitRepo:
    """A Git repository with a worktree."""

    # options that go before the name of a Git command
    _git_cmd_prefix = ['git', '-c', 'diff.ignoreSubmodules=none']

    def __init__(self, path):
        self.pathobj = Path(path)
        self._runner = Runner(cwd=self.pathobj)
        self._fake_dates = False

    @classmethod
    def is_valid(cls, path):
        return (Path(path) / '.git').exists()

    @property
    def path(self):
        return str(self.pathobj)

    # calling Git

    def _git_env(self):
        """Environment of a Git command; None is that of the process."""
        if not self._fake_dates:
            return None
        date = '@1112911993 -0700'
        return dict(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)

    def _call_git(self, args, files=None, expect_fail=False):
        cmd = self._git_cmd_prefix + list(args)
        if files:
            cmd += ['--', *files]
        try:
            return self._runner.run(
                cmd, env=self._git_env(), protocol=StdOutErrCapture)
        except CommandError as exc:
            if not expect_fail:
                raise
            lgr.debug('ignored failure of %s: %s', cmd, exc)
            return exc.to_result()

    def call_git(self, args, files=None, expect_fail=False):
        """Run Git and return what it prints, over all chunks of files."""
        chunks = chunked(files) if files else [None]
        return ''.join(
            self._call_git(args, chunk, expect_fail)['stdout']
            for chunk in chunks)

    def call_git_items_(self, args, files=None, sep=None, json=False):
        """Run Git and yield the items it prints."""
        out = self.call_git(args, files=files)
        for item in out.split(sep) if sep else out.splitlines():
            if item:
                yield jsonlib.loads(item) if json else item

    def call_git_oneline(self, args, files=None):
        lines = list(self.call_git_items_(args, files=files))
        if len(lines) != 1:
            raise AssertionError(
                f'expected one line from {args}, got {len(lines)}')
        return lines[0]

    def call_git_success(self, args, files=None):
        try:
            self._call_git(args, files)
        except CommandError:
            return False
        return True

    # commits and branches

    def get_hexsha(self, commitish=None):
        """SHA of a commit; None before the first one."""
        out = self.call_git(
            ['rev-parse', '--quiet', '--verify',
             (commitish or 'HEAD') + '^{commit}'],
            expect_fail=True)
        return out.strip() or None

    def get_active_branch(self):
        out = self.call_git(['symbolic-ref', 'HEAD'], expect_fail=True)
        return out.strip().replace('refs/heads/', '', 1) or None

    def get_submodules(self):
        """Paths of the registered submodules."""
        pattern = re.compile(r'submodule\.(.*)\.path (?P<path>.*)$')
        for line in self.call_git_items_(
                ['config', '--file', '.gitmodules', '--get-regexp', 'path']):
            match = pattern.match(line)
            if match:
                yield match.group('path')

    # content

    def get_content_info(self, paths=None, ref=None, untracked='all'):
        """Report on the content of the worktree, or of a commit.

        paths      files or directories; everything if None
        ref        a commit; the index and the worktree if None
        untracked  'all', 'normal' (directories) or 'no'

        Returns a dict of path and properties: type, gitshasum.
        """
        # paths must be relative to the root of the worktree
        paths = [str(self._relative(p)) for p in paths or []]
        if ref:
            cmd = ['ls-tree', ref, '-z', '-r', '--full-tree']
        else:
            cmd = ['ls-files', '-s', '-m', '-d', '-z']
            cmd += {
                'all': ['-o', '--exclude-standard'],
                'normal': ['-o', '--directory', '--exclude-standard'],
                'no': [],
            }[untracked]
        info = {}
        for item in self.call_git_items_(cmd, files=paths, sep='\0'):
            path, props = self._read_ls_line(item)
            info[self.pathobj / path] = props
        return info

    def _relative(self, path):
        path = Path(path)
        return path.relative_to(self.pathobj) if path.is_absolute() else path

    @staticmethod
    def _read_ls_line(item):
        match = _LS_LINE.match(item)
        if match is None:
            # an untracked file has nothing but a name
            return item.rstrip('/'), dict(type='file', gitshasum=None)
        return match.group('path'), dict(
            type=_TYPES.get(match.group('mode'), 'other'),
            gitshasum=match.group('sha'))

    def diffstatus(self, fr, to, paths=None, untracked='all'):
        """Compare two states and report on every path.

        fr, to     commits; None is the worktree (`to`) or nothing (`fr`)

        Returns the content info of `to` with a state for each path:
        clean, added, untracked, modified or deleted.
        """
        new = self.get_content_info(paths, ref=to, untracked=untracked)
        old = self.get_content_info(paths, ref=fr) if fr else {}
        modified = set() if to else self._modified(paths)
        status = {}
        for path, props in new.items():
            if props['gitshasum'] is None:
                state = 'untracked'
            elif path not in old:
                state = 'added'
            elif path in modified or old[path] != props:
                state = 'modified'
            else:
                state = 'clean'
            status[path] = dict(props, state=state)
        for path in old:
            if path not in new:
                status[path] = dict(old[path], state='deleted')
        return status

    def _modified(self, paths):
        files = [str(self._relative(p)) for p in paths or []]
        return {
            self.pathobj / p for p in self.call_git_items_(
                ['diff', '--name-only', '-z', '--no-renames'],
                files=files, sep='\0')}

    # saving

    def save_(self, message, paths=None, git=None, _status=None):
        """Commit the content of some paths; yield a record for each."""
        status = _status or self.diffstatus('HEAD', None, paths)
        to_add = [p for p, props in status.items()
                  if props['state'] in ('untracked', 'modified')]
        to_remove = [p for p, props in status.items()
                     if props['state'] == 'deleted']
        if to_add:
            yield from self._save_add(
                [self._relative(p) for p in to_add], git=git)
        if to_remove:
            yield from self._save_remove(to_remove)
        self._save_commit(message, [self._relative(p) for p in status])

    def _save_add(self, files, git=None):
        """Add files to the index."""
        for line in self.call_git_items_(
                ['add', '--verbose'], files=[str(f) for f in files]):
            match = re.match(r"add '(?P<path>.*)'$", line)
            if match:
                yield dict(
                    path=str(self.pathobj / match.group('path')),
                    status='added')

    def _save_remove(self, files):
        files = [str(self._relative(f)) for f in files]
        self.call_git(['rm', '--cached', '--quiet'], files=files)
        for file in files:
            yield dict(path=str(self.pathobj / file), status='deleted')

    def _save_commit(self, message, files):
        self.call_git(
            ['commit', '--message', message],
            files=[str(f) for f in files])
