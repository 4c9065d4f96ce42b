# Everything, as the checks run it.
check:
    .ci/run

# The screen on sample data.
demo:
    cargo run --release -- sample-data/slugify-fix/rollouts.jsonl

bench:
    cargo bench
