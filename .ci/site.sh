#!/usr/bin/env bash
# Builds the documentation as a site and checks it: every page has a place in it, every link leads somewhere, nothing is loaded from outside.
set -euo pipefail
cd "$(dirname "$0")/../website"
npm ci --no-audit --no-fund --loglevel=error
npm run --silent build
node checkSite.mjs
