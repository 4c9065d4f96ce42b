"""Helpers for paths."""

import os.path as op


def split_ext(filename):
    """Split off up to two short extensions: 'a.nii.gz' is ('a', '.nii.gz')."""
    stem, ext = op.splitext(filename)
    inner, second = op.splitext(stem)
    if second and len(second) <= 5 and second[1:].isalnum():
        return inner, second + ext
    return stem, ext


def get_parent_paths(paths, parents, only_with_parents=False):
    """Replace each path by the longest of `parents` that holds it."""
    parents = sorted((str(p) for p in parents), key=len, reverse=True)
    result = []
    for path in paths:
        for parent in parents:
            if path == parent or path.startswith(parent + op.sep):
                result.append(parent)
                break
        else:
            if not only_with_parents:
                result.append('')
    return result
