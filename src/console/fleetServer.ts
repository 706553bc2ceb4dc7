/**
 * HTTP server of the fleet page: the page with its scripts, and the view of all bots as an event stream. It only reads.
 */
import type { ConsoleAccess } from './access.ts';
import { FLEET_DOCUMENT, FLEET_STYLE } from './fleetDocument.ts';
import { LiveStreams } from './liveStreams.ts';
import {
  addLiveStream,
  addPageFiles,
  listening,
  pageServer,
  type ConsoleServer,
  type PageAddress,
} from './pageServer.ts';
import { STYLE } from './style.ts';

export type FleetServerOptions = PageAddress & {
  /** Access with a viewer token; if `null`, everyone who reaches the port can read. */
  readonly access: ConsoleAccess | null;
  /** Scripts of the page and of its library, by file name. */
  readonly scripts: Readonly<Record<string, string>>;
};

/** Starts the server. Rejects with a one-line message if the port is not available. */
export async function serveFleet({ access, scripts, ...address }: FleetServerOptions): Promise<ConsoleServer> {
  const streams = new LiveStreams();
  const { server, accessCheck } = pageServer({ ...address, what: 'fleet', access, actions: null, posted: [] });
  addPageFiles(
    server.routes,
    {
      '/': ['text/html', FLEET_DOCUMENT],
      '/style.css': ['text/css', `${STYLE}\n${FLEET_STYLE}`],
    },
    scripts,
  );
  addLiveStream(server.routes, streams, accessCheck);
  return listening(server, streams);
}
