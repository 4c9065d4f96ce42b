#!/usr/bin/env python3
"""An independent reading of agent trajectories: what is in the files, from the files alone.

  agents_table.py ROOT            one JSON line per file: counts and rewards
  agents_table.py ROOT --steps N  one JSON line per step, N of them per format, chosen by a fixed seed
  agents_table.py ROOT --members  one JSON line per sample of an Inspect archive, with its text

Only the standard library is used.
"""
import json
import os
import random
import re
import sys
import zipfile

FENCE = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)


def text_of(content):
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = [p if isinstance(p, str) else p.get("text") or p.get("reasoning") or "" for p in content]
    return "\n".join(p for p in parts if p)


def step(thought="", tool=None, args=None, call=None):
    return {"thought": thought, "tool": tool, "args": args or {}, "observation": None, "call": call}


def add(one, text):
    old = one["observation"]
    one["observation"] = text if old is None else "\n".join(t for t in (old, text) if t)


def by_id(steps, call, text):
    for one in reversed(steps):
        if one["call"] == call and one["observation"] is None:
            one["observation"] = text
            return


def chat(messages):
    """Steps of an OpenAI-like conversation with tool calls."""
    steps = []
    for m in messages:
        role, text = m.get("role"), text_of(m.get("content"))
        if role == "assistant":
            calls = m.get("tool_calls") or []
            for n, c in enumerate(calls):
                f = c["function"]
                name, args = (f, c["arguments"]) if isinstance(f, str) else (f["name"], f["arguments"])
                args = json.loads(args) if isinstance(args, str) else args
                steps.append(step("" if n else text, name, args, c["id"]))
            if not calls:
                steps.append(step(text))
        elif role == "tool":
            by_id(steps, m.get("tool_call_id"), text)
        elif role == "user" and steps:
            add(steps[-1], text)
    return steps


def fenced(messages):
    """Steps of a conversation with one fenced command per answer."""
    steps = []
    for m in messages:
        text = m["content"]
        if m["role"] == "assistant":
            found = list(FENCE.finditer(text))
            if len(found) == 1:
                hit = found[0]
                around = (text[: hit.start()].strip(), text[hit.end():].strip())
                thought = "\n".join(t for t in around if t)
                steps.append(step(thought, "bash", {"command": hit.group(1).strip()}))
            else:
                steps.append(step(text))
        elif m["role"] == "user" and steps:
            add(steps[-1], text)
    return steps


LIMITS = {"LimitsExceeded", "TimeExceeded", "RepeatedFormatError", "exit_cost", "exit_context", "exit_format"}


def ending(word):
    if word in (None, "", "submitted", "Submitted"):
        return None
    return "limit" if word in LIMITS else "error"


def mini(path, root):
    data = json.load(open(path, encoding="utf-8"))
    info = data["info"]
    second = data["trajectory_format"] != "mini-swe-agent-1"
    yield {
        "task": data["instance_id"],
        "policy": info["config"]["model"]["model_name"],
        "ending": ending(info["exit_status"]),
        "steps": chat(data["messages"]) if second else fenced(data["messages"]),
    }


def swe(path, root):
    data = json.load(open(path, encoding="utf-8"))
    stats = data["info"].get("model_stats") or {}
    config = data.get("replay_config") or {}
    config = json.loads(config) if isinstance(config, str) else config
    policy = None
    if stats.get("tokens_sent") or stats.get("tokens_received"):
        policy = ((config.get("agent") or {}).get("model") or {}).get("name")
    steps = []
    for s in data["trajectory"]:
        if s["action"].strip() or s["response"]:
            one = step(s["thought"], "bash", {"command": s["action"]})
            one["observation"] = s["observation"]
            steps.append(one)
    yield {
        "task": os.path.basename(path)[: -len(".traj")],
        "policy": policy,
        "ending": ending(data["info"]["exit_status"]),
        "steps": steps,
    }


def openhands(path, root):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        data = json.loads(line)
        steps, where = [], {}
        for e in data["history"]:
            if "action" in e and e["source"] == "agent" and e["action"] != "system":
                meta = e["tool_call_metadata"]
                answer = meta["model_response"]["choices"][0]["message"]
                call = next(c for c in answer["tool_calls"] if c["id"] == meta["tool_call_id"])
                args = json.loads(call["function"]["arguments"])
                where[e["id"]] = len(steps)
                steps.append(step(text_of(answer["content"]), meta["function_name"], args))
            elif "observation" in e and e.get("cause") in where:
                add(steps[where[e["cause"]]], e["content"])
            elif e.get("observation") == "error" and "cause" not in e:
                # The refusal of a call that is not among the actions.
                steps.append(step())
                add(steps[-1], e["content"])
        error = data["error"]
        yield {
            "line": number,
            "task": data["instance_id"],
            "policy": data["metadata"]["llm_config"]["model"],
            "ending": None if not error else "limit" if "maximum iteration" in error else "error",
            "verdict": (data.get("report") or {}).get("resolved"),
            "steps": steps,
        }


VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def sample(data, log):
    scores = data.get("scores") or {}
    value = next(iter(scores.values()))["value"] if scores else None
    kept = data.get("attachments") or {}
    messages = json.loads(json.dumps(data["messages"]), object_hook=None)
    for m in messages:
        if isinstance(m.get("content"), str) and m["content"].startswith("attachment://"):
            m["content"] = kept.get(m["content"][len("attachment://"):], m["content"])
    return {
        "task": str(data["id"]),
        "namespace": log["eval"]["task"],
        "policy": log["eval"]["model"],
        "reward": VALUES.get(value, value) if not isinstance(value, (dict, list)) else None,
        "ending": "error" if data.get("error") else "limit" if data.get("limit") else None,
        "steps": chat(messages),
    }


def inspect(path, root):
    log = json.load(open(path, encoding="utf-8"))
    for part, data in enumerate(log["samples"]):
        yield {"part": part, **sample(data, log)}


def archive(path, root):
    with zipfile.ZipFile(path) as z:
        log = json.loads(z.read("header.json"))
        for name in z.namelist():
            if name.startswith("samples/"):
                raw = z.read(name).decode("utf-8")
                yield {"member": name, "text": raw, "header": z.read("header.json").decode(), **sample(json.loads(raw), log)}


def atif(path, root):
    data = json.load(open(path, encoding="utf-8"))
    steps, task = [], None
    for s in data["steps"]:
        message = text_of(s["message"])
        if s["source"] == "user":
            task = task or message
            if steps:
                add(steps[-1], message)
        elif s["source"] == "agent" and not s.get("is_copied_context"):
            calls = s.get("tool_calls") or []
            first = len(steps)
            for n, c in enumerate(calls):
                steps.append(step("" if n else message, c["function_name"], c["arguments"], c["tool_call_id"]))
            if not calls:
                steps.append(step(message))
            for result in (s.get("observation") or {}).get("results", []):
                call = result.get("source_call_id")
                targets = [o for o in steps[first:] if call is None or o["call"] == call]
                add(targets[-1], text_of(result.get("content")))
    yield {"task": task, "policy": data["agent"].get("model_name"), "ending": None, "steps": steps}


def reading(path, root):
    name = os.path.relpath(path, root)
    if name.endswith(".traj.json"):
        return "mini-swe-agent", mini
    if name.endswith(".traj"):
        return "swe-agent", swe
    if name.startswith("openhands/"):
        return "openhands", openhands
    if name.endswith(".eval"):
        return "inspect", archive
    if name.startswith("inspect/"):
        return "inspect", inspect
    if name.startswith("harbor-atif/"):
        return "atif", atif
    return None, None


def files(root):
    found = []
    for folder, _, names in os.walk(root):
        found += [os.path.join(folder, n) for n in names]
    for path in sorted(found):
        kind, read = reading(path, root)
        if read:
            yield path, kind, list(read(path, root))


def outcome(r):
    if r.get("verdict") is True or (r.get("reward") or 0) >= 1:
        return "success"
    if r["ending"]:
        return r["ending"]
    return "unscored" if r.get("verdict") is None and r.get("reward") is None else "failure"


def main():
    root = sys.argv[1]
    mode = sys.argv[2] if len(sys.argv) > 2 else "--table"
    rows = {}
    for path, kind, rollouts in files(root):
        file = os.path.relpath(path, root)
        if mode == "--table":
            ends = [outcome(r) for r in rollouts]
            print(json.dumps({
                "file": file,
                "format": kind,
                "groups": len({(r.get("namespace"), r["task"], r["policy"]) for r in rollouts}),
                "rollouts": len(rollouts),
                "steps": sum(len(r["steps"]) for r in rollouts),
                "scored": sum(e in ("success", "failure", "limit") for e in ends),
                "successes": ends.count("success"),
                "rewards": [r.get("reward") for r in rollouts],
            }))
        elif mode == "--members":
            for r in rollouts:
                if "member" in r:
                    keep = ("member", "text", "header", "task", "namespace", "policy", "reward")
                    print(json.dumps({**{k: r[k] for k in keep}, "file": file, "steps": len(r["steps"])}))
        else:
            for r in rollouts:
                for at, s in enumerate(r["steps"]):
                    place = {"file": file, "member": r.get("member", ""), "line": r.get("line", 1), "part": r.get("part", 0), "step": at}
                    rows.setdefault(kind, []).append({**place, **s})
    if mode == "--steps":
        chance = random.Random(20240229)
        for kind in sorted(rows):
            for row in chance.sample(rows[kind], min(int(sys.argv[3]), len(rows[kind]))):
                row.pop("call")
                print(json.dumps(row))


if __name__ == "__main__":
    main()
