/** Requests to a console as anybody may send them: with any name, method, header and body. */
import { request } from 'node:http';

export type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

/** fetch would not let a test choose the Host header. */
export const asking =
  (url: () => string) =>
  (path: string, method = 'GET', headers: Record<string, string> = {}, body?: string, at = url()): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const asked = request(`${at}${path}`, { method, headers, agent: false }, reply => {
        let text = '';
        reply.setEncoding('utf8');
        reply.on('data', (part: string) => void (text += part));
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text }));
      });
      asked.on('error', reject);
      asked.end(body);
    });
