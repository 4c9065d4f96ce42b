"""An independent reading of the corpus files that trainers and data sets wrote.

    trainers_table.py CORPUS            one JSON line per file: groups, rollouts, steps, outcomes, rewards
    trainers_table.py CORPUS --texts    one JSON line per rollout: [thought, tool, arguments, observation]
                                        of each step, in file order

Standard library only. It reads nothing but the files and shares no code with the program: what a step
is follows the wording of the formats, by the shortest means that fit the corpus.
"""

import json
import re
import sys
from pathlib import Path

NONE = object()


class Talk:
    """A conversation that is cut into steps: a turn ends when something comes back."""

    def __init__(self):
        self.steps, self.open, self.said = [], [], []
        self.heard = True

    def begin(self):
        if self.heard:
            self.end()
            self.open, self.heard = [], False

    def say(self, text):
        self.begin()
        self.said.append(text)

    def call(self, tool, args, call_id=None):
        self.begin()
        thought = "\n".join(t for t in self.said if t)
        self.said = []
        step = {"thought": thought, "tool": tool, "args": args, "obs": None, "id": call_id}
        self.open.append(step)
        self.steps.append(step)

    def settle(self):
        if self.said:
            text, self.said = "\n".join(self.said), []
            if self.open:
                self.open[-1]["thought"] = "\n".join(t for t in (self.open[-1]["thought"], text) if t)
            else:
                step = {"thought": text, "tool": None, "args": None, "obs": None, "id": None}
                self.open.append(step)
                self.steps.append(step)

    def back(self, text, call_id=None):
        self.settle()
        self.heard = True
        if not self.steps:
            return
        waiting = [s for s in self.open if s["obs"] is None]
        named = [s for s in self.open if call_id is not None and s["id"] == call_id]
        step = (named or waiting or [self.steps[-1]])[0]
        step["obs"] = text if step["obs"] is None else "\n".join(t for t in (step["obs"], text) if t)

    def other(self, text):
        """What is no result of a call: it belongs to the last step."""
        self.settle()
        if not self.steps:
            return
        self.heard = True
        last = self.steps[-1]
        last["obs"] = text if last["obs"] is None else "\n".join(t for t in (last["obs"], text) if t)

    def end(self):
        self.settle()
        return [[s["thought"], s["tool"], s["args"], s["obs"]] for s in self.steps]


def xml(talk, text):
    found = re.search(r"<function\s*=\s*([^>]*)>(.*)", text, re.S)
    if not found:
        talk.say(text)
        return
    if text[: found.start()].strip():
        talk.say(text[: found.start()].strip())
    pairs = re.findall(r"<parameter\s*=\s*([^>]+)>(.*?)</parameter>", found.group(2), re.S)
    talk.call(found.group(1).strip() or None, {k.strip(): v.strip() for k, v in pairs})


def arguments(given):
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return given
    return value if isinstance(value, dict) else given


def number(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value else None


def rollout(task, steps, reward=None, success=None, scored=True, policy=None, train_step=None):
    if success is None:
        success = reward is not None and reward >= 1
        scored = scored and reward is not None
    return {
        "group": [task, policy, train_step], "steps": steps, "reward": number(reward),
        "success": success, "scored": scored,
    }


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def verl(path):
    for row in lines(path):
        talk = Talk()
        pieces = re.split(r"\nuser\n(?=<tool_response>\n)", row["output"])
        for at, piece in enumerate(pieces):
            if at:
                result, _, piece = piece.rpartition("\n</tool_response>\nassistant\n")
                talk.back(result.removeprefix("<tool_response>\n"))
            text, *calls = piece.split("<tool_call>\n")
            if text.strip():
                talk.say(text.strip())
            for call in calls:
                value = json.loads(call[: call.rindex("\n</tool_call>")])
                talk.call(value["name"], arguments(value["arguments"]))
        yield rollout(row["input"], talk.end(), row["score"], train_step=row["step"])


def roll(path):
    for table in lines(path):
        for data, talks, step in zip(table["trajectory_data"], table["messages"], table["global_step"]):
            data, (messages,) = json.loads(data), json.loads(talks)
            talk = Talk()
            for m in messages:
                if m["role"] == "assistant":
                    xml(talk, m["content"])
                elif m["role"] == "user":
                    talk.other(m["content"])
            env, rewards = data["env_info"], data["reward_info"]
            assert abs(sum(rewards["step_rewards"]) - rewards["episode_reward"]) < 1e-9
            key = [env["tag"], env["group_id"], env["episode_id"], env["seed"]]
            got = rollout(key, talk.end(), rewards["final_reward"], train_step=step)
            shaped = rewards["step_rewards"]
            got["step_rewards"] = shaped[:-1] + [shaped[-1] - rewards["final_reward"]]
            yield got


def tau2(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    policy = document["info"]["agent_info"]["llm"]
    for s in document["simulations"]:
        talk, messages = Talk(), s["messages"]
        if messages[0]["role"] == "assistant" and not messages[0].get("tool_calls"):
            messages = messages[1:]
        for m in messages:
            if m["role"] == "user":
                talk.other(m["content"] or "")
            elif m["role"] == "assistant":
                if m.get("content") or not m.get("tool_calls"):
                    talk.say(m.get("content") or "")
                for c in m.get("tool_calls") or []:
                    talk.call(c["name"], arguments(c["arguments"]), c["id"])
            elif m.get("requestor") == "assistant":
                talk.back(m["content"], m["id"])
        reward = (s["reward_info"] or {}).get("reward")
        yield rollout(s["task_id"], talk.end(), reward, policy=policy)


def verifiers(path):
    for row in lines(path):
        talk = Talk()
        for m in row["completion"]:
            if m["role"] == "assistant":
                calls = [json.loads(c) for c in m.get("tool_calls") or []]
                if m["content"] or not calls:
                    talk.say(m["content"])
                for c in calls:
                    talk.call(c["function"]["name"], arguments(c["function"]["arguments"]), c["id"])
            elif m["role"] == "tool":
                talk.back(m["content"])
            else:
                talk.other(m["content"])
        yield rollout(row["id"], talk.end(), row["reward"])


def xml_messages(path):
    for row in lines(path):
        talk = Talk()
        messages = row["messages"]
        for m in json.loads(messages) if isinstance(messages, str) else messages:
            if m["role"] == "assistant":
                xml(talk, m["content"])
            elif m["role"] == "user":
                talk.other(m["content"])
        known = "resolved" in row
        yield rollout(row["instance_id"], talk.end(), None, row.get("resolved", False), known, row.get("model"))


def nebius(path):
    for row in lines(path):
        talk = Talk()
        for m in row["trajectory"]:
            if m["role"] == "ai":
                blocks = list(re.finditer(r"^```[^\n]*\n(.*?)^```[^\n]*\n?", m["text"] + "\n", re.S | re.M))
                if not blocks:
                    talk.say(m["text"])
                    continue
                block = blocks[-1]
                for text in (m["text"][: block.start()], m["text"][block.end():]):
                    if text.strip():
                        talk.say(text.strip())
                talk.call("bash", {"command": block.group(1).strip()})
            elif m["role"] == "user":
                talk.other(m["text"])
        task = re.sub(r"(?<=\d)_\d+$", "", row["instance_id"])
        yield rollout(task, talk.end(), None, row["target"], True, row["model_name"])


def nemo(path):
    for row in lines(path):
        talk = Talk()
        for item in row["response"]["output"]:
            if item["type"] == "function_call":
                talk.call(item["name"], arguments(item["arguments"]), item["call_id"])
            elif item["type"] == "function_call_output":
                talk.back(item["output"], item["call_id"])
            elif item["type"] == "reasoning":
                text = "\n".join(s["text"] for s in item["summary"])
                if text:
                    talk.say(text)
            else:
                content = item["content"]
                text = content if isinstance(content, str) else "\n".join(c["text"] for c in content if c["text"])
                talk.say(text) if item["role"] == "assistant" else talk.other(text)
        metadata = (row["responses_create_params"].get("metadata") or {})
        task = metadata.get("instance_id") or row.get("instance_id") or row.get("_ng_task_index")
        if task is None:
            task = json.dumps(row["responses_create_params"]["input"])
        success = row["resolved"] if "resolved" in row else None
        yield rollout(task, talk.end(), row["reward"], success, True, row["response"]["model"])


def r2e(path):
    for row in lines(path):
        steps = []
        for s in row["trajectory_steps"]:
            found = re.search(r"<function\s*=\s*([^>]*)>(.*)", s["action"], re.S)
            before = s["action"][: found.start()].strip()
            pairs = re.findall(r"<parameter\s*=\s*([^>]+)>(.*?)</parameter>", found.group(2), re.S)
            args = {k.strip(): v.strip() for k, v in pairs}
            thought = "\n".join(t for t in (s["thought"], before) if t)
            steps.append([thought, found.group(1).strip() or None, args, s["observation"]])
        task = (row["ds"] or {}).get("instance_id") or row["docker_image"]
        yield rollout(task, steps, row["reward"], policy=row["agent_args"].get("llm_name"))


def tau(path):
    for row in json.loads(path.read_text(encoding="utf-8")):
        talk = Talk()
        for m in row["traj"]:
            calls = m.get("tool_calls") or []
            if m["role"] == "assistant":
                if m["content"] or not calls:
                    talk.say(m["content"] or "")
                for c in calls:
                    talk.call(c["function"]["name"], arguments(c["function"]["arguments"]), c["id"])
            elif m["role"] == "tool":
                talk.back(m["content"], m["tool_call_id"])
            elif m["role"] == "user":
                talk.other(m["content"])
        yield rollout(row["task_id"], talk.end(), row["reward"])


FILES = [
    ("derived/r2e_gym.astropy-12907.k8.jsonl", "r2e-gym", r2e),
    ("tau-bench/gpt-4o-airline.subset-a.json", "tau-bench", tau),
    ("nemo-gym/anyswe_astropy-12907_claude_code.jsonl", "nemo-gym", nemo),
    ("nemo-gym/anyswe_astropy-12907_hermes.jsonl", "nemo-gym", nemo),
    ("nemo-gym/anyswe_astropy-12907_opencode.jsonl", "nemo-gym", nemo),
    ("derived/verl_rollout_dir.40.jsonl", "verl", verl),
    ("derived/roll_rollout_dump_data.step_40.jsonl", "roll", roll),
    ("tau2-bench/azure-gpt-4o-2024-11-20_airline_full.json", "tau2-bench", tau2),
    ("tau2-bench/ft-gpt-4.1-tau2-full-sft_airline_default_gpt-4.1_1trials.json", "tau2-bench", tau2),
    ("tau2-bench/gpt-4.1_airline_default_gpt-4.1_1trials.json", "tau2-bench", tau2),
    ("tau2-bench/whissle_airline_run1.json", "tau2-bench", tau2),
    ("verifiers/tau-bench-env--gpt-4.1-mini/2d43698f/results.jsonl", "verifiers", verifiers),
    ("verifiers/wiki_race--claude-sonnet-4/38fb764e/results.jsonl", "verifiers", verifiers),
    ("messages/swe-smith_xml_messages.jsonl", "messages", xml_messages),
    ("swe-agent/swe-smith/ft_xml_example.jsonl", "messages", xml_messages),
    ("messages/nebius_swe-agent.jsonl", "nebius", nebius),
    ("nemo-gym/grl_sokoban.jsonl", "nemo-gym", nemo),
    ("nemo-gym/blackjack.jsonl", "nemo-gym", nemo),
    ("nemo-gym/mini_swe_agent_2.jsonl", "nemo-gym", nemo),
    ("nemo-gym/workplace_assistant_noindex.jsonl", "nemo-gym", nemo),
]


def main():
    root, texts = Path(sys.argv[1]), "--texts" in sys.argv[2:]
    for name, kind, read in FILES:
        if not (root / name).exists():
            continue
        rollouts = list(read(root / name))
        if texts:
            for r in rollouts:
                print(json.dumps({
                    "file": name, "format": kind, "steps": r["steps"],
                    "step_rewards": r.get("step_rewards"),
                }))
            continue
        groups = {json.dumps(r["group"]) for r in rollouts}
        print(json.dumps({
            "file": name, "format": kind, "groups": len(groups), "rollouts": len(rollouts),
            "steps": sum(len(r["steps"]) for r in rollouts),
            "scored": sum(r["scored"] for r in rollouts),
            "successes": sum(r["success"] for r in rollouts),
            "rewards": [r["reward"] for r in rollouts],
        }))


if __name__ == "__main__":
    main()
