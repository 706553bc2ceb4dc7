/** Two receivers on real sockets: one that checks Standard Webhooks, one that is as strict as the Bot API of Telegram. */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const TOKEN = '123456789:AAF-not_a_real_one_of_Telegram';
export const SECRET = 'a-secret-of-the-tests';

export type Received = {
  readonly to: 'webhook' | 'telegram';
  readonly text: string;
  readonly isSilent: boolean;
  readonly id: string | undefined;
};
type Answer = { readonly status: number; readonly body?: object; readonly headers?: Readonly<Record<string, string>> };

/** `answers` are given first, in their order; then everything that is as it should be is taken. */
export async function receivers(answers: Answer[] = []) {
  const received: Received[] = [];
  let tries = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => (body += String(chunk)));
    request.on('end', () => {
      tries++;
      const answer = answers.shift() ?? judge(request.url ?? '', request.headers, body);
      if (answer.status === 200) received.push(readOf(request.url ?? '', request.headers, body));
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.body ?? {}));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, received, tries: () => tries, close };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** As the documents of both say. */
function judge(url: string, headers: Headers, body: string): Answer {
  const json = JSON.parse(body) as Record<string, unknown>;
  if (url === '/hook') {
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const expected = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`;
    return { status: headers['webhook-signature'] === expected && json['type'] === 'puntas.alert' ? 200 : 401 };
  }
  const refused = (status: number, description: string) => ({
    status,
    body: { ok: false, error_code: status, description },
  });
  if (url !== `/bot${TOKEN}/sendMessage`) return refused(404, 'Not Found');
  const { text } = json;
  if (json['chat_id'] !== '-100123') return refused(400, 'Bad Request: chat not found');
  if (typeof text !== 'string' || text.trim() === '') return refused(400, 'Bad Request: message text is empty');
  if (text.length > 4_096) return refused(400, 'Bad Request: message is too long');
  return { status: 200, body: { ok: true, result: { message_id: 1 } } };
}

function readOf(url: string, headers: Headers, body: string): Received {
  type Body = { data?: { text: string; isSilent: boolean }; text: string; disable_notification: boolean };
  const json = JSON.parse(body) as Body;
  const id = headers['webhook-id'];
  return url === '/hook'
    ? { to: 'webhook', text: json.data!.text, isSilent: json.data!.isSilent, id: String(id) }
    : { to: 'telegram', text: json.text, isSilent: json.disable_notification, id: undefined };
}
