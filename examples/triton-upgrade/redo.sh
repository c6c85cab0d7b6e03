#!/bin/sh
# Sweep the shipped kernels and the adapters for liger-kernel with two versions of Triton, and compare. Run it in a
# checkout; it needs no GPU. What it makes lies below ./triton-upgrade (two virtual environments of 2 GB each, two runs).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)
base=${1:-3.6.0}
new=${2:-3.9.0}

mkdir -p triton-upgrade
for version in "$base" "$new"; do
    environment=triton-upgrade/venv-$version
    if [ ! -d "$environment" ]; then
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet "$checkout"
        "$environment/bin/pip" install --quiet --no-deps "triton==$version"  # after torch, which pins its own
        "$environment/bin/pip" install --quiet --no-deps 'liger-kernel==0.8.5'
    fi
    [ -d "triton-upgrade/run-$version" ] || "$environment/bin/kab-mc" sweep \
        --platforms mi300,h100 --evidence compiled --no-hidden \
        --kernels "$checkout/tasks" --kernels "$checkout/examples/liger/kernels" \
        --tasks-dir "$checkout/examples/liger/tasks" --out "triton-upgrade/run-$version"
done
"triton-upgrade/venv-$new/bin/kab-mc" compare "triton-upgrade/run-$base" "triton-upgrade/run-$new" \
    --output triton-upgrade/comparison.html
"triton-upgrade/venv-$new/bin/kab-mc" compare "triton-upgrade/run-$base" "triton-upgrade/run-$new" \
    --fail-on new-failures,spills,occupancy:10%
