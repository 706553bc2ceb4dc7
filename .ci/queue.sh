#!/usr/bin/env bash
# Studies over real queues: Redis and PostgreSQL, workers killed with -9, a store of recordings that checks signatures. The results are those of one thread.
set -euo pipefail
cd "$(dirname "$0")/.."
# Debian's newest of each; pg_ctlcluster comes with every version of PostgreSQL. Their own services are not used.
bash .ci/packages.sh redis-server=redis-server pg_ctlcluster=postgresql
bash .ci/vitest.sh npx vitest run --config test/queue/vitest.config.ts
