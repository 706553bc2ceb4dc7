/** What a process must not be for a key to be safe in it: open to a debugger, or content with any certificate. */
import { url as inspectorUrl } from 'node:inspector';
import { UsageError } from './usageError.ts';

/** Throws `UsageError` where Node would take any certificate: whoever stands in between reads the key and answers in the name of the exchange. */
export function refuseUncheckedCertificates(environment: Readonly<Record<string, string | undefined>>): void {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  throw new UsageError(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set in the environment: any server could impersonate the exchange and read the key; unset NODE_TLS_REJECT_UNAUTHORIZED, and set NODE_EXTRA_CA_CERTS to the certificate of your own proxy',
  );
}

/** From now on SIGUSR1 does nothing: without a listener Node opens its inspector on it. Call first of all. */
export function closeToDebuggers(): void {
  process.on('SIGUSR1', () => undefined);
}

/** Throws `UsageError` while Node's inspector is open (`--inspect`, also in NODE_OPTIONS, or SIGUSR1 at the start): its port has no password and runs whatever it is sent. */
export function refuseOpenInspector(): void {
  const url = inspectorUrl();
  if (url === undefined) return;
  throw new UsageError(
    `Node's inspector is open at ${new URL(url).host}: any program on this machine could read the key and trade; start without --inspect (see NODE_OPTIONS). With the embedded exchange the inspector is allowed`,
  );
}
