#!/usr/bin/env python3
"""Let the eight agents of agents.py work in a simulated repository and write rollouts.jsonl.

    python3 make.py           write rollouts.jsonl (R2E-Gym's format)
    python3 make.py --check   compare with rollouts.jsonl byte for byte;
                              exit status 1 and a message if unequal

Needs nothing but Python 3.9 or later. The seed is fixed, so the file is always the same.
"""

import argparse
import json
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from agents import AGENTS, ISSUE  # noqa: E402
from workspace import Workspace  # noqa: E402

ROLLOUTS = Path(__file__).resolve().parent / "rollouts.jsonl"
SEED = 5
INSTANCE = "datalad_final_05ea"
MAX_STEPS = 50
NOTE = (
    "A reconstruction of the case that arXiv 2604.11037 reports under this name, made from the published figures: "
    "eight rollouts, four of them successes, and the shares of their steps in the quadrants. Repository, issue, "
    "thoughts, calls and outputs are invented; these are not the authors' rollouts."
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with rollouts.jsonl, write nothing")
    arguments = parser.parse_args()
    rollouts = [rollout(name, steps) for name, steps in AGENTS.items()]
    text = "".join(json.dumps(each) + "\n" for each in rollouts)
    if arguments.check:
        equal = ROLLOUTS.read_bytes() == text.encode()
        print(f"{ROLLOUTS.name}: {'equal' if equal else 'NOT equal to what make.py makes'}")
        return 0 if equal else 1
    ROLLOUTS.write_bytes(text.encode())
    for each in rollouts:
        failing = each["test_output"].splitlines()[-1]
        print(f"{each['exp_name']:<10} {len(each['trajectory_steps']):>3} steps  reward {each['reward']}  {failing}")
    return 0


def rollout(name, steps):
    rng = random.Random(f"{SEED}/{name}")
    workspace = Workspace(rng)
    records, total = [], 0.0
    tokens = 2100 + rng.randrange(60)
    for index, (thoughts, tool, parameters) in enumerate(steps):
        observation = workspace.call(tool, parameters)
        think, run = round(rng.uniform(2, 14), 3), round(rng.uniform(0.05, 2.5), 3)
        total = round(total + think + run, 3)
        thought = rng.choice(thoughts) if isinstance(thoughts, tuple) else thoughts
        action = written(tool, parameters)
        said = (len(thought) + len(action)) // 4
        records.append(
            {
                "step_idx": index,
                "thought": thought,
                "action": action,
                "observation": observation,
                "done": tool == "finish" or index + 1 == len(steps),
                "info": {"total_time": run},
                "token_usage_prompt": tokens,
                "token_usage_completion": said,
                "token_usage_total": tokens + said,
                "llm_exec_time": think,
                "env_exec_time": run,
                "total_step_time": round(think + run, 3),
                "total_time_traj": total,
                "step_count": index + 1,
            }
        )
        tokens += said + len(observation) // 4
    failing = workspace.verdict()
    verdict = "".join(f"FAILED {each}\n" for each in failing)
    return {
        "trajectory_steps": records,
        "problem_statement": ISSUE,
        "docker_image": "credscope/datalad_final_05ea:reconstruction",
        "exp_name": name,
        "env_args": {},
        "agent_args": {"name": "ReconstructedAgent", "llm_name": "reconstruction"},
        "ds": {"instance_id": INSTANCE, "note": NOTE},
        "max_steps": MAX_STEPS,
        "max_steps_absolute": 100,
        "max_token_limit": 65536,
        "max_llm_time": 7200,
        "max_exec_time": 90,
        "max_total_time": 50000,
        # R2E-Gym names the limit when the last call comes with no step remaining.
        "exit_reason": "max_step_limit" if len(steps) == MAX_STEPS else "agent",
        "output_patch": workspace.diff(),
        "reward": 0.0 if failing else 1.0,
        "test_output": f"{verdict}{len(failing)} failed, {5 - len(failing)} passed",
        "custom_test_outputs": {},
        "regression_test_output": None,
    }


def written(tool, parameters):
    lines = "".join(f"  <parameter={key}>{value}</parameter>\n" for key, value in parameters.items())
    return f"<function={tool}>\n{lines}</function>"


if __name__ == "__main__":
    sys.exit(main())
