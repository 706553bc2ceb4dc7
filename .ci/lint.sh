#!/usr/bin/env bash
# The linter and the formatter find nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
npm run --silent lint
