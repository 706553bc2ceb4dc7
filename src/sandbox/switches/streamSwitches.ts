/** Switches of the public stream: delays, behavior that the documents leave open, and faults for tests. */
import { choice, quantity } from './switchKinds.ts';

export const STREAM_SWITCHES = {
  feedDelayMinMs: quantity(
    5,
    0,
    60_000,
    'Shortest time between an event of the engine and its frames; frames keep the order of the sequence.',
    'facts 16.3',
  ),
  feedDelayMaxMs: quantity(50, 0, 60_000, 'Longest such time. Both 0: frames are sent inside the event.', 'facts 16.3'),
  streamKeepAliveMs: quantity(20_000, 0, 3_600_000, 'Time between two ka frames; 0 sends none.', 'facts 12.1, 16.3'),
  cancelledAmounts: choice(
    ['present', 'absent'],
    'Whether cancelled orders of diff-orders carry a and v: the wire has them, the documentation has not.',
    'facts 12.5, 17.4',
  ),
  streamFrames: choice(
    ['sent', 'withheld'],
    'withheld: sockets stay open, but neither data nor ka is sent.',
    'facts 16.3',
  ),
  streamDropEvery: quantity(
    0,
    0,
    1_000_000,
    'Every so many-th diff-orders frame is lost, which leaves a gap in the sequence; 0 loses none.',
    'facts 16.3',
  ),
  streamRepeatEvery: quantity(
    0,
    0,
    1_000_000,
    'Every so many-th diff-orders frame is sent twice; 0 repeats none.',
    'facts 16.3',
  ),
  streamCloseEvery: quantity(
    0,
    0,
    1_000_000,
    'A socket is closed with 1011 after so many data frames; 0 closes none.',
    'facts 16.3',
  ),
} as const;
