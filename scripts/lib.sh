# shellcheck shell=bash
# Shared by the scripts in this folder: where things are, how a step reports, how a failure reads.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${HOPWISE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hopwise}
LOGS=$CACHE/logs
export LC_ALL=C.UTF-8 CARGO_TERM_COLOR=never PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
# Queries are checked against the committed .sqlx, also where DATABASE_URL names a server for other purposes.
export SQLX_OFFLINE=${SQLX_OFFLINE:-true}

# Our own folders come first, and hold nothing but tools of the pinned versions: cargo-leptos takes the first
# `wasm-bindgen`, `wasm-opt` and `tailwindcss` on PATH without looking at their versions.
PATH=$ROOT/node_modules/.bin:$CACHE/tools/bin:$CACHE/node/bin:${HOPWISE_TOOLS:+$HOPWISE_TOOLS:}$PATH
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/local/sbin:/usr/sbin:/sbin
export PATH

say() { printf '%s\n' "$*"; }

# fail WHAT-AND-WHAT-TO-DO: the one line that ends a run.
fail() {
  printf 'hopwise: %s\n' "$*" >&2
  exit 1
}

mkdir -p "$LOGS" 2> /dev/null && [ -w "$LOGS" ] || fail "cannot write to $LOGS: mend its owner, or set HOPWISE_CACHE to a folder of yours"

is_root() { [ "$(id -u)" = 0 ]; }

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# step TITLE LOG COMMAND...: run with its output in LOG. On a terminal the last line of the log runs along, elsewhere
# there is a sign of life every 30 s. The exit status is the command's, the log's last lines are shown if it failed.
step() {
  local title=$1 log=$2 begun=$SECONDS shown=$SECONDS pid status=0 last
  shift 2
  : > "$log"
  [ -t 1 ] || say "  $title ..."
  # A group of its own, so that Ctrl-C reaches us first and we can end all of it.
  setsid "$@" < /dev/null >> "$log" 2>&1 &
  pid=$!
  # shellcheck disable=SC2064  # this pid
  trap "kill -TERM -- -$pid 2> /dev/null || true; say ''; fail 'interrupted; the same command goes on where this one stopped'" INT TERM
  while kill -0 $pid 2> /dev/null; do
    sleep 0.3
    last=$(tail -c 400 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | sed 's/\x1b\[[0-9;]*m//g' | tr -cd '[:print:]' | cut -c 1-70) || true
    if [ -t 1 ]; then
      printf '\r\033[K  %s  %s  %s' "$(clock $((SECONDS - begun)))" "$title" "$last"
    elif [ $((SECONDS - shown)) -ge 30 ]; then
      shown=$SECONDS
      say "    $(clock $((SECONDS - begun)))  $last"
    fi
  done
  wait $pid || status=$?
  trap - INT TERM
  [ ! -t 1 ] || printf '\r\033[K'
  if [ $status = 0 ]; then
    say "  $(clock $((SECONDS - begun)))  $title"
  else
    tail -n 15 "$log" | sed 's/\x1b\[[0-9;]*m//g; s/^/    | /' >&2
  fi
  return $status
}

# Where cargo puts what it builds; the pages that the browser loads go beside it.
TARGET=${CARGO_TARGET_DIR:-$ROOT/target}
SITE=$TARGET/site

# The address a server of ours will have, as a browser asks for it.
listen() { printf '%s' "${HOPWISE_LISTEN:-127.0.0.1:7676}"; }
