"""GRPO, RLOO, GiGPO and RTMC in numpy, written from the papers: what the bench is compared with.

Reads a file of groups, {"gamma": g, "groups": [{"reward": [n], "state": [[T]], "action": [[T]]}]}, with
terminal rewards alone, and prints times in milliseconds (best of five) and values, step by step.
"""

import json
import sys
import time

try:
    import numpy as np
except ImportError:
    print(json.dumps({"missing": "numpy"}))
    sys.exit(0)


def returns(group, gamma):
    """G_t = gamma^(steps left) R of every rollout."""
    return [
        reward * gamma ** np.arange(len(states) - 1, -1, -1)
        for reward, states in zip(group["reward"], group["state"])
    ]


def spread(values, group):
    """One value per rollout, repeated at its steps."""
    return np.repeat(values, [len(states) for states in group["state"]])


def grpo(group, gamma):
    reward = np.asarray(group["reward"], dtype=np.float64)
    return spread((reward - reward.mean()) / (reward.std(ddof=1) + 1e-6), group)


def rloo(group, gamma):
    reward = np.asarray(group["reward"], dtype=np.float64)
    n = len(reward)
    return spread(n / (n - 1) * (reward - reward.mean()), group)


def gigpo(group, gamma):
    g = np.concatenate(returns(group, 0.95))
    states = np.concatenate([np.asarray(s) for s in group["state"]])
    _, at = np.unique(states, return_inverse=True)
    step = np.zeros(len(g))
    for state in range(at.max() + 1):
        here = np.flatnonzero(at == state)
        if len(here) > 1:
            x = g[here]
            step[here] = (x - x.mean()) / (x.std(ddof=1) + 1e-6)
    return grpo(group, gamma) + step


def rtmc(group, gamma, n_prior=2.0):
    w, n = {}, {}
    for g, states, actions in zip(returns(group, gamma), group["state"], group["action"]):
        seen = set()
        for t, pair in enumerate(zip(states, actions)):
            if pair not in seen:
                seen.add(pair)
                w[pair] = w.get(pair, 0.0) + g[t]
                n[pair] = n.get(pair, 0) + 1
    ws, ns = {}, {}
    for pair in w:
        ws[pair[0]] = ws.get(pair[0], 0.0) + w[pair]
        ns[pair[0]] = ns.get(pair[0], 0) + n[pair]
    prior = float(np.mean(group["reward"]))
    smooth = {s: (ws[s] + n_prior * prior) / (ns[s] + n_prior) for s in ws}
    return np.array(
        [
            w[pair] / n[pair] - smooth[pair[0]]
            for states, actions in zip(group["state"], group["action"])
            for pair in zip(states, actions)
        ]
    )


def main():
    with open(sys.argv[1]) as file:
        data = json.load(file)
    out = {"numpy": np.__version__, "times": {}, "values": {}}
    for column in (grpo, rloo, gigpo, rtmc):
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            values = [column(group, data["gamma"]) for group in data["groups"]]
            best = min(best, time.perf_counter() - start)
        out["times"][column.__name__] = best * 1e3
        out["values"][column.__name__] = np.concatenate(values).tolist()
    print(json.dumps(out))


main()
