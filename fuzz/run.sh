#!/usr/bin/env bash
# Runs fuzz targets one after the other and writes one line per target with what came out.
#
# usage: fuzz/run.sh [TARGET...]            (all without a name)
# RUNS and SECONDS_EACH bound each run; what is found lies in fuzz/artifacts, what a run learned in
# fuzz/work (neither belongs to the repository). Needs cargo-fuzz and a nightly toolchain.
set -euo pipefail
cd "$(dirname "$0")/.."
RUNS="${RUNS:-2000000}"
SECONDS_EACH="${SECONDS_EACH:-180}"
OUT="${OUT:-fuzz/work}"
# With BIN the binaries of that folder are run as they are.
if [ -z "${BIN:-}" ]; then
  cargo +nightly fuzz build -s none "${@:1:$(($# == 1))}"
  BIN="fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release"
fi
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(sed -n '/^\[\[bin/{n;s/name = "\(.*\)"/\1/p}' fuzz/Cargo.toml)
fi
mkdir -p "$OUT/logs" fuzz/artifacts
# The threads that load files have no more stack than this.
ulimit -s 2048
# Content that is unpacked stays in memory, where there is such a folder.
[ -d /dev/shm ] && export TMPDIR=/dev/shm
failed=0
for target in "${targets[@]}"; do
  mkdir -p "$OUT/corpus/$target" "fuzz/artifacts/$target"
  python3 fuzz/dictionary.py "$target" > "$OUT/$target.dict"
  longest=8192
  case "$target" in containers) longest=2048 ;; shell|clean|settings|profile|tables) longest=4096 ;; esac
  log="$OUT/logs/$target.log"
  code=0
  nice -n 10 "$BIN/$target" "$OUT/corpus/$target" "fuzz/corpus/$target" \
    -runs="$RUNS" -max_total_time="$SECONDS_EACH" -max_len="$longest" -rss_limit_mb=1024 -timeout=10 \
    -dict="$OUT/$target.dict" -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 \
    > "$log" 2>&1 || code=$?
  awk -v target="$target" -v code="$code" '
    /stat::number_of_executed_units/ { runs = $2 }
    /stat::average_exec_per_sec/ { rate = $2 }
    /stat::peak_rss_mb/ { rss = $2 }
    / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    /^Done / { seconds = $5 }
    END { printf "%-24s runs %8s  seconds %4s  per second %6s  edges %6s  peak MB %5s  %s\n",
          target, runs, seconds, rate, edges, rss, code == 0 ? "ok" : "FOUND (" code ")" }' "$log" \
    | tee -a "$OUT/results.txt"
  [ "$code" -eq 0 ] || failed=1
done
exit "$failed"
