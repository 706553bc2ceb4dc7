/** Functions for processes that serve a page: the check for secrets in the environment, and periodic calls. */
import { repeatEvery, type Clock, type Timer } from '../../core/index.ts';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Asserts that the environment has no credentials, because a server that is reachable from outside must not have any.
 * @throws UsageError if there are credentials. `what`: command that starts the server.
 */
export function refuseKeys(environment: Readonly<Record<string, string | undefined>>, what: 'console' | 'fleet'): void {
  const found = Object.keys(environment).filter(name => SECRETS.test(name) && environment[name] !== undefined);
  if (found.length === 0) return;
  throw new UsageError(
    `the environment of the ${what} must not contain secrets, but contains ${found.join(', ')}; start the ${what} with env ${found.map(name => `-u ${name}`).join(' ')} puntas ${what} ...`,
  );
}

/**
 * Names of environment variables that may contain a secret of the bot, its alerts, webhooks, queue or recording bucket.
 * Variables that only name a file with a secret are allowed.
 */
export const SECRETS =
  /^(?:PUNTAS_(?:(?:ELSEWHERE_)?API_(?:KEY|SECRET)|WEBHOOK_TOKEN(?:_OLD)?|TELEGRAM_TOKEN|ALERT_WEBHOOK_(?:SECRET|URL)|QUEUE_PASSWORD)|AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN)|PGPASSWORD)$/;

/** Calls `call` immediately and then every `ms`. */
export function callEvery(clock: Clock, ms: number, call: () => void): Timer {
  call();
  return repeatEvery(clock, ms, call);
}
