/** Check of the encryption of connections to the exchange, and of the validity of its certificate. */
import { DAY_MS, counted } from '../../core/index.ts';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { RemoteSettings } from '../../config.ts';
import { finding, type Finding } from './finding.ts';

const { pass, warn, fail } = finding;

const WITHIN_MS = 5_000;
const SHORT_DAYS = 14;

/** Returns one finding for each host in the configuration; `now` is in epoch ms. */
export async function encryptionFindings(
  { restUrl, streamUrl, rfqUrl, webhookUrl }: RemoteSettings,
  now: number,
): Promise<readonly Finding[]> {
  const urls = [restUrl, streamUrl, rfqUrl, webhookUrl].filter(url => url !== undefined).map(url => new URL(url));
  const hosts = new Map(urls.map(url => [url.host, url]));
  return Promise.all([...hosts.values()].map(url => encryptionFinding(url, now)));
}

async function encryptionFinding(url: URL, now: number): Promise<Finding> {
  const check = 'tls';
  // The configuration allows unencrypted connections only on this machine.
  if (!/^(https|wss):$/.test(url.protocol))
    return pass(check, `${url.host} is on this machine; the traffic is not encrypted, but does not leave the machine`);
  const told = await certificateOf(url);
  if (typeof told === 'string')
    return fail(
      check,
      `${url.host}: ${told}`,
      'check the address and the clock, or set NODE_EXTRA_CA_CERTS to the certificate of your own proxy; Puntas sends no request without TLS',
    );
  const days = Math.floor((told.until - now) / DAY_MS);
  const says = `${url.host}: ${told.protocol}, certificate valid for ${counted(days, 'day')}`;
  if (days >= SHORT_DAYS) return pass(check, says);
  return warn(
    check,
    says,
    'run puntas doctor again before the certificate expires; Puntas sends no request to a host with an expired certificate',
  );
}

/** Returns the certificate, or a reason as text if there is no trusted certificate. */
function certificateOf(url: URL): Promise<{ readonly until: number; readonly protocol: string } | string> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise(done => {
    const socket = connect({
      host,
      port: url.port === '' ? 443 : Number(url.port),
      ...(isIP(host) === 0 && { servername: host }),
      timeout: WITHIN_MS,
    });
    const end = (told: Parameters<typeof done>[0]): void => {
      socket.destroy();
      done(told);
    };
    socket.once('secureConnect', () =>
      end({ until: Date.parse(socket.getPeerCertificate().valid_to), protocol: socket.getProtocol() ?? 'TLS' }),
    );
    socket.once('timeout', () => end(`no answer within ${WITHIN_MS / 1_000} s`));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end(error.message || (error.code ?? 'the connection failed')),
    );
  });
}
