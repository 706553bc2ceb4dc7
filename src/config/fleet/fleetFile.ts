/** Schema and reader of the YAML of `puntas fleet`: the bots, their access, and the address of the page. */
import { z } from 'zod';
import { problemsOf, type Problem } from '../problems.ts';
import { CURRENCY, HOST_NAME, isOnThisMachine, port } from '../sections/values.ts';
import { readYaml } from '../text/yamlText.ts';

/** Maximum number of bots of one page. */
const BOTS_MAX = 200;
/** Default address of the fleet page. */
const FLEET_DEFAULTS = { host: '127.0.0.1', port: 9_466 } as const;

const path = z
  .string()
  .max(4_096)
  .regex(/^\.{0,2}\/|\.[A-Za-z]{1,10}$/, 'expected the path of a file, like ./btc.token');
const consoleAddress = z.string().superRefine((text, context) => {
  const message = addressProblem(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

/** Returns what is wrong with the address of a console; `null` if nothing is wrong. */
function addressProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || !/^[^/]+:\/\/[^/]/.test(text))
    return 'expected the address of a console, like https://desk.example.com or http://127.0.0.1:9465';
  if (url.username !== '' || url.password !== '')
    return 'expected an address without user and password; write the token into a file, and name the file in tokenFile';
  if (/[?#]/.test(text)) return 'expected an address without query and fragment';
  return null;
}

const bot = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/, 'expected a name of letters, digits, dots, dashes and underscores')
      .describe('Name on the page; each name once.'),
    url: consoleAddress.describe('Address of its console, like http://127.0.0.1:9465.'),
    link: consoleAddress
      .optional()
      .describe("Address of its console for the page's users, if it differs from url, as behind a tunnel."),
    tokenFile: path.optional().describe('File (mode 0600) with the viewer token of the console.'),
    tokenVariable: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]{2,79}$/, 'expected the name of an environment variable, like BTC_VIEWER_TOKEN')
      .optional()
      .describe('Environment variable with this token, instead of tokenFile.'),
    caFile: path
      .optional()
      .describe("PEM file with the certificate of the authority that signs the console's TLS certificate."),
    fingerprint: z
      .string()
      .regex(/^(?:[0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}$/, 'expected the SHA-256 of a certificate, 32 bytes like AB:01:…')
      .optional()
      .describe('SHA-256 of the TLS certificate, instead of an authority. From openssl x509 -fingerprint -sha256.'),
    money: z
      .literal('play')
      .optional()
      .describe('play: not real money, as on a testnet. If omitted, the kind that the console reports.'),
    plainHttp: z
      .boolean()
      .default(false)
      .describe('Allows http to another machine. The token and the figures are then sent unencrypted.'),
  })
  .describe('A bot.');

export const fleetSchema = z.strictObject({
  currency: z
    .string()
    .regex(CURRENCY, 'expected a currency like "mxn"')
    .describe('Currency of the total profit, like mxn.'),
  bots: z.array(bot).min(1).max(BOTS_MAX).describe('Bots of the page, at most 200.'),
  host: z
    .string()
    .regex(HOST_NAME, 'expected a host name or address, like 127.0.0.1')
    .default(FLEET_DEFAULTS.host)
    .describe('Listen address of the page.'),
  port: port.default(FLEET_DEFAULTS.port).describe('Port of the page; 0 selects a free port.'),
  allowedHosts: z
    .array(z.string().regex(HOST_NAME, 'expected a host name, like desk.internal'))
    .max(20)
    .default([])
    .describe('Further accepted Host headers, without port.'),
  viewerTokenFile: path
    .optional()
    .describe('File (mode 0600) with the token for this page. If omitted, anyone who reaches the port can read.'),
  behindTls: z
    .boolean()
    .default(false)
    .describe('Whether a TLS proxy protects the port. If false, users log in only from this machine.'),
});

export type FleetConfig = z.infer<typeof fleetSchema>;
export type FleetBotConfig = FleetConfig['bots'][number];

/** Result of reading the YAML of a fleet. `errors`: lines like `file:line:column path: what is wrong`. */
export type LoadedFleet =
  { readonly ok: true; readonly config: FleetConfig } | { readonly ok: false; readonly errors: readonly string[] };

/** Checks the text of the YAML of a fleet. `fileName` is used only in errors. */
export function loadFleet(text: string, fileName: string): LoadedFleet {
  const read = readYaml(text, fileName, 'like currency: mxn');
  if (!read.ok) return { ok: false, errors: [read.error] };
  const parsed = fleetSchema.safeParse(read.value);
  const problems: readonly Problem[] = parsed.success
    ? crossProblemsOf(parsed.data)
    : parsed.error.issues.flatMap(issue => problemsOf(issue, fleetSchema, read.value, at => read.source(at)));
  if (parsed.success && problems.length === 0) return { ok: true, config: parsed.data };
  const errors = problems
    .map(problem => ({ problem, offset: read.offset(problem) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ problem, offset }) => `${read.place(offset)} ${problem.path.map(String).join('.')}: ${problem.message}`);
  return { ok: false, errors };
}

/** Returns the problems between keys of a file whose values are valid. */
function crossProblemsOf({ bots, viewerTokenFile, behindTls }: FleetConfig): readonly Problem[] {
  const found: Problem[] = [];
  const names = new Map<string, number>();
  const urls = new Map<string, number>();
  for (const [i, one] of bots.entries()) {
    const tell = (key: keyof FleetBotConfig, message: string) => found.push({ path: ['bots', i, key], message });
    const url = new URL(one.url);
    const address = consoleBase(one.url);
    const [sameName, sameUrl] = [names.get(one.name), urls.get(address)];
    if (sameName !== undefined) tell('name', `bots.${sameName} has this name too; give each bot its own`);
    if (sameUrl !== undefined) tell('url', `bots.${sameUrl} has this address too; its profit would count twice`);
    names.set(one.name, i);
    urls.set(address, i);
    const isHttp = url.protocol === 'http:';
    if (isHttp && !isOnThisMachine(url) && !one.plainHttp)
      tell('url', 'http to another machine is not encrypted; use https, or set plainHttp: true to accept this');
    if (one.tokenFile !== undefined && one.tokenVariable !== undefined)
      tell('tokenVariable', 'tokenFile is set too; remove one of the two');
    if (one.caFile !== undefined && one.fingerprint !== undefined)
      tell('fingerprint', 'caFile is set too; remove one of the two');
    if (isHttp && one.caFile !== undefined)
      tell('caFile', 'has no effect, because url is http; remove it or use https');
    if (isHttp && one.fingerprint !== undefined)
      tell('fingerprint', 'has no effect, because url is http; remove it or use https');
  }
  if (behindTls && viewerTokenFile === undefined)
    found.push({ path: ['behindTls'], message: 'a proxy lets others reach the page; set viewerTokenFile too' });
  return found;
}

/** Returns an address in normal form without trailing slashes, so that equal addresses are equal strings. */
export function consoleBase(address: string): string {
  let base = new URL(address).href;
  while (base.endsWith('/')) base = base.slice(0, -1);
  return base;
}
