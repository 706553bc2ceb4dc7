#!/usr/bin/env bash
# Installs exactly what the lockfile says.
set -euo pipefail
cd "$(dirname "$0")/.."
npm ci --no-audit --no-fund --loglevel=error
