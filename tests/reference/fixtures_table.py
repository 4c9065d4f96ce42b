"""An independent reading of this project's own fixtures: the formats that the corpus has no file of.

    fixtures_table.py FIXTURES      one JSON line per rollout: [thought, tool, arguments, observation] of
                                    each step, in file order

Standard library only; a step is what the wording of the formats says. Arguments are `null` where a
step is no call.
"""

import json
import re
import sys
from pathlib import Path

from trainers_table import Talk, arguments, lines


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(p["text"] for p in content or [] if p.get("text"))


def traces(path):
    for episode in lines(path):
        for trace in episode["traces"]:
            talk = Talk()
            for node in trace["nodes"]:
                m = node["message"]
                if m["role"] == "assistant":
                    talk.say(m["content"])
                    for c in m.get("tool_calls") or []:
                        talk.call(c["name"], arguments(c["arguments"]), c["id"])
                elif m["role"] == "tool":
                    talk.back(m["content"], m["tool_call_id"])
            yield talk.end()


def verl_agent(path):
    """One row per step, each with the state that it shows and the action that it chose."""
    rows = {}
    for row in lines(path):
        number = re.search(r"You are now at step (\d+)", row["input"])
        shown = re.search(r"current observation is: (.*)", row["input"]).group(1)
        found = re.fullmatch(r"<think>(.*)</think><action>(.*)</action>", row["output"])
        key = row["traj_uid"]
        rows.setdefault(key, []).append((int(number.group(1)) if number else 1, shown, found))
    for key in sorted(rows):
        steps = sorted(rows[key], key=lambda r: r[0])
        yield [[f.group(0), None, None, None, shown, f.group(2)] for _, shown, f in steps]


def skyrl(path):
    for row in lines(path):
        talk = Talk()
        for piece in re.split(r"<\|im_end\|>\n?", row["output_response"]):
            piece = re.sub(r"<\|im_start\|>(assistant|user)\n", "", piece)
            back = re.fullmatch(r"<tool_response>\n(.*)\n</tool_response>", piece, re.S)
            if back:
                talk.back(back.group(1))
                continue
            text, *calls = piece.split("<tool_call>\n")
            if text.strip():
                talk.say(text.strip())
            for call in calls:
                value = json.loads(call[: call.rindex("\n</tool_call>")])
                talk.call(value["name"], arguments(value["arguments"]))
        yield talk.end()


def rlvr(path):
    for table in lines(path):
        for answer in table["responses"]:
            talk = Talk()
            for at, piece in enumerate(re.split(r"\nuser\n(?=<tool_response>\n)", answer)):
                if at:
                    result, _, piece = piece.rpartition("\n</tool_response>\nassistant\n")
                    talk.back(result.removeprefix("<tool_response>\n"))
                text, *calls = piece.split("<tool_call>\n")
                if text.strip():
                    talk.say(text.strip())
                for call in calls:
                    value = json.loads(call[: call.rindex("\n</tool_call>")])
                    talk.call(value["name"], arguments(value["arguments"]))
            yield talk.end()


def chat(path):
    for row in lines(path):
        talk = Talk()
        for m in row["messages"]:
            if m["role"] == "assistant":
                if m["content"]:
                    talk.say(m["content"])
                for c in m.get("tool_calls") or []:
                    given = c["function"]["arguments"]
                    talk.call(c["function"]["name"], arguments(given) if given else {}, c["id"])
            elif m["role"] == "tool":
                talk.back(m["content"], m["tool_call_id"])
        yield talk.end()


def rllm(path):
    for trajectory in json.loads(path.read_text(encoding="utf-8"))["trajectories"]:
        steps = trajectory["steps"]
        after = [s["observation"] for s in steps[1:]] + [None]
        read = []
        for s, seen in zip(steps, after):
            if isinstance(s["action"], list):
                call = s["action"][0]["function"]
                read.append([s["thought"], call["name"], arguments(call["arguments"]), seen])
            else:
                # An action in words is the answer itself.
                read.append([s["model_response"], None, None, seen])
        yield read


def claude(path):
    talk, seen = Talk(), set()
    for line in lines(path):
        message = line.get("message") or {}
        if line.get("isSidechain") or line.get("parent_tool_use_id") or line.get("isMeta"):
            continue
        parts = message.get("content") or []
        for part in [{"type": "text", "text": parts}] if isinstance(parts, str) else parts:
            mark = json.dumps([message.get("id"), part], sort_keys=True)
            if line["type"] == "assistant" and mark in seen:
                continue
            seen.add(mark)
            if part["type"] == "tool_result":
                talk.back(text_of(part["content"]), part["tool_use_id"])
            elif line["type"] == "user":
                talk.other(part["text"])
            elif part["type"] == "tool_use":
                # The calls of one message share a turn, whatever came back between its lines.
                talk.heard = False if message["id"] == getattr(talk, "message", None) else talk.heard
                talk.call(part["name"], part["input"], part["id"])
            else:
                talk.say(part.get("text") or part.get("thinking"))
            if line["type"] == "assistant":
                talk.message = message["id"]
    yield talk.end()


def codex(path):
    talk = Talk()
    for line in lines(path):
        item = line["payload"] if line.get("type") == "response_item" else line
        kind = item.get("type")
        if kind == "reasoning":
            talk.say("\n".join(s["text"] for s in item["summary"]))
        elif kind == "message" and item["role"] == "assistant":
            talk.say(text_of(item["content"]))
        elif kind == "function_call":
            talk.call(item["name"], arguments(item["arguments"]), item["call_id"])
        elif kind == "custom_tool_call":
            talk.call(item["name"], {"input": item["input"]}, item["call_id"])
        elif kind == "local_shell_call":
            talk.call("local_shell", item["action"], item["call_id"])
        elif kind in ("function_call_output", "custom_tool_call_output"):
            talk.back(item["output"], item["call_id"])
    yield talk.end()


def openhands(path):
    for row in lines(path):
        talk = Talk()
        for event in row["history"]:
            if event["kind"] == "ActionEvent":
                talk.say(text_of(event["thought"]))
                call = event["tool_call"]
                talk.call(event["tool_name"], arguments(call["arguments"]), event["tool_call_id"])
            elif event["kind"] == "ObservationEvent":
                talk.back(text_of(event["observation"]["content"]), event["tool_call_id"])
        yield talk.end()


def session(path):
    talk = Talk()
    for event in json.loads(path.read_text(encoding="utf-8")):
        if event["source"] == "agent" and event.get("action") == "run":
            args = dict(event["args"])
            args.pop("hidden", None)  # what the interface does with it, no argument
            talk.say(args.pop("thought"))
            talk.call("run", args, event["id"])
        elif "observation" in event:
            talk.back(event["content"], event["cause"])
        elif event["source"] == "agent" and event.get("action") == "message":
            talk.say(event["args"]["content"])
    yield talk.end()


FILES = [
    ("trainers/rollouts/step_3/train/all/traces.jsonl", "verifiers-traces", traces),
    ("trainers/verl_agent/3.jsonl", "verl", verl_agent),
    ("trainers/dumped_evals/global_step_8_evals/library.jsonl", "skyrl", skyrl),
    ("trainers/roll_rlvr/rollout_dump_data.step_5.jsonl", "roll", rlvr),
    ("trainers/swe_gym.jsonl", "messages", chat),
    ("trainers/episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_0.json", "rllm", rllm),
    ("trainers/episodes/train_step_12_epoch_0/episode_hash0badcafe_idlib-1_1.json", "rllm", rllm),
    ("agents/claude-code/session.jsonl", "claude-code", claude),
    ("agents/claude-code/stream.jsonl", "claude-code", claude),
    ("agents/codex/rollout-new.jsonl", "codex", codex),
    ("agents/codex/rollout-old.jsonl", "codex", codex),
    ("agents/openhands/v1/run-1/output.critic_attempt_1.jsonl", "openhands", openhands),
    ("agents/openhands/v1/run-1/output.critic_attempt_2.jsonl", "openhands", openhands),
    ("agents/openhands/session.json", "openhands-gui", session),
]


if __name__ == "__main__":
    for name, kind, read in FILES:
        for steps in read(Path(sys.argv[1]) / name):
            print(json.dumps({"file": name, "format": kind, "steps": steps}))
