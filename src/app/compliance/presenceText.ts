/** Certificate of quote presence as text and as a page. */
import { DAY_MS, counted } from '../../core/index.ts';
import { columns, html, pageWith, section, table, THEME_BUTTON, type Html, type PageParts } from '../../pages/index.ts';
import { timeText } from '../../messages/timeText.ts';
import type { PresenceDay, PresenceTerms, Stop } from './quotePresence.ts';
import { percentOfDay, type PresenceCertificate } from './presence.ts';
import { differenceIn } from './recordedRuns.ts';

/** Maximum number of stops in the text and on the page; the JSON object has all stops. */
const STOPS_MAX = 50;

/** Returns the certificate as lines. */
export function presenceText(certificate: PresenceCertificate): readonly string[] {
  const { days, recordings, hash } = certificate;
  const { shown, note } = longestStops(certificate.stops);
  const difference = differenceIn(certificate);
  return [
    `${titleOf(certificate)}, UTC days`,
    exchangeText(certificate),
    termsText(certificate.terms, certificate.base),
    '',
    ...columns([HEAD, ...days.map(shareCells)]),
    '',
    `${LACKING}:`,
    ...columns(reasonRows(days).map(([reason, ms]) => [`  ${reason}`, clockText(ms)])),
    ...(shown.length === 0 ? [] : ['', `Stops${note}:`]),
    ...shown.map(({ from, to, reason }) => `  ${timeText(from)} to ${timeText(to)}  ${reason}`),
    '',
    `SHA-256 of the recordings: ${hash}`,
    ...recordings.map(({ file, bytes, sha256 }) => `  ${sha256}  ${file}, first ${counted(bytes, 'byte')}`),
    ...(difference === null
      ? []
      : ['', `INVALID: this version of Puntas decides differently from the recording: ${difference}`]),
  ];
}

/** Returns the certificate as one self-contained page. All texts of the recording are escaped. */
export function presencePage(certificate: PresenceCertificate, parts: PageParts): string {
  const { days, recordings, hash, version } = certificate;
  const { shown, note } = longestStops(certificate.stops);
  const difference = differenceIn(certificate);
  const title = titleOf(certificate);
  const cells = (row: readonly string[], isHead = false): Html =>
    html`<tr>
      <th class="text">${row[0] ?? ''}</th>
      ${row.slice(1).map(cell => (isHead ? html`<th>${cell}</th>` : html`<td>${cell}</td>`))}
    </tr>`;
  const body = html`<header>
      <h1>Quote presence: ${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${difference === null ? '' : html`<p class="verdict">INVALID: this version of Puntas decides differently from the recording: ${difference}</p>`}
    <p>${exchangeText(certificate)}</p>
    <p>${termsText(certificate.terms, certificate.base)} Days are UTC days.</p>
    ${section(
      'Share of each day with quotes',
      table(
        cells(HEAD, true),
        days.map(day => cells(shareCells(day))),
      ),
    )}
    ${section(
      LACKING,
      table(
        cells(['reason', 'h:mm:ss'], true),
        reasonRows(days).map(([reason, ms]) => cells([reason, clockText(ms)])),
      ),
    )}
    ${section(
      `Stops${note}`,
      table(
        cells(['from', 'to', 'reason'], true),
        shown.map(({ from, to, reason }) => cells([timeText(from), timeText(to), reason])),
      ),
    )}
    ${section(
      'Recordings',
      table(
        cells(['file', 'bytes read', 'SHA-256'], true),
        recordings.map(({ file, bytes, sha256 }) => cells([file, String(bytes), sha256])),
      ),
    )}
    <p class="soft">
      Computed by Puntas ${version} from recordings with the SHA-256 ${hash}. Shares are rounded down. The JSON file
      next to this page has all times in milliseconds.
    </p>`;
  return pageWith({ title: `Quote presence: ${title}`, body, plots: [], parts });
}

const HEAD = ['day', 'bid', 'ask', 'both', 'recorded'];
const LACKING = 'Time that does not count as "both", by reason';

const shareCells = ({ from, bidMs, askMs, bothMs, recordedMs }: PresenceDay): readonly string[] => [
  timeText(from).slice(0, 10),
  ...[bidMs, askMs, bothMs, recordedMs].map(ms => `${percentOfDay(ms, 2)}%`),
];

function titleOf({ book, instance, days }: PresenceCertificate): string {
  const [first, last] = [days[0]!, days.at(-1)!].map(({ from }) => timeText(from).slice(0, 10));
  return `${book}, ${instance}, ${first === last ? first : `${first} to ${last}`}`;
}

function exchangeText({ exchanges, isPaper }: PresenceCertificate): string {
  const names = exchanges.map(({ kind, address }) => (address === null ? kind : `${kind}, ${address}`));
  return `${isPaper ? 'PAPER: no quote was on a real exchange. ' : ''}Exchange: ${names.join('; ')}.`;
}

function termsText({ sizeMin, spreadMaxBps }: PresenceTerms, base: string): string {
  const size = sizeMin === null ? 'it has an order' : `its orders together have at least ${sizeMin} ${base}`;
  const spread = spreadMaxBps === null ? '' : `, at most ${spreadMaxBps} bps apart`;
  return `A side is quoted while ${size}; "both" means that bid and ask are quoted${spread}.`;
}

/** Returns the time without both quotes, summed over all days, by reason, longest first. */
function reasonRows(days: readonly PresenceDay[]): readonly (readonly [reason: string, ms: number])[] {
  const sums = new Map<string, number>();
  for (const { reason, ms } of days.flatMap(({ absences }) => absences)) sums.set(reason, (sums.get(reason) ?? 0) + ms);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

/** Returns the longest stops in order of time, and a note if the list omits shorter stops. */
function longestStops(stops: readonly Stop[]): { readonly shown: readonly Stop[]; readonly note: string } {
  const longest = [...stops].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, STOPS_MAX);
  return {
    shown: longest.sort((a, b) => a.from - b.from),
    note: stops.length > STOPS_MAX ? ` (the longest ${STOPS_MAX} of ${stops.length})` : '',
  };
}

/** Formats a duration as hours, minutes, seconds and milliseconds, such as `1:02:03.004`. */
function clockText(ms: number): string {
  const hours = Math.floor(ms / (DAY_MS / 24));
  return `${hours}:${timeText(ms % DAY_MS).slice(14, 23)}`;
}
