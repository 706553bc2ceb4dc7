#!/usr/bin/env bash
# Usage: packages.sh COMMAND=PACKAGE... Installs the Debian package of every command that is missing. Where that is impossible it prints
# the reason and exits with 77 (the check is skipped), or with 1 if CI=true.
set -euo pipefail
missing() {
  [[ ${CI:-} != true ]] || { echo "not ok: $1"; exit 1; }
  echo "skipped: $1"
  exit 77
}
# One at a time: checks run beside each other.
exec 9> "${TMPDIR:-/tmp}/puntas-packages.lock"
flock 9
wanted=()
for pair in "$@"; do
  command -v "${pair%%=*}" > /dev/null || wanted+=("${pair#*=}")
done
[[ ${#wanted[@]} -gt 0 ]] || exit 0
if [[ $(id -u) -ne 0 ]] || ! command -v apt-get > /dev/null; then
  missing "${wanted[*]} missing; installing needs root and apt-get"
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
for attempt in 1 2 3; do
  if { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${wanted[@]}"; } > "$log" 2>&1; then
    rm -f "$log"
    exit 0
  fi
  sleep $((attempt * 5))
done
tail -n 20 "$log"
missing "apt-get could not install ${wanted[*]}"
