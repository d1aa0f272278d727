#!/usr/bin/env bash
# Every check of the project, one after the other: all of them run, then what failed and what was skipped is listed.
# Usage: check.sh PYTHON, a Python in a virtual environment with the package's "test" extra. Needs no terminal.

set -u
cd "$(dirname "$0")/.." || exit 1
python=$1
export CI=true
failed=()
skipped=()

step() { # step NAME COMMAND...
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    if "$@" </dev/null; then
        echo "== $name: passed in $((SECONDS - start)) s"
    else
        echo "== $name: FAILED in $((SECONDS - start)) s"
        failed+=("$name")
    fi
}

skip() { # skip NAME REASON
    echo "== $1: skipped: $2"
    skipped+=("$1: $2")
}

find_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

install_chromium() {
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    command -v apt-get >/dev/null || return 1
    echo "== Chromium: installing it with apt-get"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium </dev/null >/dev/null 2>&1 && return
    "${as_root[@]}" apt-get update -qq </dev/null >/dev/null 2>&1
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium </dev/null >/dev/null
}

node_suits() {
    node -e 'const [a, b] = process.versions.node.split(".").map(Number);
             process.exit((a === 20 && b >= 19) || (a === 22 && b >= 12) || a > 22 ? 0 : 1)' 2>/dev/null
}

frontend_packages() {
    (cd frontend && npm ci --no-audit --no-fund --loglevel=error)
}

# The bundle is committed so that nobody needs Node to install the plugin; it must be what the sources build.
bundle_is_fresh() {
    local built
    built=$(mktemp -d) || return 1
    (cd frontend && npm run --silent build -- --logLevel warn --emptyOutDir --outDir "$built") &&
        diff -rq "$built" tensorboard_plugin_dlprof/static
    local code=$?
    rm -rf "$built"
    [ $code = 0 ] || echo "tensorboard_plugin_dlprof/static is not what frontend/ builds: run 'make frontend', commit it."
    return $code
}

step "ruff" "$python" -m ruff check .
step "ruff format" "$python" -m ruff format --check .
step "mypy" "$python" -m mypy

if ! command -v npm >/dev/null; then
    skip "frontend" "npm is not installed; it needs Node 20.19, 22.12 or newer"
elif ! node_suits; then
    skip "frontend" "Node $(node -v) is too old; it needs Node 20.19, 22.12 or newer"
else
    step "frontend packages" frontend_packages
    step "frontend" npm --prefix frontend run --silent check
    step "bundle" bundle_is_fresh
fi

find_chromium >/dev/null || install_chromium
if ! find_chromium >/dev/null; then
    skip "browser tests" "Chromium is not installed and cannot be installed here (apt-get as root or with sudo)"
fi
if [ -z "${DLPROF_TEST_DATA:-}" ] && [ ! -d ../shared/data ]; then
    skip "tests on the shared profiles" "there are none beside the clone; DLPROF_TEST_DATA can name their folder"
fi
step "pytest" "$python" -m pytest -q -n "${DLPROF_TEST_WORKERS:-2}"

echo
for line in ${skipped[@]+"${skipped[@]}"}; do echo "skipped: $line"; done
for line in ${failed[@]+"${failed[@]}"}; do echo "FAILED: $line"; done
[ ${#failed[@]} = 0 ] && echo "All checks passed."
