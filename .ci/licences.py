"""Every dependency's licence is on the list of those that both of ours allow."""
import json, subprocess, sys

ALLOWED = {
    "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0", "Unicode-DFS-2016", "CC0-1.0",
    "Unlicense", "BSL-1.0", "0BSD", "Apache-2.0 WITH LLVM-exception", "MIT-0", "WTFPL", "MPL-2.0",
}


def allowed(expression):
    """SPDX: any alternative of OR, every part of AND; brackets as they come."""
    text = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
    words = text.split()

    def either(i):
        ok, i = both(i)
        while i < len(words) and words[i] == "OR":
            other, i = both(i + 1)
            ok = ok or other
        return ok, i

    def both(i):
        ok, i = one(i)
        while i < len(words) and words[i] == "AND":
            other, i = one(i + 1)
            ok = ok and other
        return ok, i

    def one(i):
        if words[i] == "(":
            ok, i = either(i + 1)
            return ok, i + 1
        name, i = words[i], i + 1
        if i + 1 < len(words) and words[i] == "WITH":
            name, i = f"{name} WITH {words[i + 1]}", i + 2
        return name in ALLOWED or name.split(" WITH ")[0] in ALLOWED, i

    return either(0)[0]


metadata = json.loads(
    subprocess.check_output(["cargo", "metadata", "--locked", "--format-version", "1"])
)
bad = [
    f"{p['name']} {p['version']}: {p.get('license')}"
    for p in metadata["packages"]
    if not (p.get("license") and allowed(p["license"]))
]
foreign = [
    f"{p['name']} {p['version']}: {p['source']}"
    for p in metadata["packages"]
    if p["source"] and not p["source"].startswith("registry+https://github.com/rust-lang/crates.io-index")
]
versions = {}
for p in metadata["packages"]:
    if p["name"] in ("ratatui", "ratatui-core", "crossterm", "serde", "petgraph"):
        versions.setdefault(p["name"], set()).add(p["version"])
twice = [f"{n}: {sorted(v)}" for n, v in versions.items() if len(v) > 1]
for line in bad + foreign + twice:
    print("not allowed:", line)
print(f"{len(metadata['packages'])} packages, {len(bad)} licences, {len(foreign)} sources, {len(twice)} doubles refused")
sys.exit(1 if bad or foreign or twice else 0)
