#!/usr/bin/env python3
"""Let scripted agents serve the travellers of tasks.py and write results.json.

    python3 make.py           write results.json (tau-bench's result format)
    python3 make.py --check   compare with results.json byte for byte;
                              exit status 1 and a message if unequal

Needs nothing but Python. The seed is fixed, so the file is always the same.
"""

import argparse
import json
import random
import string
import sys
from pathlib import Path

from desk import POLICY, Desk
from tasks import TASKS, Call, User

RESULTS = Path(__file__).resolve().parent / "results.json"
SEED = 649
MAX_STEPS = 30
# One run is lost to the infrastructure: its row holds the error and no messages.
LOST = {(4, 3)}
LOST_INFO = {
    "error": "model endpoint did not answer within 600 seconds",
    "traceback": (
        "Traceback (most recent call last):\n"
        '  File "run.py", line 74, in run_one\n'
        "    result = agent.solve(env, task_id)\n"
        '  File "agent.py", line 41, in solve\n'
        "    message = complete(messages, tools)\n"
        '  File "model.py", line 19, in complete\n'
        '    raise TimeoutError("model endpoint did not answer within 600 seconds")\n'
        "TimeoutError: model endpoint did not answer within 600 seconds\n"
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with results.json, write nothing")
    arguments = parser.parse_args()
    rows = all_rows()
    text = json.dumps(rows, indent=2) + "\n"
    if arguments.check:
        equal = RESULTS.read_text(encoding="utf-8") == text
        print(f"{RESULTS.name}: {'equal' if equal else 'NOT equal to what make.py makes'}")
        return 0 if equal else 1
    RESULTS.write_text(text, encoding="utf-8")
    for task_id in range(len(TASKS)):
        mine = [row for row in rows if row["task_id"] == task_id]
        print(f"task {task_id:>2}: {' '.join(outcome(row) for row in mine)}")
    return 0


def all_rows():
    trials = range(max(task.trials for task in TASKS))
    return [
        one_row(task_id, trial)
        for trial in trials
        for task_id, task in enumerate(TASKS)
        if trial < task.trials
    ]


def outcome(row):
    if "error" in row["info"]:
        return "error"
    if row["info"]["reward_info"] is None:
        return "truncated"
    return "success" if row["reward"] else "failure"


def one_row(task_id, trial):
    if (task_id, trial) in LOST:
        return {"task_id": task_id, "reward": 0.0, "info": LOST_INFO, "traj": [], "trial": trial}
    task = TASKS[task_id]
    messages, desk, source, finished, user_cost = talk(task, random.Random(f"{SEED}/{task_id}/{trial}"))
    reward_info = judge(task, desk, messages) if finished else None
    info = {
        "task": {
            "user_id": task.user_id,
            "actions": task.actions,
            "instruction": task.instruction,
            "outputs": task.outputs,
        },
        "source": source,
        "user_cost": user_cost if finished else None,
        "reward_info": reward_info,
    }
    reward = reward_info["reward"] if reward_info else 0.0
    return {"task_id": task_id, "reward": reward, "info": info, "traj": messages, "trial": trial}


def talk(task, rng):
    """Run one conversation; return (messages, desk, source of the last answer, finished, user cost)."""
    desk, user = Desk(), User(task, rng)
    messages = [
        {"role": "system", "content": POLICY},
        {"role": "user", "content": rng.choice(task.opening)},
    ]
    source, answer, heard = "user", None, len(messages[1]["content"])
    agent = task.agent(rng)
    for _ in range(MAX_STEPS):
        action = agent.send(answer)
        if isinstance(action, Call):
            call_id = "call_" + "".join(rng.choices(string.ascii_letters + string.digits, k=24))
            arguments = json.dumps(action.arguments, separators=(",", ":"))
            messages.append(
                {
                    "content": None,
                    "role": "assistant",
                    "tool_calls": [
                        {"function": {"arguments": arguments, "name": action.name}, "id": call_id, "type": "function"}
                    ],
                }
            )
            answer = desk.call(action.name, json.loads(arguments))
            messages.append({"role": "tool", "tool_call_id": call_id, "name": action.name, "content": answer})
            source = action.name
            if action.name == "transfer_to_human_agents":
                break
        else:
            messages.append({"content": action.text, "role": "assistant"})
            answer = user.reply(action.topic)
            messages.append({"role": "user", "content": answer})
            heard += len(action.text) + len(answer)
            source = "user"
            if "###STOP###" in answer:
                break
    else:
        return messages, desk, source, False, None
    return messages, desk, source, True, round(heard * 2.5e-6, 7)


def judge(task, desk, messages):
    """Compare the database with the one that the right actions leave, and look for the outputs."""
    right = Desk()
    for action in task.actions:
        answer = right.call(action["name"], action["kwargs"])
        if answer.startswith("Error"):
            raise SystemExit(f"a right action of {task.user_id} fails: {answer}")
    same = desk.digest() == right.digest()
    reward = 1.0 if same else 0.0
    info = {"r_actions": reward, "gt_data_hash": right.digest()}
    if task.outputs:
        said = [message["content"].replace(",", "") for message in messages if message["role"] == "assistant" and message["content"]]
        found = {output: any(output in text for text in said) for output in task.outputs}
        info = {"r_outputs": 1.0 if all(found.values()) else 0.0, "outputs": found}
        reward = reward * info["r_outputs"]
    return {"reward": reward, "info": info, "actions": task.actions}


if __name__ == "__main__":
    sys.exit(main())
