"""The agent's tools: file_editor, execute_bash, search and finish.

A small implementation that acts on a real folder and answers in the wording
of the R2E-Gym tools. An agent sees the folder as /testbed; paths are mapped
on the way in and back on the way out, so that no answer names the machine.
"""

import os
import re
import subprocess
import sys

WORKSPACE = "/testbed"
SNIPPET_LINES = 4
TIMEOUT_SECONDS = 90
HEAD_AND_TAIL_LINES = 40

NO_CALL = (
    "\nYou forgot to use a function call in your response.\n"
    "YOU MUST USE A FUNCTION CALL IN EACH RESPONSE.\n\n"
    "IMPORTANT: YOU SHOULD NEVER ASK FOR HUMAN HELP.\n"
)
FINISHED = "<<< Finished >>>"


def call(name, **parameters):
    """Return the text of a tool call; the values are stripped, as the parser does."""
    lines = [f"  <parameter={key}>{str(value).strip()}</parameter>\n" for key, value in parameters.items()]
    return f"<function={name}>\n" + "".join(lines) + "</function>"


def parse(action):
    """Return (name, parameters) of the text of a tool call."""
    name = re.search(r"<function\s*=\s*([^>]*)>", action).group(1).strip()
    pairs = re.findall(r"<parameter\s*=\s*([^>]+)>(.*?)</parameter>", action, re.DOTALL)
    return name, {key.strip(): value.strip() for key, value in pairs}


class Refused(Exception):
    """The tool will not do what was asked."""


class Tools:
    """The tools over one folder. The folder's path must be a real path."""

    def __init__(self, folder, environment):
        self.folder = str(folder)
        self.environment = environment
        self.edits = {}

    def run(self, action):
        """Run a call and return (observation, done)."""
        name, parameters = parse(action)
        if not name:
            return NO_CALL, False
        if name == "finish":
            return FINISHED, True
        if name == "execute_bash":
            return self.execute_bash(parameters["cmd"]), False
        try:
            answer = self.file_editor(parameters) if name == "file_editor" else self.search(parameters)
        except Refused as refusal:
            answer = f"ERROR: {refusal}\n"
        return f"Execution output of [{name}]:\n{self.outward(answer)}", False

    def inward(self, text):
        return text.replace(WORKSPACE, self.folder)

    def outward(self, text):
        return text.replace(self.folder, WORKSPACE)

    # execute_bash

    def execute_bash(self, command):
        head = "Execution output of [execute_bash]:\n"
        try:
            done = subprocess.run(
                ["bash", "-c", self.inward(command)],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=TIMEOUT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"Exit code: -1\n{head}The command took too long to execute (>{TIMEOUT_SECONDS}s)"
        output = f"[STDOUT]\n\n{done.stdout.strip()}\n\n[STDERR]\n\n{done.stderr.strip()}\n"
        code = "0"
        if done.returncode:
            output = "Error executing command:\n\n" + output
            code = f"Error: Exit code {done.returncode}"
        return f"Exit code: {code}\n{head}{cut_middle(self.outward(output))}"

    # search

    def search(self, parameters):
        term, shown = parameters["search_term"], parameters.get("path", WORKSPACE)
        path = self.inward(shown)
        if os.path.isfile(path):
            hits = [f"{number}:{line}" for number, line in enumerate(read(path).splitlines(), 1) if term in line]
            if not hits:
                return f'No matches found for "{term}" in {path}\n'
            return f'Matches for "{term}" in {path}:\n' + "\n".join(hits) + "\n"
        if not os.path.isdir(path):
            raise Refused(f"The path '{path}' does not exist.")
        counts = {}
        for file in python_files(path):
            found = sum(term in line for line in read(file).splitlines())
            if found:
                counts["./" + os.path.relpath(file, self.folder)] = found
        if not counts:
            return f'No matches found for "{term}" in {path}\n'
        listed = "".join(f"{file} ({found} matches)\n" for file, found in counts.items())
        return (
            f'Found {sum(counts.values())} matches for "{term}" in {path}:\n'
            f'{listed}End of matches for "{term}" in {path}\n'
        )

    # file_editor

    def file_editor(self, parameters):
        command, path = parameters["command"], self.inward(parameters["path"])
        if command == "create":
            if os.path.exists(path):
                raise Refused(f"File already exists at: {path}. Cannot overwrite with 'create'.")
        elif not os.path.exists(path):
            raise Refused(f"The path '{path}' does not exist.")
        elif os.path.isdir(path) and command != "view":
            raise Refused(f"The path '{path}' is a directory. Only 'view' can be used on directories.")
        if command == "view":
            return self.list_folder(path) if os.path.isdir(path) else self.view(path, parameters.get("view_range"))
        if command == "create":
            return self.create(path, parameters["file_text"])
        if command == "str_replace":
            return self.str_replace(path, parameters["old_str"], parameters.get("new_str", ""))
        if command == "insert":
            return self.insert(path, int(parameters["insert_line"]), parameters["new_str"])
        if command == "undo_edit":
            return self.undo_edit(path)
        raise Refused(
            f"Unrecognized command '{command}'. "
            "Allowed commands: view, create, str_replace, insert, undo_edit."
        )

    def list_folder(self, path):
        entries = [path]
        for name in visible(path):
            entry = os.path.join(path, name)
            if os.path.isdir(entry):
                entries.append(entry)
                for inner in visible(entry):
                    below = os.path.join(entry, inner)
                    if os.path.isdir(below) or inner.endswith(".py"):
                        entries.append(below)
            elif name.endswith(".py"):
                entries.append(entry)
        return (
            f"Here's the files and directories up to 2 levels deep in {path}, excluding hidden:\n"
            + "".join(entry + "\n" for entry in entries)
        )

    def view(self, path, view_range):
        lines = read(path).splitlines()
        first, last = 1, len(lines)
        if view_range:
            first, last = (int(number) for number in view_range.strip("[]()").split(","))
            if not 1 <= first <= len(lines):
                raise Refused(
                    f"Invalid view_range {[first, last]}: start line must be in [1, {len(lines)}]"
                )
            if last == -1:
                last = len(lines)
            if not first <= last <= len(lines):
                raise Refused(
                    f"Invalid view_range {[first, last]}: end must be >= start "
                    f"and <= {len(lines)}, or -1 to view until end."
                )
        shown = "\n".join(f"{number:6d} {lines[number - 1]}" for number in range(first, last + 1))
        return f"Here's the result of running `cat -n` on the file: {path}:\n{shown}\n"

    def create(self, path, text):
        write(path, text)
        self.edits.setdefault(path, []).append("")
        return (
            f"File created at {path}. {numbered(text, path)}"
            "Review the file and make sure that it is as expected. Edit the file if necessary.\n"
        )

    def str_replace(self, path, old, new):
        text = read(path)
        found = text.count(old)
        if found == 0:
            raise Refused(f"No occurrences of '{old}' found in {path} for replacement.")
        if found > 1:
            raise Refused(
                f"Multiple occurrences of '{old}' found in {path}. "
                "Please ensure it is unique before using str_replace."
            )
        after = text.replace(old, new)
        self.save(path, text, after)
        line = text.split(old)[0].count("\n")
        first = max(0, line - SNIPPET_LINES)
        last = line + SNIPPET_LINES + new.count("\n")
        snippet = "\n".join(after.split("\n")[first : last + 1])
        return (
            f"The file {path} has been edited. {numbered(snippet, f'a snippet of {path}', first + 1)}"
            "Review the changes and make sure they are as expected. Edit the file again if necessary.\n"
        )

    def insert(self, path, after_line, new):
        text = read(path)
        lines, added = text.split("\n"), new.split("\n")
        if not 0 <= after_line <= len(lines):
            raise Refused(f"Invalid insert_line {after_line}. Must be in [0, {len(lines)}].")
        self.save(path, text, "\n".join(lines[:after_line] + added + lines[after_line:]))
        first = max(0, after_line - SNIPPET_LINES)
        snippet = "\n".join(lines[first:after_line] + added + lines[after_line : after_line + SNIPPET_LINES])
        return (
            f"The file {path} has been edited. {numbered(snippet, 'a snippet of the edited file', first + 1)}"
            "Review the changes and make sure they are as expected "
            "(correct indentation, no duplicate lines, etc). Edit the file again if necessary.\n"
        )

    def undo_edit(self, path):
        if not self.edits.get(path):
            raise Refused(f"No previous edits found for {path} to undo.")
        text = self.edits[path].pop()
        write(path, text)
        return f"Last edit to {path} undone successfully. {numbered(text, path)}"

    def save(self, path, before, after):
        self.edits.setdefault(path, []).append(before)
        write(path, after)


def numbered(text, what, first=1):
    lines = [f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), first)]
    return f"Here's the result of running `cat -n` on {what}:\n" + "\n".join(lines) + "\n"


def cut_middle(text):
    lines = text.splitlines()
    if len(lines) <= 2 * HEAD_AND_TAIL_LINES:
        return text
    rule = "-" * 50
    middle = [rule, "<Observation truncated in middle for saving context>", rule]
    return "\n".join(lines[:HEAD_AND_TAIL_LINES] + middle + lines[-HEAD_AND_TAIL_LINES:])


def visible(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def python_files(folder):
    for name in visible(folder):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            yield from python_files(path)
        elif name.endswith(".py"):
            yield path


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def clean_environment(folder, shims):
    """Return an environment in which commands print the same on every machine."""
    import site

    return {
        "PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C",
        "COLUMNS": "80",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUSERBASE": site.getuserbase(),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "--no-header --color=no --tb=short -p no:cacheprovider",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_IGNORE_INSTALLED": "1",
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "slugify_lite",
        "GIT_AUTHOR_EMAIL": "slugify@example.com",
        "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z",
        "GIT_COMMITTER_NAME": "slugify_lite",
        "GIT_COMMITTER_EMAIL": "slugify@example.com",
        "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z",
    }


def write_shims(folder):
    """Put python, pytest and pip into a folder, all of them this interpreter's."""
    os.makedirs(folder)
    for name, module in (("python", ""), ("python3", ""), ("pytest", " -m pytest"), ("pip", " -m pip")):
        path = os.path.join(folder, name)
        write(path, f'#!/bin/sh\nexec "{sys.executable}"{module} "$@"\n')
        os.chmod(path, 0o755)
