#!/usr/bin/env bash
# Usage: mutation.sh [changed BASE | sample COUNT | whole PATH...] (default: changed since the last tag, or without one a sample).
# Mutants that no test kills. A file must not gain one that is not in test/mutation/survivors.json.
#   changed  files that differ from BASE, at most 300 mutants of them
#   sample   so many mutants of all folders, drawn by the commit: fails if chance does not explain a score below 80 %
#   whole    every mutant of the folders; what was run is kept in .git/mutation, so that a run can be continued
set -euo pipefail
cd "$(dirname "$0")/.."
# A check has 30 minutes; what is not run by then is counted in the last lines.
MINUTES=25
seed=$(git rev-parse --short HEAD)
if [[ $# -eq 0 ]]; then
  if tag=$(git describe --tags --abbrev=0 2> /dev/null); then set -- changed "$tag"; else set -- sample 150; fi
fi
part=$1
shift
case $part in
  changed) npm run --silent mutation -- --changed "$1" --random 300 --seed "$seed" --minutes "$MINUTES" ;;
  sample) npm run --silent mutation -- --random "$1" --seed "$seed" --minutes "$MINUTES" ;;
  whole) npm run --silent mutation -- "$@" ;;
  *) echo "expected changed, sample or whole, found: $part"; exit 2 ;;
esac
