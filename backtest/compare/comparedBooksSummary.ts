/** Summary of a comparison with several books in a few sentences. */
import { counted } from '../../src/core/index.ts';
import { gainText, minuteText } from '../../src/pages/index.ts';
import { excludesZero } from '../report/interval.ts';
import { mainModel, type Comparison } from './comparison.ts';

/** Returns the summary as paragraphs of plain text. */
export function comparedBooksWords({ tapes, desks = [], models }: Comparison): readonly string[] {
  const main = mainModel(tapes[0]?.runs[0]?.models ?? []);
  const names = tapes.map(({ book }) => book).join(', ');
  return [
    `${counted(desks.length, 'configuration')} on ${counted(tapes.length, 'recording')} (${names}) with one clock, from ${minuteText(tapes[0]?.from ?? '')} to ${minuteText(tapes[0]?.to ?? '')}, under ${counted(models.length, 'fill model')}. The books of a configuration share balances and requests. Sums are by quote currency; intervals and differences are those of the model ${main?.model ?? ''}.`,
    differencesText(desks),
    "Over so few hours, the direction of the market matters more than the configuration. A difference smaller than the range of the fill models means nothing. These numbers do not include reactions of other traders to the bot's orders.",
  ].filter(paragraph => paragraph !== '');
}

/** Returns a sentence about the differences that are not chance; empty without known intervals. */
function differencesText(desks: NonNullable<Comparison['desks']>): string {
  const all = desks.flatMap(({ name, againstFirst }) => (againstFirst ?? []).map(one => ({ ...one, name })));
  const known = all.filter(({ interval }) => interval !== null);
  const [first] = desks;
  if (first === undefined || known.length === 0) return '';
  const apart = known.filter(({ interval }) => excludesZero(interval));
  const texts = apart.map(({ name, minor, value }) => `${name} by ${gainText(value, minor)} ${minor}`);
  return apart.length === 0
    ? `No profit differs significantly (95%) from that of ${first.name}.`
    : `These profits differ significantly (95%) from that of ${first.name}: ${texts.join(', ')}.`;
}
