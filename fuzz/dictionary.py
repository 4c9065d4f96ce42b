#!/usr/bin/env python3
"""Prints a libFuzzer dictionary: the words that the sources of a target look for, as JSON keys and values.

usage: dictionary.py TARGET
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What readers share.
SHARED = ["messages", "transcript", "turns", "native_step", "ending", "frames"]
# Readers whose file is not called like the format.
FILES = {
    "harbor-result": ["harbor"],
    "nebius": ["trajectory_rows"],
    "openhands": ["openhands", "openhands_events"],
    "openhands-gui": ["openhands", "openhands_events"],
    "roll": ["roll/mod", "roll/table", "roll/rows", "roll/segments", "roll/rewards"],
}
OTHERS = {
    "split-columns": ["src/ingest/columns.rs", "src/ingest/sheet.rs", "src/ingest/roll/table.rs"],
    "side-files": ["src/ingest/verdicts.rs", "src/ingest/harbor.rs"],
    "settings": ["src/settings/table.rs", "src/settings/stamp.rs"],
    "profile": ["src/profile/file.rs", "src/profile/mod.rs"],
    "shell": ["src/facts/shell/parse.rs", "src/facts/shell/git.rs", "assets/programs.toml"],
    "tables": ["src/load/outcome_map.rs", "src/load/sidecar.rs", "src/load/table.rs"],
    "round-trip": ["src/ingest/native.rs", "src/ingest/native_step.rs", "src/ingest/messages.rs"],
    "whole": ["src/ingest/native.rs", "src/ingest/native_step.rs", "src/ingest/messages.rs"],
    "sniff": [f"src/ingest/{p.name}" for p in sorted((ROOT / "src/ingest").glob("*.rs"))],
}
JSON = ['null', 'true', 'false', '{}', '[]', '[{', '}]', '},{', '":"', '":{', '":[', '\\n', '\\"', '\\\\', '\\ud83d',
        'NaN', '1e400', '-0', '9007199254740993', '"role":"assistant"', '"role":"tool"', '"role":"user"']
BASH = ['&&', '||', '2>&1', '<<EOF\n', '$(', '${', '`', '>>', '<(', ';', "'", '"', '\x01', '\x00', '{a,b}', '# ']


def sources(target):
    if target.startswith("read-"):
        name = target.removeprefix("read-")
        files = FILES.get(name, [name.replace("-", "_")]) + SHARED
        return [ROOT / f"src/ingest/{f}.rs" for f in files]
    return [ROOT / f for f in OTHERS.get(target, [])]


def words(path):
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
    for word in re.findall(r'"([^"\\\n{}]{2,40})"', text):
        # Sentences are messages of ours, not words of a format.
        if word.count(" ") < 2 and word.isascii():
            yield word


def quoted(entry):
    out = "".join(f"\\x{ord(c):02x}" if c in '"\\' or not " " <= c <= "~" else c for c in entry)
    return f'"{out}"'


def main():
    target = sys.argv[1]
    json = target not in ("settings", "profile", "shell", "clean", "containers")
    entries = JSON if json else BASH if target == "shell" else []
    entries = list(entries)
    for path in sources(target):
        for word in words(path):
            entries += [f'"{word}":', f'"{word}"'] if json else [word]
    print("\n".join(quoted(entry) for entry in dict.fromkeys(entries)))


main()
