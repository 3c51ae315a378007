#!/bin/sh
# Runs the browser tests against a server of their own and the lab, which must be up.
#   end2end/run.sh [arguments of playwright test]
# HOPWISE_BIN  the built server (default: target/debug/hopwise)
# LAB_DIR      the lab's folder (default: /var/cache/hopwise-lab)
# The server gets a fresh state folder and a free port, and is ended by its process id, always.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(dirname -- "$here")
bin=${HOPWISE_BIN:-${CARGO_TARGET_DIR:-$root/target}/debug/hopwise}
lab=${HOPWISE_LAB:-$root/lab/lab}
lab_dir=${LAB_DIR:-/var/cache/hopwise-lab}

fail() { echo "end2end: $*" >&2; exit 1; }
[ -x "$bin" ] || fail "$bin is not there: build it first (cargo leptos build), or set HOPWISE_BIN"
[ -x "$root/node_modules/.bin/playwright" ] || fail "Playwright is not there: run npm ci"
"$lab" status >/dev/null || fail "the lab is not up: run $lab up"

state=$(mktemp -d "${TMPDIR:-/tmp}/hopwise-e2e.XXXXXX")
log=$state.log
server=
finish() {
    status=$?
    trap - EXIT INT TERM
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    "$lab" clear >/dev/null 2>&1 || echo "end2end: the lab's faults could not be cleared: run $lab clear" >&2
    rm -rf "$state" "$state.cookies"
    if [ "$status" -eq 0 ]; then rm -f "$log"; else echo "end2end: the server's log is $log" >&2; fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

"$lab" clear >/dev/null
# shellcheck disable=SC2086 # several arguments in one variable
"$bin" serve --state "$state" --listen 127.0.0.1:0 ${HOPWISE_SERVE_ARGS:-} >"$log" 2>&1 &
server=$!

# The first start may have to make its database cluster.
waited=0
until url=$(sed -n 's/.*Listening on \(http[^ ]*\).*/\1/p' "$log" | head -n 1) && [ -n "$url" ] &&
    link=$(sed -n 's/.*Sign in: \(http[^ ]*\).*/\1/p' "$log" | head -n 1) && [ -n "$link" ]; do
    kill -0 "$server" 2>/dev/null || { tail -n 20 "$log" >&2; fail "the server ended"; }
    waited=$((waited + 1))
    [ "$waited" -le 120 ] || { tail -n 20 "$log" >&2; fail "the server did not print its address within 60 s"; }
    sleep 0.5
done

cd "$here"
HOPWISE_E2E_COOKIES=$state.cookies HOPWISE_BIN=$bin HOPWISE_URL=$url HOPWISE_SIGN_IN_LINK=$link HOPWISE_LAB=$lab HOPWISE_LAB_DIR=$lab_dir \
    "$root/node_modules/.bin/playwright" test "$@"
