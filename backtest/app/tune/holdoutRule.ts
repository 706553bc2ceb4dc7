/**
 * Rule of the holdout. The holdout is opened once, on hours that were never used for tuning. Afterwards, no study may
 * tune on these hours.
 */
import { UsageError } from '../../../src/wiring/usageError.ts';
import {
  isTrial,
  haveCommonHours,
  type MarketHours,
  type NeighbourRecord,
  type OpenedRecord,
  type RegistryRecord,
  type TrialRecord,
} from './registry.ts';

/** Digest of a study, with its tuning hours and its holdout hours. */
export type StudyHours = {
  readonly study: string;
  readonly tapes: readonly MarketHours[];
  readonly heldOut: readonly MarketHours[];
};

const openingText = ({ by, at, study }: { readonly by: string; readonly at: string; readonly study: string }): string =>
  `by ${by} at ${at} (study ${study.slice(0, 12)})`;
const spanText = (hours: readonly MarketHours[]): string =>
  hours
    .map(
      ({ market, from, to }) =>
        `${market} ${new Date(from).toISOString().slice(0, 19)}Z to ${new Date(to).toISOString().slice(0, 19)}Z`,
    )
    .join(', ');

/** Returns the record of the study's opened holdout; `null` if the holdout is closed. */
export const openedBy = (records: readonly RegistryRecord[], study: string): OpenedRecord | null =>
  records.find((record): record is OpenedRecord => record.kind === 'opened' && record.study === study) ?? null;

/**
 * Throws `UsageError` if trials are forbidden: an opened holdout overlaps the study's hours, or trials used hours of
 * the study's own holdout.
 */
export function requireTuningAllowed(records: readonly RegistryRecord[], of: StudyHours): void {
  const opened = records.find(
    (record): record is OpenedRecord =>
      record.kind === 'opened' && haveCommonHours(record.tapes, [...of.tapes, ...of.heldOut]),
  );
  if (opened !== undefined)
    throw new UsageError(
      `a holdout with hours of this study was opened ${openingText(opened)}, so its result would bias the tuning; record hours other than ${spanText(opened.tapes)}`,
    );
  unseen(records, of);
}

/**
 * Throws `UsageError` if the holdout must not be opened: it was opened before, or trials used its hours. With `before`,
 * only records earlier than `before` count.
 */
export function requireOpeningAllowed(records: readonly RegistryRecord[], of: StudyHours, before?: OpenedRecord): void {
  const end = before === undefined ? records.length : records.findIndex(record => isSame(record, before));
  const earlier = records.slice(0, end);
  const opened = earlier.find(
    (record): record is OpenedRecord => record.kind === 'opened' && haveCommonHours(record.tapes, of.heldOut),
  );
  if (opened !== undefined)
    throw new UsageError(
      `the holdout was opened ${openingText(opened)}, and can be opened only once; its hours are ${spanText(opened.tapes)}, and its result is in the registry`,
    );
  unseen(earlier, of);
}

function unseen(records: readonly RegistryRecord[], { heldOut }: StudyHours): void {
  const seen = records.find(
    (record): record is TrialRecord | NeighbourRecord =>
      isTrial(record) && record.state !== 'refused' && haveCommonHours(record.tapes, heldOut),
  );
  if (seen !== undefined)
    throw new UsageError(
      `holdout hours of this study were used for tuning ${openingText(seen)}; instead of ${spanText(heldOut)}, choose holdout hours that no trial has used`,
    );
}

const isSame = (record: RegistryRecord, other: OpenedRecord): boolean =>
  record.kind === 'opened' && record.study === other.study && record.at === other.at && record.by === other.by;
