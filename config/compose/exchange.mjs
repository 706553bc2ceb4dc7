// The embedded exchange as a service of compose.yaml: starts it, opens an account, and leaves a key for the bot and one for the sentinel.
// Usage: node config/compose/exchange.mjs PORT FOLDER-OF-THE-KEYS
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [port, folder] = process.argv.slice(2);
const exchange = spawn(process.execPath, ['dist/src/main.js', 'exchange', '--port', port], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => exchange.kill(signal));
exchange.on('exit', code => process.exit(code ?? 1));

createInterface(exchange.stdout).once('line', async line => {
  const { operator, operatorToken } = JSON.parse(line);
  const ask = async (method, path, body = {}) => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    const reply = await fetch(`${operator}/${path}`, { method, headers, body: JSON.stringify(body) });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  // The best fees, as the account of config/sandbox.yaml has them.
  await ask('PATCH', 'books/btc_mxn', { maker: '0.001', taker: '0.0015' });
  const account = await ask('POST', 'accounts', { balances: { btc: '1.5', mxn: '2000000' } });
  const keys = { bot: account, sentinel: await ask('POST', `accounts/${account.id}/keys`) };
  for (const [who, { key, secret }] of Object.entries(keys)) {
    for (const [what, text] of Object.entries({ key, secret })) {
      const file = join(folder, `${who}.${what}`);
      rmSync(file, { force: true });
      writeFileSync(file, text, { mode: 0o400 });
    }
  }
});
