#!/usr/bin/env bash
# Installs exactly what the lockfile says; a package that wants another Node than the oldest that is promised is refused.
set -euo pipefail
cd "$(dirname "$0")/.."
npm ci --engine-strict --no-audit --no-fund --loglevel=error
