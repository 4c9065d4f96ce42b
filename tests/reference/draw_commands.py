#!/usr/bin/env python3
"""Draw the shell commands of a corpus of rollouts, for tests/labels/commands.tsv.

    python3 draw_commands.py CORPUS             every distinct command
    python3 draw_commands.py CORPUS --labelled  those that the label file names
    python3 draw_commands.py CORPUS --sample N  the hashes of a sample: every command whose
                                                hash stands on standard input, filled up to N

One line per command: sha256 of its text (first 16 hex digits), profile of the framework it
comes from, the command as a JSON text; tab separated, sorted by hash.

A command is the text that an agent handed to a shell, without white space at its ends. The
calls that are no shell commands (an editor, a search tool, SWE-agent's own line tools) are
left out, and so are the folders that repeat other files in another format (`derived`) or hold
no coding agents. The rest of a sample is drawn in the order of sha256(seed + hash), so that it
depends on nothing but the commands themselves.

Reads the files on its own, not through the program that the labels test. Needs nothing but Python.
"""

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path

LABELS = Path(__file__).resolve().parent.parent / "labels" / "commands.tsv"
SEED = "credscope-commands-1"
SHELLS = {"bash", "Bash", "terminal", "execute_bash", "bash_command", "shell", "run"}
ARGUMENTS = ("command", "cmd", "keystrokes")
# SWE-agent puts its own tools and the shell on one line.
LINE_TOOLS = {
    "open", "goto", "scroll_up", "scroll_down", "create", "edit", "insert", "submit", "search_dir",
    "search_file", "find_file", "str_replace_editor", "str_replace", "set_cursors", "exit_cost", "exit_context",
    "exit_format", "exit_error", "skip", "undo_edit",
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--labelled", action="store_true", help="only what the label file names")
    parser.add_argument("--sample", type=int, metavar="N", help="only the hashes of a sample of N")
    arguments = parser.parse_args()
    commands = draw(arguments.corpus)
    if arguments.sample is not None:
        keep = {line.split("\t")[0].strip() for line in sys.stdin if line.strip() and not line.startswith("#")}
        rest = sorted(set(commands) - keep, key=lambda h: hashlib.sha256((SEED + h).encode()).hexdigest())
        print("\n".join(sorted(keep | set(rest[: max(0, arguments.sample - len(keep))]))))
        return 0
    if arguments.labelled:
        named = labels()
        missing = sorted(set(named) - set(commands))
        if missing:
            print(f"{len(missing)} labelled commands are not in the corpus: {' '.join(missing)}", file=sys.stderr)
            return 1
        commands = {key: commands[key] for key in named}
    for key in sorted(commands):
        profile, command = commands[key]
        print(key, profile, json.dumps(command), sep="\t")
    return 0


def labels():
    """The label file as {hash: category}."""
    lines = LABELS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


def draw(corpus):
    """Every distinct command as {hash: (profile, command)}; the first source in path order names the profile."""
    commands = {}
    for folder, read in READERS.items():
        for path in sorted((corpus / folder).rglob("*")):
            if path.suffix in (".json", ".jsonl", ".traj") and path.is_file():
                for profile, command in read(path):
                    command = command.strip()
                    if command:
                        commands.setdefault(key_of(command), (profile, command))
    return commands


def key_of(command):
    return hashlib.sha256(command.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def records(path):
    """The records of a file: one per line, or the whole file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return [json.loads(text)]


def call(name, arguments):
    """The command of a tool call, if the tool is a shell."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return
    if name in SHELLS and isinstance(arguments, dict):
        for key in ARGUMENTS:
            if isinstance(arguments.get(key), str):
                yield arguments[key]
                return


def mini_swe_agent(path):
    for record in records(path):
        messages = record.get("messages", []) if isinstance(record, dict) else record
        for message in messages:
            if message.get("role") != "assistant":
                continue
            calls = message.get("tool_calls") or []
            for each in calls:
                function = each["function"]
                yield from (("mini-swe-agent", c) for c in call(function["name"], function["arguments"]))
            if not calls:
                blocks = re.findall(r"```bash\s*\n(.*?)\n```", message.get("content") or "", re.DOTALL)
                # The harness runs a message with exactly one block.
                if len(blocks) == 1:
                    yield "mini-swe-agent", blocks[0]


def nemo_gym(path):
    profiles = {"Bash": "claude-code", "terminal": "hermes", "bash": "opencode"}
    for record in records(path):
        for item in (record.get("response") or {}).get("output", []):
            if item.get("type") == "function_call":
                mini = "mini_swe_agent" in path.name
                profile = "mini-swe-agent" if mini else profiles.get(item["name"], "generic")
                yield from ((profile, c) for c in call(item["name"], item["arguments"]))


def openhands(path):
    for record in records(path):
        for event in record.get("history", []):
            if event.get("action") == "run" and event.get("source") == "agent":
                yield "openhands", event["args"]["command"]


def swe_agent(path):
    for record in records(path):
        if "trajectory" in record:
            for step in record["trajectory"]:
                yield from line(step.get("action") or "")
        else:
            yield from xml(record)


def line(text):
    """A line of SWE-agent, unless it is one of its own tools."""
    words = text.split()
    if words and words[0] not in LINE_TOOLS:
        yield "swe-agent", text


def xml(record):
    for message in record.get("messages", []):
        content = message.get("content")
        if message.get("role") == "assistant" and isinstance(content, str):
            for name, body in re.findall(r"<function=(\w+)>(.*?)</function>", content, re.DOTALL):
                parameters = dict(re.findall(r"<parameter=(\w+)>(.*?)</parameter>", body, re.DOTALL))
                yield from (("swe-agent", c) for c in call(name, parameters))


def messages(path):
    for record in records(path):
        yield from xml(record)
        for turn in record.get("trajectory") or []:
            if turn.get("role") == "ai":
                blocks = re.findall(r"```[a-z]*\n(.*?)```", turn.get("text") or "", re.DOTALL)
                if blocks:
                    yield from line(blocks[-1])


def harbor_atif(path):
    for record in records(path):
        for step in record.get("steps", []):
            for each in step.get("tool_calls") or []:
                yield from (("terminus", c) for c in call(each["function_name"], each["arguments"]))


def inspect(path):
    for record in records(path):
        for sample in record.get("samples", []):
            for message in sample["messages"]:
                for each in message.get("tool_calls") or []:
                    yield from (("generic", c) for c in call(each["function"], each["arguments"]))


READERS = {
    "harbor-atif": harbor_atif,
    "inspect": inspect,
    "messages": messages,
    "mini-swe-agent": mini_swe_agent,
    "nemo-gym": nemo_gym,
    "openhands": openhands,
    "swe-agent": swe_agent,
}


if __name__ == "__main__":
    sys.exit(main())
