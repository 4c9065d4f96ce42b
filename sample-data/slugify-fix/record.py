#!/usr/bin/env python3
"""Record the rollouts of agents.py on package/ in the R2E-Gym format.

    python3 record.py           run every agent and write rollouts.jsonl
    python3 record.py --check   run every agent and compare with rollouts.jsonl,
                                apart from times; exit status 1 and a diff if unequal

Every tool call is really run, in a fresh copy of package/ under git, and the
verdict is what hidden_tests/ say of the folder the agent leaves.
Exit status 77 when pytest, pip, git, bash or GNU sed is missing.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agents import AGENTS
from tools import Tools, clean_environment, write_shims

HERE = Path(__file__).resolve().parent
ROLLOUTS = HERE / "rollouts.jsonl"
INSTANCE = "slugify-fix"
IMAGE = "credscope/slugify-fix:sample"
MAX_STEPS = 18
MAX_STEPS_ABSOLUTE = 50
MISSING = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with rollouts.jsonl, write nothing")
    arguments = parser.parse_args()
    missing = missing_tools()
    if missing:
        print(f"record.py needs {', '.join(missing)}", file=sys.stderr)
        return MISSING
    rollouts = [record(name, steps) for name, steps in AGENTS.items()]
    if arguments.check:
        return check(rollouts)
    ROLLOUTS.write_text("".join(json.dumps(rollout) + "\n" for rollout in rollouts), encoding="utf-8")
    for rollout in rollouts:
        print(f"{rollout['exp_name']:<20} {len(rollout['trajectory_steps']):>3} steps  reward {rollout['reward']}")
    return 0


def missing_tools():
    probes = {
        "pytest": [sys.executable, "-m", "pytest", "--version"],
        "pip": [sys.executable, "-m", "pip", "--version"],
        "git": ["git", "--version"],
        "bash": ["bash", "--version"],
        "GNU sed": ["sed", "--version"],
    }
    return [name for name, command in probes.items() if not works(command)]


def works(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False


def record(name, steps):
    """Run one agent in a fresh workspace and return its trajectory."""
    with tempfile.TemporaryDirectory(prefix="slugify-fix-") as temporary:
        root = Path(temporary).resolve()
        workspace, home, shims = root / "workspace", root / "home", root / "bin"
        home.mkdir()
        write_shims(shims)
        environment = clean_environment(home, shims)
        prepare(workspace, environment)
        tools = Tools(workspace, environment)
        trajectory_steps = []
        total = 0.0
        for index, (thought, action) in enumerate(steps):
            started = time.perf_counter()
            observation, done = tools.run(action)
            seconds = round(time.perf_counter() - started, 3)
            total = round(total + seconds, 3)
            trajectory_steps.append(
                {
                    "step_idx": index,
                    "thought": thought,
                    "action": action,
                    "observation": observation,
                    "done": done,
                    "info": {"total_time": seconds},
                    "token_usage_prompt": -1,
                    "token_usage_completion": -1,
                    "token_usage_total": -1,
                    "llm_exec_time": 0.0,
                    "env_exec_time": seconds,
                    "total_step_time": seconds,
                    "total_time_traj": total,
                    "step_count": index + 1,
                }
            )
        if not trajectory_steps[-1]["done"] or len(steps) > MAX_STEPS:
            raise SystemExit(f"{name} must finish within {MAX_STEPS} steps")
        git(workspace, environment, "add", "--all")
        patch = git(workspace, environment, "diff", "--cached", "HEAD")
        reward, output = verdict(workspace, environment)
    return {
        "trajectory_steps": trajectory_steps,
        "problem_statement": (HERE / "issue.md").read_text(encoding="utf-8"),
        "docker_image": IMAGE,
        "exp_name": name,
        "env_args": {},
        "agent_args": {"name": "ScriptedAgent", "llm_name": "scripted"},
        "ds": {"instance_id": INSTANCE},
        "max_steps": MAX_STEPS,
        "max_steps_absolute": MAX_STEPS_ABSOLUTE,
        "max_token_limit": 65536,
        "max_llm_time": 7200,
        "max_exec_time": 90,
        "max_total_time": 50000,
        # R2E-Gym names the limit when the last call comes with no step remaining.
        "exit_reason": "max_step_limit" if len(steps) == MAX_STEPS else "agent",
        "output_patch": patch,
        "reward": reward,
        "test_output": tools.outward(output),
        "custom_test_outputs": {},
        "regression_test_output": None,
    }


def prepare(workspace, environment):
    skip = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info")
    shutil.copytree(HERE / "package", workspace, ignore=skip, copy_function=shutil.copyfile)
    git(workspace, environment, "init", "--quiet", "--initial-branch=main")
    for key, value in (("core.autocrlf", "false"), ("core.abbrev", "7"), ("core.filemode", "false")):
        git(workspace, environment, "config", key, value)
    git(workspace, environment, "add", "--all")
    git(workspace, environment, "commit", "--quiet", "--message", "slugify_lite 0.3.0")


def git(workspace, environment, *arguments):
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, encoding="utf-8", check=True)
    return done.stdout


def verdict(workspace, environment):
    """Run the hidden tests in the workspace and return (reward, output)."""
    shutil.copytree(HERE / "hidden_tests", workspace / "hidden_tests", ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "hidden_tests"]
    done = subprocess.run(command, cwd=workspace, env=environment, capture_output=True, encoding="utf-8")
    return (1.0 if done.returncode == 0 else 0.0), done.stdout


# Comparison: everything counts but times, and what depends on the version of pytest:
# the lines of its header, and empty lines in its explanation of an assertion.

TIMES = {"total_time", "llm_exec_time", "env_exec_time", "total_step_time", "total_time_traj"}
VERSIONS = re.compile(r"^(?:(?:platform |plugins: |rootdir: |cachedir: |configfile: ).*|E *)\n", re.MULTILINE)
DURATION = re.compile(r"\bin \d+\.\d+s\b")


def comparable(value, key=""):
    if key in TIMES:
        return None
    if isinstance(value, dict):
        return {inner: comparable(item, inner) for inner, item in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, str):
        return DURATION.sub("in 0.00s", VERSIONS.sub("", value))
    return value


def lines_of(rollouts):
    text = json.dumps([comparable(rollout) for rollout in rollouts], indent=1, ensure_ascii=False)
    return text.replace("\\n", "\n").splitlines()


def check(rollouts):
    kept = [json.loads(line) for line in ROLLOUTS.read_text(encoding="utf-8").splitlines()]
    before, after = lines_of(kept), lines_of(rollouts)
    if before == after:
        print(f"{ROLLOUTS.name}: {len(kept)} rollouts, equal")
        return 0
    diff = difflib.unified_diff(before, after, f"{ROLLOUTS.name} as kept", "as recorded now", lineterm="")
    print("\n".join(diff))
    return 1


if __name__ == "__main__":
    sys.exit(main())
