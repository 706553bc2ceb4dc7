#!/usr/bin/env bash
# promtool checks the scrape configuration, the alert rules, their tests, and a page of metrics as it is served;
# a real Prometheus on a bot that quotes has data for each panel of the Grafana dashboard.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh promtool=prometheus prometheus=prometheus
promtool check config config/prometheus/prometheus.yml
promtool check rules config/prometheus/alerts.yml
promtool test rules config/prometheus/alerts.test.yml
npm run --silent build:all
node dist/test/monitor/printPage.js | promtool check metrics
echo 'the page of metrics is as Prometheus wants it'
bash .ci/vitest.sh npx vitest run --config test/monitor/vitest.config.ts
