#!/usr/bin/env bash
# Whole logs of single orders from ../shared: the fate of each order by the importer equals that by a second reader, in Python.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ ! -d ../shared/data ]]; then
  echo 'skipped: ../shared/data is missing'
  exit 77
fi
bash .ci/packages.sh python3=python3
npm run --silent queue:truth -- --check
