#!/usr/bin/env python3
"""Quadrants of sample-data/datalad_final_05ea, computed from the file alone.

    python3 datalad_quadrants.py [--steps] ROLLOUTS.jsonl

Prints one line per outcome: steps, both+, rescued, both-, penalized, inside, and the shares of
rescued, both- and penalized of all steps of the outcome. With --steps one line per step: rollout,
step, GRPO+Step, RTMC, bucket.

Written from the published description, not from the program: signatures for the calls that occur in
this file (anything else stops the script), step rewards, returns, GRPO+Step, RTMC. Needs nothing but
Python.
"""

import hashlib
import json
import re
import shlex
import sys
from math import fsum, sqrt
from pathlib import Path

ROOT = "/testbed/"
GAMMA, N_PRIOR, TAU, EPS = 0.99, 2.0, 0.01, 1e-6
VALID, INVALID, TEST = 0.005, -0.005, 0.05
BUCKET = 100


def main():
    rollouts = [json.loads(line) for line in Path(sys.argv[-1]).read_text(encoding="utf-8").splitlines()]
    walks = [Walk(each) for each in rollouts]
    grpo_step, rtmc = columns(walks)
    table = {True: {}, False: {}}
    for at, walk in enumerate(walks):
        for t in range(len(walk.steps)):
            x, y = grpo_step[at][t], rtmc[at][t]
            bucket = quadrant(x, y)
            counts = table[walk.success]
            counts[bucket] = counts.get(bucket, 0) + 1
            if "--steps" in sys.argv:
                print(walk.name, t, repr(x), repr(y), bucket)
    if "--steps" not in sys.argv:
        for success, counts in table.items():
            total = sum(counts.values())
            names = ("both_pos", "rescued", "both_neg", "penalized", "inside")
            shown = " ".join(f"{name}={counts.get(name, 0)}" for name in names)
            shares = " ".join(f"{name}%={100 * counts.get(name, 0) / total:.2f}" for name in names[1:4])
            print("success" if success else "failure", f"steps={total}", shown, shares)


class Walk:
    """One rollout: (state, action, reward) of each step, and the return from each step on."""

    def __init__(self, record):
        self.name = record["exp_name"]
        self.success = record["reward"] >= 1
        self.files, self.runs = {}, set()
        self.failed = self.passed = 0
        self.edits = {}
        self.steps = []
        for step in record["trajectory_steps"]:
            state = self.state()
            action, reward = self.act(step["action"], step["observation"])
            self.steps.append((state, action, reward))
        self.returns = []
        later = 0.0
        for t in reversed(range(len(self.steps))):
            terminal = float(self.success) if t + 1 == len(self.steps) else 0.0
            later = self.steps[t][2] + terminal + GAMMA * later
            self.returns.insert(0, later)

    def state(self):
        done = tuple(sorted((path, tuple(sorted(marks))) for path, marks in self.files.items() if marks))
        return done, tuple(sorted(self.runs)), self.failed, self.passed

    def mark(self, path, what):
        self.files.setdefault(path, set()).add(what)

    def act(self, text, observation):
        """The action of a call and its step reward; the call moves the state."""
        name = re.match(r"<function=(\w+)>", text).group(1)
        parameters = dict(re.findall(r"  <parameter=(\w+)>(.*?)</parameter>\n", text, re.DOTALL))
        if name == "finish":
            return ("finish",), VALID
        if name == "search":
            target = local(parameters["path"])
            self.mark(target, "S")
            return ("search", "grep", target), VALID
        if name == "file_editor":
            return self.edit(parameters, observation)
        assert name == "execute_bash", name
        return self.shell(parameters["cmd"], result(observation))

    def edit(self, parameters, observation):
        command, path = parameters["command"], local(parameters["path"])
        refused = observation.splitlines()[1].startswith("ERROR: ")
        if command == "view":
            assert not refused
            if "files and directories" in observation:
                self.mark(path, "S")
                return ("search", "ls", path), VALID
            if "view_range" not in parameters:
                self.mark(path, "Vf")
                return ("view", path, "full"), VALID
            assert "Vf" not in self.files.get(path, ()), "a range of a file whose length may be known"
            first, last = (int(n) // BUCKET for n in parameters["view_range"].strip("[]").split(","))
            self.mark(path, f"V{first}-{last}")
            return ("view", path, first, last), VALID
        if command == "create":
            identity = "C" + digest("", parameters["file_text"])
            assert not refused
        else:
            assert command == "str_replace", command
            identity = "M" + digest(parameters["old_str"], parameters["new_str"])
        if refused:
            return (command, path, identity, "error"), INVALID
        self.mark(path, identity)
        self.edits.setdefault(path, set()).add(identity)
        return (command, path, identity), VALID

    def shell(self, command, outcome):
        words = shlex.split(command.removeprefix("cd /testbed && "))
        if words[:3] == ["python", "-m", "pytest"]:
            targets = tuple(sorted(local(w) for w in words[3:] if not w.startswith("-")))
            self.passed += outcome == "ok"
            self.failed += outcome == "error"
            return ("test", targets, outcome), VALID + TEST
        if words[0] == "python":
            self.runs.add(("python", words[1], outcome))
            return ("execute", "python", words[1], outcome), VALID
        if words[0] == "grep":
            targets = tuple(sorted(local(w) for w in [w for w in words[1:] if not w.startswith("-")][1:]))
            assert outcome == "ok", "a search without a hit"
            for target in targets:
                self.mark(target, "S")
            return ("search", "grep", targets if len(targets) > 1 else targets[0]), VALID
        if words[0] == "git" and words[1] in ("diff", "status"):
            self.runs.add(("git", "", outcome))
            return ("execute", "git", outcome), VALID
        if words[:3] == ["git", "checkout", "--"]:
            self.put_back(words[3])
            return ("revert", words[3]), VALID
        assert words[:2] == ["rm", "-v"], words
        for word in words[2:]:
            self.put_back(word)
        return ("rm", tuple(words[2:])), VALID

    def put_back(self, path):
        """Undo the edits of a file; that it was edited stays in the state."""
        assert self.edits.get(path), f"{path} was not edited"
        self.files[path] -= self.edits.pop(path)
        self.mark(path, "R")


def local(path):
    return path.removeprefix(ROOT).rstrip("/")


def digest(*texts):
    return hashlib.sha256(json.dumps([t.replace("\r\n", "\n").rstrip("\n") for t in texts]).encode()).hexdigest()


def result(observation):
    code = re.match(r"Exit code: (?:Error: Exit code )?(-?\d+)", observation).group(1)
    return "ok" if code == "0" else "error"


def columns(walks):
    """GRPO+Step and RTMC of every step."""
    every = [g for walk in walks for g in walk.returns]
    mean = fsum(every) / len(every)
    std = sqrt(fsum((g - mean) ** 2 for g in every) / (len(every) - 1))
    grpo_step = [[(g - mean) / (std + EPS) for g in walk.returns] for walk in walks]

    # First visits of each pair in each rollout.
    pairs = {}
    for walk in walks:
        seen = set()
        for (state, action, _), g in zip(walk.steps, walk.returns):
            if (state, action) not in seen:
                seen.add((state, action))
                pairs.setdefault(state, {}).setdefault(action, []).append(g)
    prior = sum(walk.success for walk in walks) / len(walks)

    def advantage(state, action):
        at_state = [g for returns in pairs[state].values() for g in returns]
        smooth = (fsum(at_state) + N_PRIOR * prior) / (len(at_state) + N_PRIOR)
        taken = pairs[state][action]
        return fsum(taken) / len(taken) - smooth

    rtmc = [[advantage(state, action) for state, action, _ in walk.steps] for walk in walks]
    return grpo_step, rtmc


def quadrant(x, y):
    if abs(x) <= TAU or abs(y) <= TAU:
        return "inside"
    return {(True, True): "both_pos", (False, True): "rescued", (False, False): "both_neg", (True, False): "penalized"}[
        x > 0, y > 0
    ]


if __name__ == "__main__":
    main()
