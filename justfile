# Everything, as the checks run it.
check:
    .ci/run

# The screen on sample data.
demo:
    cargo run --release -- sample-data/slugify-fix/rollouts.jsonl

bench:
    cargo bench

# Time and peak memory of loading 100 MB and 1 GB, beside Python's orjson doing only the parse.
bench-load *SIZES:
    cargo bench --bench load -- {{SIZES}}

# Fuzz targets, all or by name: 2 million executions or 3 minutes each (docs/fuzzing.md).
fuzz *TARGETS:
    fuzz/run.sh {{TARGETS}}
