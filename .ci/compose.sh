#!/usr/bin/env bash
# compose.yaml, compose.live.yaml, the Kubernetes example and the workflows are valid by their schemas; the commands and files of the two former run as processes, in a network of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
bash .ci/packages.sh docker-compose=docker-compose prometheus=prometheus prometheus-alertmanager=prometheus-alertmanager ip=iproute2
docker-compose --file compose.yaml config --quiet
# Debian's version is of before projects had a name in the file.
sed '/^name: /d' compose.live.yaml | PUNTAS_IMAGE=puntas docker-compose --file - config --quiet
promtool check config config/prometheus/compose.yml
amtool check-config config/prometheus/alertmanager.yml

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{ "private": true }' > "$work/package.json"
npm install --silent --prefix "$work" --ignore-scripts --no-audit --no-fund kubernetes-models@5.1.0 yaml@2.9.1 @action-validator/cli@0.6.0 @action-validator/core@0.6.0
for workflow in .github/workflows/*.yml; do "$work/node_modules/.bin/action-validator" "$workflow"; done
cp config/kubernetes/bot.yaml "$work"
(cd "$work" && node --input-type=module -e "
  import { readFileSync } from 'node:fs';
  import { parseAllDocuments } from 'yaml';
  for (const document of parseAllDocuments(readFileSync('bot.yaml', 'utf8'))) {
    const tree = document.toJS();
    const models = await import('kubernetes-models/' + tree.apiVersion);
    new (models[tree.kind] ?? models.default[tree.kind])(tree).validate();
    console.log(tree.kind + ' is valid');
  }
")

# The names of the services are all this machine.
sed '/^127\.0\.0\.1/s/$/ bot prometheus alertmanager/' /etc/hosts > "$work/hosts"
grep -q ' bot ' "$work/hosts" || echo '127.0.0.1 localhost bot prometheus alertmanager' >> "$work/hosts"
unshare --net --mount --propagation private bash -c "
  ip link set lo up && mount --bind '$work/hosts' /etc/hosts && bash .ci/vitest.sh npx vitest run --config test/compose/vitest.config.ts
"
