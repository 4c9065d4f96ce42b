"""Steps, states, branching states and compared steps of each task of a tau-bench file, counted from the
file alone: a state is the set of successful calls of the six writing tools, an action is the tool with
its arguments, or a reply. Prints one JSON object: task -> [steps, states, branching, compared]."""
import collections
import json
import sys

WRITING = {
    "book_reservation", "cancel_reservation", "send_certificate", "update_reservation_flights",
    "update_reservation_baggages", "update_reservation_passengers",
}


def walk(messages):
    state = frozenset()
    for k, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        calls = message.get("tool_calls")
        if not calls:
            if (message.get("content") or "").strip():
                yield state, ("reply",)
            continue
        function = calls[0]["function"]
        arguments = json.dumps(json.loads(function["arguments"]), sort_keys=True)
        action = (function["name"], arguments)
        yield state, action
        answer = messages[k + 1]["content"] if k + 1 < len(messages) else ""
        if function["name"] in WRITING and not (answer or "").startswith("Error"):
            state = state | {action}


groups = collections.defaultdict(list)
for row in json.load(open(sys.argv[1])):
    groups[str(row["task_id"])].append(list(walk(row["traj"])))
table = {}
for task, rollouts in groups.items():
    here = collections.defaultdict(set)
    for i, steps in enumerate(rollouts):
        for state, action in steps:
            here[state].add((i, action))
    branching = sum(
        len({i for i, _ in taken}) > 1 and len({a for _, a in taken}) > 1 for taken in here.values()
    )
    compared = sum(
        any(j != i and b != action for j, b in here[state])
        for i, steps in enumerate(rollouts)
        for state, action in steps
    )
    table[task] = [sum(map(len, rollouts)), len(here), branching, compared]
print(json.dumps(table))
