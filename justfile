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

# The time that the text of a step takes on demand, by format.
bench-texts:
    cargo bench --bench texts

# Key to frame, frame, and first frame, beside verl's rollout viewer where `just viewer` has put it.
bench-screen:
    cargo bench --bench screen

# Fetches verl's rollout viewer, and what it needs, into target/viewer: for bench-screen alone.
viewer:
    mkdir -p target/viewer
    python3 -m venv target/viewer/venv
    target/viewer/venv/bin/pip install --quiet textual==0.52.1 rich typer aiofiles packaging
    target/viewer/venv/bin/pip download --quiet --no-deps --dest target/viewer verl
    cd target/viewer && python3 -c "import glob, zipfile; z = zipfile.ZipFile(glob.glob('verl-*.whl')[0]); open('rollout_viewer.py', 'wb').write(z.read('scripts/rollout_viewer.py'))"

# Fuzz targets, all or by name: 2 million executions or 3 minutes each (docs/fuzzing.md).
fuzz *TARGETS:
    fuzz/run.sh {{TARGETS}}
