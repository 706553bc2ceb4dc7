/** Checks that a process is safe for an API key: no debugger can connect, and Node checks certificates. */
import { url as inspectorUrl } from 'node:inspector';
import { UsageError } from './usageError.ts';

/**
 * Rejects an environment in which Node accepts any certificate, because an attacker on the network could then read the
 * key and impersonate the exchange.
 * @throws UsageError in such an environment.
 */
export function refuseUncheckedCertificates(environment: Readonly<Record<string, string | undefined>>): void {
  if (environment['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return;
  throw new UsageError(
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set in the environment, so any server could impersonate the exchange and read the key; unset NODE_TLS_REJECT_UNAUTHORIZED, and set NODE_EXTRA_CA_CERTS to the certificate if you use your own proxy',
  );
}

/** Prevents SIGUSR1 from opening Node's inspector. Call `closeToDebuggers` before any other code runs. */
export function closeToDebuggers(): void {
  process.on('SIGUSR1', () => undefined);
}

/**
 * Rejects an open inspector (`--inspect`, also in NODE_OPTIONS, or SIGUSR1 at the start), because the port of the
 * inspector has no password and executes any code.
 * @throws UsageError if an inspector is open.
 */
export function refuseOpenInspector(): void {
  const url = inspectorUrl();
  if (url === undefined) return;
  throw new UsageError(
    `Node's inspector is open at ${new URL(url).host}: any program on this machine could read the key and trade; start without --inspect (see NODE_OPTIONS). With the embedded exchange the inspector is allowed`,
  );
}
