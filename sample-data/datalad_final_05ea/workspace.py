"""The tools of the reconstruction: an editor, a search and a shell over files kept in memory.

Views, edits, searches and diffs are worked out from the files of tree/. Programs do not run: what
pytest and the reproduction script would print follows from rules about the text of the files.
"""

import difflib
import re
import shlex
from pathlib import Path

ROOT = "/testbed"
TREE = Path(__file__).resolve().parent / "tree"
SNIPPET = 4

GITREPO = "datalad/support/gitrepo.py"
ANNEXREPO = "datalad/support/annexrepo.py"
SAVE = "datalad/core/local/save.py"
STATUS = "datalad/core/local/status.py"
DATASET = "datalad/distribution/dataset.py"
TEST_SAVE = "datalad/core/local/tests/test_save.py"
TEST_STATUS = "datalad/core/local/tests/test_status.py"
TEST_GITREPO = "datalad/support/tests/test_gitrepo.py"
TEST_DATASET = "datalad/distribution/tests/test_dataset.py"


class Refused(Exception):
    pass


class Workspace:
    def __init__(self, rng):
        self.rng = rng
        self.before = {
            path.relative_to(TREE).as_posix(): path.read_text(encoding="utf-8") for path in sorted(TREE.rglob("*.py"))
        }
        self.files = dict(self.before)

    def call(self, tool, parameters):
        """Run one call; return its observation."""
        if tool == "finish":
            return "<<< Finished >>>"
        if tool == "execute_bash":
            return self.shell(parameters["cmd"])
        try:
            answer = self.edit(parameters) if tool == "file_editor" else self.search(parameters)
        except Refused as refusal:
            answer = f"ERROR: {refusal}\n"
        return f"Execution output of [{tool}]:\n{answer}"

    # what the code would do

    def function(self, path, name):
        """The text of a function or method, '' if there is none."""
        text = self.files.get(path, "")
        match = re.search(rf"^( *)def {name}\(.*?(?=^\1\S|\Z)", text, re.MULTILINE | re.DOTALL)
        return match.group(0) if match else ""

    def literal(self, path, name):
        body = self.function(path, name)
        everywhere = "--literal-pathspecs" in self.files[GITREPO] or "GIT_LITERAL_PATHSPECS" in self.files[GITREPO]
        return everywhere or "_literal(" in body or ":(literal)" in body

    def status_exact(self):
        return self.literal(GITREPO, "get_content_info")

    def add_exact(self):
        return self.literal(GITREPO, "_save_add") and self.literal(ANNEXREPO, "_save_add")

    def commit_exact(self):
        return self.literal(GITREPO, "_save_commit")

    def escaped(self, path):
        return "escape(" in self.files[path]

    def impossible(self):
        """Paths are escaped before status sees them, and nothing is there under that name."""
        return self.escaped(SAVE) or self.escaped(DATASET)

    def strict(self):
        """Results are dropped unless they were named, which forgets the content of directories."""
        return any("not in paths" in self.files[path] for path in (SAVE, STATUS))

    def saved(self):
        """What the reproduction script finds in the commit."""
        if self.impossible():
            return None
        if self.status_exact() and self.add_exact():
            return ["data[1].csv"]
        return ["data1.csv", "data[1].csv"]

    def verdict(self):
        """Names of the hidden tests that fail."""
        good = self.saved() == ["data[1].csv"]
        return [
            name
            for name, passes in (
                ("test_save_glob_chars", good),
                ("test_save_glob_chars_modified_neighbour", good and self.commit_exact()),
                ("test_status_glob_chars", self.status_exact()),
                ("test_save_directory", not self.strict()),
                ("test_resolve_path", not self.escaped(DATASET)),
            )
            if not passes
        ]

    # execute_bash

    def shell(self, command):
        command = command.removeprefix(f"cd {ROOT} && ")
        code, out = self.program(command)
        output = f"[STDOUT]\n\n{out.strip()}\n\n[STDERR]\n\n\n"
        head = "Execution output of [execute_bash]:\n"
        if code:
            return f"Exit code: Error: Exit code {code}\n{head}Error executing command:\n\n{output}"
        return f"Exit code: 0\n{head}{output}"

    def program(self, command):
        words = shlex.split(command)
        if words[:3] == ["python", "-m", "pytest"]:
            return self.pytest([w for w in words[3:] if not w.startswith("-")])
        if words[0] == "python" and words[1].endswith(".py"):
            return self.reproduce()
        if words[0] == "grep":
            return self.grep(words[1] == "-rn", words[2], words[3:])
        if words[:2] == ["git", "diff"]:
            return 0, self.diff(tracked=True)
        if words[:2] == ["git", "status"]:
            return 0, self.git_status()
        if words[:3] == ["git", "checkout", "--"]:
            self.files[words[3]] = self.before[words[3]]
            return 0, "Updated 1 path from the index"
        if words[:2] == ["rm", "-v"]:
            for word in words[2:]:
                self.files.pop(word)
            return 0, "\n".join(f"removed '{word}'" for word in words[2:])
        raise SystemExit(f"no such program: {command}")

    def reproduce(self):
        saved = self.saved()
        if saved is None:
            return 1, (
                "save(error): /tmp/ds/data[[]1].csv (path does not exist)\n"
                "Traceback (most recent call last):\n"
                f'  File "{ROOT}/repro.py", line 10, in <module>\n'
                "    save(path=['data[1].csv'], dataset=ds, message='one')\n"
                "datalad.support.exceptions.IncompleteResultsError: save(error): no file was saved"
            )
        lines = "".join(f"add(ok): {name} (file)\n" for name in saved)
        out = f"{lines}save(ok): . (dataset)\nin the commit: {saved}"
        return (0, out + "\nOK") if len(saved) == 1 else (1, out + "\nWRONG: a file was saved that was not named")

    def grep(self, named, term, paths):
        hits = [
            f"{name + ':' if named else ''}{number}:{line}"
            for path in paths
            for name in sorted(self.files)
            if name == path or name.startswith(path.rstrip("/") + "/")
            for number, line in enumerate(self.files[name].splitlines(), 1)
            if term in line
        ]
        return (0, "\n".join(hits)) if hits else (1, "")

    def git_status(self):
        lines = [f" M {n}" for n in self.before if n in self.files and self.files[n] != self.before[n]]
        return "\n".join(lines + [f"?? {n}" for n in self.files if n not in self.before]) or "nothing to commit"

    def diff(self, tracked=False):
        chunks = []
        for name in sorted(set(self.before) | set(self.files)):
            old, new = self.before.get(name), self.files.get(name)
            if old != new and not (tracked and old is None):
                chunks.append(f"diff --git a/{name} b/{name}\n")
                chunks += difflib.unified_diff(
                    (old or "").splitlines(True),
                    (new or "").splitlines(True),
                    f"a/{name}" if old is not None else "/dev/null",
                    f"b/{name}",
                )
        return "".join(chunks)

    # pytest

    def cases(self, path):
        """The tests of a file as (name, reason of its failure or None)."""
        for name in re.findall(r"^def (test_\w+)", self.files[path], re.MULTILINE):
            if name == "test_resolve_path":
                for value in ("f", "d/f", "with space", "b[1]", "q?", "s*"):
                    magic = self.escaped(DATASET) and any(c in value for c in "[?*")
                    yield f"{name}[{value}]", (
                        f"AssertionError: assert PosixPath('{ROOT}/tmp/{escape(value)}') == (PosixPath('{ROOT}/tmp') / '{value}')"
                        if magic
                        else None
                    )
            else:
                yield name, self.reason(path, name)

    def reason(self, path, name):
        if name == "test_save_directory" and self.strict():
            return "AssertionError: assert [] == ['d/a', 'd/b']"
        if name in ("test_save_glob_chars", "test_save_question_mark"):
            saved = self.saved()
            if saved is None:
                return "datalad.support.exceptions.IncompleteResultsError: save(error): path does not exist"
            if len(saved) > 1:
                return f"AssertionError: assert {saved} == ['data[1].csv']"
        if name == "test_status_glob_chars" and not self.status_exact():
            return "AssertionError: assert 2 == 1"
        return None

    def pytest(self, targets):
        files = []
        for target in targets:
            inside = sorted(
                n for n in self.files if n.startswith(target.rstrip("/") + "/") and n.rpartition("/")[2].startswith("test_")
            )
            files += [target] if target in self.files else inside
        dots, reports, summary, passed = [], [], [], 0
        for file in files:
            marks = ""
            for name, why in self.cases(file):
                marks += "F" if why else "."
                passed += not why
                if why:
                    line = self.files[file].splitlines().index(
                        next(x for x in self.files[file].splitlines() if x.startswith(f"def {name.split('[')[0]}("))
                    )
                    reports.append(f"{f' {name} ':_^78}\n{file}:{line + 4}: in {name.split('[')[0]}\nE   {why}")
                    summary.append(f"FAILED {file}::{name} - {why.split(':')[0]}")
            dots.append(f"{file} {marks}")
        seconds = f"{self.rng.uniform(1.5, 9.5):.2f}s"
        count = f"{len(summary)} failed, {passed} passed" if summary else f"{passed} passed"
        parts = ["\n".join(dots)]
        if summary:
            parts += [f"{' FAILURES ':=^78}", *reports, f"{' short test summary info ':=^78}", *summary]
        parts.append(f"{f' {count} in {seconds} ':=^78}")
        return int(bool(summary)), "\n".join(parts)

    # search

    def search(self, parameters):
        term, path = parameters["search_term"], parameters["path"]
        name = path.removeprefix(ROOT).lstrip("/")
        if name in self.files:
            lines = self.files[name].splitlines()
            hits = [f"{number}:{line}" for number, line in enumerate(lines, 1) if term in line]
            if not hits:
                return f'No matches found for "{term}" in {path}\n'
            return f'Matches for "{term}" in {path}:\n' + "\n".join(hits) + "\n"
        counts = {
            f"./{n}": found
            for n in sorted(self.files)
            if n.startswith(name and name + "/") and (found := sum(term in x for x in self.files[n].splitlines()))
        }
        if not counts:
            return f'No matches found for "{term}" in {path}\n'
        listed = "".join(f"{file} ({found} matches)\n" for file, found in counts.items())
        return (
            f'Found {sum(counts.values())} matches for "{term}" in {path}:\n'
            f'{listed}End of matches for "{term}" in {path}\n'
        )

    # file_editor

    def edit(self, parameters):
        command, path = parameters["command"], parameters["path"]
        name = path.removeprefix(ROOT).lstrip("/")
        below = sorted(n for n in self.files if n.startswith(name and name + "/"))
        if command == "view" and below:
            return self.list_folder(path, name, below)
        if command == "create":
            if name in self.files:
                raise Refused(f"File already exists at: {path}. Cannot overwrite with 'create'.")
            self.files[name] = parameters["file_text"]
            return (
                f"File created at {path}. {numbered(self.files[name], path)}"
                "Review the file and make sure that it is as expected. Edit the file if necessary.\n"
            )
        if name not in self.files:
            raise Refused(f"The path '{path}' does not exist.")
        if command == "view":
            return self.view(path, self.files[name].splitlines(), parameters.get("view_range"))
        return self.str_replace(path, name, parameters["old_str"], parameters["new_str"])

    def list_folder(self, path, name, below):
        entries = {path}
        for file in below:
            parts = file.removeprefix(name).lstrip("/").split("/")
            entries |= {f"{path}/{'/'.join(parts[:depth])}" for depth in (1, 2) if len(parts) >= depth}
        return f"Here's the files and directories up to 2 levels deep in {path}, excluding hidden:\n" + "".join(
            entry + "\n" for entry in sorted(entries)
        )

    def view(self, path, lines, view_range):
        first, last = 1, len(lines)
        if view_range:
            first, last = (int(number) for number in view_range.strip("[]").split(","))
            if not 1 <= first <= last <= len(lines):
                raise Refused(
                    f"Invalid view_range {[first, last]}: end must be >= start "
                    f"and <= {len(lines)}, or -1 to view until end."
                )
        shown = "\n".join(f"{number:6d} {lines[number - 1]}" for number in range(first, last + 1))
        return f"Here's the result of running `cat -n` on the file: {path}:\n{shown}\n"

    def str_replace(self, path, name, old, new):
        text = self.files[name]
        if text.count(old) == 0:
            raise Refused(f"No occurrences of '{old}' found in {path} for replacement.")
        if text.count(old) > 1:
            raise Refused(
                f"Multiple occurrences of '{old}' found in {path}. Please ensure it is unique before using str_replace."
            )
        self.files[name] = after = text.replace(old, new)
        line = text.split(old)[0].count("\n")
        first = max(0, line - SNIPPET)
        snippet = "\n".join(after.split("\n")[first : line + SNIPPET + new.count("\n")])
        return (
            f"The file {path} has been edited. {numbered(snippet, f'a snippet of {path}', first + 1)}"
            "Review the changes and make sure they are as expected. Edit the file again if necessary.\n"
        )


def escape(text):
    return re.sub(r"([*?[])", r"[\1]", text)


def numbered(text, what, first=1):
    lines = [f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), first)]
    return f"Here's the result of running `cat -n` on {what}:\n" + "\n".join(lines) + "\n"
