# What the scripts of Deploy share. Sourced, not run.
# shellcheck shell=bash

set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SERVICES=(signer verifier ingest notification-recovery asa-token-broker)

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Debian packages that are missing, installed as root or through sudo.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "installing Debian packages: ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# shellcheck disable=SC2034 # read by the scripts that source this file
BUILD_PACKAGES=(libssl-dev libhiredis-dev libcurl4-openssl-dev)
# shellcheck disable=SC2034 # read by the scripts that source this file
RUN_PACKAGES=(redis-server redis-tools openssl curl ca-certificates python3 python3-yaml)
# Beside those: a token in software that stands in for an HSM, OpenSSL's way to it, a balancer, promtool, a reader of JSON for the example in
# shell, a browser for the console, shells that complete commands, and what the benchmarks need, which are started.
# shellcheck disable=SC2034 # read by the scripts that source this file
TEST_PACKAGES=(python3-venv softhsm2 libengine-pkcs11-openssl haproxy prometheus jq chromium chromium-driver zsh fish wrk build-essential)
# The linters of shell scripts and C; ruff, which checks Python, is among the Python packages. Headers of the libraries that the C calls.
# shellcheck disable=SC2034 # read by the scripts that source this file
LINT_PACKAGES=(python3-venv shellcheck cppcheck "${BUILD_PACKAGES[@]}" zlib1g-dev)
# Debian's own Python, whatever else stands on the PATH: it has the packages named above.
# shellcheck disable=SC2034 # read by the scripts that source this file
PYTHON=/usr/bin/python3

# Python with the packages of the tests, in $VENV: made anew where the list of packages has changed.
prepare_python() {
  VENV=$ROOT/.build/venv
  local list=$ROOT/Tests/SystemTests/requirements.txt
  if ! cmp -s "$list" "$VENV/installed.txt" 2>/dev/null; then
    "$PYTHON" -m venv "$VENV"
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    cp "$list" "$VENV/installed.txt"
  fi
}

# Sets every path and port of one system from DATA and PORT_BASE.
locate_system() {
  mkdir -p "$DATA"
  DATA=$(cd "$DATA" && pwd)
  RUN=$DATA/run-$PORT_BASE
  # shellcheck disable=SC2034 # read by the scripts that source this file
  PUBLIC_PORT=$PORT_BASE
  REDIS_PORT=$((PORT_BASE + 18))
  SIMULATOR_PORT=$((PORT_BASE + 19))
  REDIS_SOCKET=$RUN/redis.sock
  # Where its path is longer than the system takes (107 bytes), or has letters that an address or Redis reads otherwise, there is none.
  local bytes
  bytes=$(printf %s "$REDIS_SOCKET" | wc -c)
  if [ "$bytes" -gt 107 ] || [[ $REDIS_SOCKET == *[?[:space:]\"\\]* ]]; then REDIS_SOCKET=''; fi
}

# The internal port of a service: N+10 … N+14.
port_of() {
  case $1 in
    ingest) echo $((PORT_BASE + 10)) ;;
    signer) echo $((PORT_BASE + 11)) ;;
    verifier) echo $((PORT_BASE + 12)) ;;
    notification-recovery) echo $((PORT_BASE + 13)) ;;
    asa-token-broker) echo $((PORT_BASE + 14)) ;;
    simulator) echo "$SIMULATOR_PORT" ;;
    redis) echo "$REDIS_PORT" ;;
  esac
}

pid_of() { cat "$RUN/$1.pid" 2>/dev/null || true; }

# What the kernel says of a process, as words from its state on. Without another process, since Deploy/up asks every second.
words_of() {
  local text
  [ -n "$1" ] && IFS= read -r -d '' text <"/proc/$1/stat" || [ -n "${text:-}" ] || return 1
  read -ra WORDS <<<"${text##*) }"
  [ ${#WORDS[@]} -gt 19 ]
} 2>/dev/null

# When a process was started, in the kernel's ticks: with its pid it names a process for good.
started_at() { words_of "$1" && echo "${WORDS[19]}"; }

# Whether the recorded process still runs and still is what was started (a pid may have been given to another since).
is_running() {
  local pid='' started='' WORDS
  { read -r pid <"$RUN/$1.pid" && read -r started <"$RUN/$1.started"; } 2>/dev/null || return 1
  # One that ended and was not collected by its parent yet does not run.
  words_of "$pid" && [ "${WORDS[0]}" != Z ] && [ "${WORDS[19]}" = "$started" ]
}

# With SCHED_BATCH a process that wakes up does not preempt another one: Redis answers everything that has arrived, with one sync, before
# the first process that it has answered runs. Where the system does not allow it, the processes keep their usual scheduling.
BATCH_SCHEDULING=()
if chrt --batch 0 true 2>/dev/null; then BATCH_SCHEDULING=(chrt --batch 0); fi

# Starts what $RUN/<name>.command says, in the background, its output in $RUN/<name>.log.
start_process() {
  local name=$1
  is_running "$name" && return 0
  setsid "${BATCH_SCHEDULING[@]}" bash "$RUN/$name.command" >>"$RUN/$name.log" 2>&1 </dev/null &
  local pid=$!
  started_at "$pid" >"$RUN/$name.started" || true
  echo "$pid" >"$RUN/$name.pid"
}

# Ends it without asking, and waits until it is gone and its port free.
kill_process() {
  local name=$1 waited=0
  ! is_running "$name" || kill -KILL "$(pid_of "$name")" 2>/dev/null || true
  while is_running "$name" && [ "$waited" -lt 100 ]; do
    sleep 0.05
    waited=$((waited + 1))
  done
  rm -f "$RUN/$name.pid"
}

# Ends a process with SIGTERM; kills it if it still runs after the given seconds.
stop_process() {
  local name=$1 timeout=${2:-30} pid waited=0
  is_running "$name" || { rm -f "$RUN/$name.pid"; return 0; }
  pid=$(pid_of "$name")
  kill -TERM "$pid" 2>/dev/null || true
  while is_running "$name" && [ "$waited" -lt $((timeout * 10)) ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  kill_process "$name"
}

stop_system() {
  local name
  for name in "${SERVICES[@]}"; do ! is_running "$name" || kill -TERM "$(pid_of "$name")" 2>/dev/null || true; done
  for name in "${SERVICES[@]}"; do stop_process "$name"; done
  stop_process simulator 5
  stop_process redis 30
}

# Waits until a URL answers 200, or fails showing the end of the log.
wait_until_ready() {
  local name=$1 url=$2 limit=${3:-60} waited=0
  while ! curl -fsSk --max-time 2 -o /dev/null "$url" 2>/dev/null; do
    if ! is_running "$name"; then
      printf 'error: %s ended while starting. The end of its log (%s):\n' "$name" "$RUN/$name.log" >&2
      tail -n 15 "$RUN/$name.log" >&2
      return 1
    fi
    waited=$((waited + 1))
    if [ "$waited" -ge $((limit * 5)) ]; then
      printf 'error: %s was not ready after %s s (%s). See %s\n' "$name" "$limit" "$url" "$RUN/$name.log" >&2
      curl -sk --max-time 2 "$url" >&2 || true
      return 1
    fi
    sleep 0.2
  done
}

# Builds the executables. Those of a release carry Swift's runtime in them: they start anywhere, and calls into it are direct. Functions
# with the same code are kept once.
build_services() {
  local options=(-c "$BUILD_CONFIGURATION")
  [ "$BUILD_CONFIGURATION" != release ] || options+=(--static-swift-stdlib -Xlinker --icf=safe -Xlinker -O2)
  (cd "$ROOT" && swift build "${options[@]}")
}
