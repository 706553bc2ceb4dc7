/** Switches of the public stream: delays, behavior that the documents leave open, and faults for tests. */
import { choice, quantity } from './switchKinds.ts';

export const STREAM_SWITCHES = {
  feedDelayMinMs: quantity(5, 0, 60_000, 'Minimum stream frame delay.', 'facts 16.3'),
  feedDelayMaxMs: quantity(50, 0, 60_000, 'Maximum stream frame delay; 0: no delay.', 'facts 16.3'),
  streamKeepAliveMs: quantity(20_000, 0, 3_600_000, 'Interval between keep-alive (ka) frames.', 'facts 12.1, 16.3'),
  cancelledAmounts: choice(
    ['present', 'absent'],
    'Fields a and v in diff-orders rows of canceled orders.',
    'facts 12.5, 17.4',
  ),
  streamFrames: choice(['sent', 'withheld'], 'withheld: clients connect but receive no frames.', 'facts 16.3'),
  streamDropEvery: quantity(0, 0, 1_000_000, 'Drops every n-th diff-orders frame.', 'facts 16.3'),
  streamRepeatEvery: quantity(0, 0, 1_000_000, 'Repeats every n-th diff-orders frame.', 'facts 16.3'),
  streamCloseEvery: quantity(0, 0, 1_000_000, 'Closes a socket (code 1011) after n frames.', 'facts 16.3'),
} as const;
