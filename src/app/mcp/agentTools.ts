/** Tools of an agent. They read, preview and propose; no tool executes an action. */
import { z } from 'zod';
import { loadConfig, withFileIn } from '../../config.ts';
import { PAUSE_MINUTES_MAX, REASON_MAX, REASON_MIN } from '../../console/index.ts';
import { BOOK_NAME } from '../../core/index.ts';
import { YAML_LENGTH_MAX } from '../../config/text/yamlText.ts';
import { PROPOSED_ACTIONS } from '../../live/mailbox/kinds.ts';
import { VENUES } from '../../wiring/venueRegistry.ts';
import { isBookAction } from '../actions/actions.ts';
import type { ProposedAction } from '../actions/proposals.ts';
import type { BacktestTool } from './backtestTool.ts';
import type { AgentConsole } from './agentConsole.ts';
import { searchDocs, type DocsPage } from './docsPages.ts';

export type AgentTool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly schema: z.ZodObject;
  /** Whether the tool leaves the state directory unchanged. */
  readonly isReadOnly: boolean;
  /** Returns data for the agent. Rejects with a message for the agent. */
  readonly run: (args: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>;
};

export type AgentToolsOptions = {
  readonly client: AgentConsole;
  readonly backtest: BacktestTool;
  readonly pages: () => readonly DocsPage[];
  /** Name of the agent in proposals. */
  readonly agent: string;
};

const none = z.strictObject({});
const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .describe('UTC day, like 2026-11-01');
const minutes = z
  .int()
  .min(1)
  .max(PAUSE_MINUTES_MAX)
  .optional()
  .describe('Duration of a pause in minutes; if omitted, until a resume');

const symbol = z.string().regex(BOOK_NAME);
/** Argument of a read of one book. */
const ofBook = { book: symbol.optional().describe('Book, of a bot with several; if omitted, all books') };
/** Argument of an action that can apply to one book. */
const inBook = { book: symbol.optional().describe('Book to act on, of a bot with several; if omitted, all books') };

const EFFECTS: Readonly<Record<ProposedAction, string>> = {
  pause: 'cancel all orders and pause quoting',
  reduce: 'quote only to reduce inventory',
  cancel: 'cancel all orders once, then quote again',
  halt: 'cancel all orders and stop quoting until a resume',
  reload: "apply the bot's changed YAML file",
};

/** Creates a tool with typed arguments. */
function tool<S extends z.ZodObject>(
  of: Omit<AgentTool, 'schema' | 'run' | 'isReadOnly'> & {
    readonly schema: S;
    readonly isReadOnly?: boolean;
    readonly run: (args: z.infer<S>, signal: AbortSignal) => Promise<unknown>;
  },
): AgentTool {
  return { isReadOnly: true, ...of, run: async (args, signal) => of.run(args as z.infer<S>, signal) };
}

/** Returns the tools, in the order in which they are listed. */
export function agentTools(options: AgentToolsOptions): readonly AgentTool[] {
  return [...readTools(options), ...ownTools(options), ...proposalTools(options)];
}

function readTools({ client }: AgentToolsOptions): readonly AgentTool[] {
  const max = (most: number) => z.int().min(1).max(most).optional().describe('Maximum number');
  const given = (query: Readonly<Record<string, string | number | undefined>>) =>
    Object.fromEntries(
      Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
    );
  return [
    tool({
      ...{ name: 'get_status', title: 'Status', schema: z.strictObject(ofBook) },
      description: 'Process, regime, quotes, inventory, limits and profit of the bot.',
      run: (query, signal) => client.read('/status', given(query), signal),
    }),
    tool({
      ...{ name: 'explain_quotes', title: 'Explain quotes' },
      description: 'Current quotes, or the quotes at a recorded time, with the reason for each level.',
      schema: z.strictObject({
        at: z.int().min(0).max(1e14).optional().describe('Time in ms since 1970; if omitted, now'),
        book: symbol.optional().describe('Book, of a bot with several; if omitted, the first book'),
      }),
      run: (query, signal) => client.read('/explain', given(query), signal),
    }),
    tool({
      ...{
        name: 'get_report',
        title: 'Profit report',
        schema: z.strictObject({ from: day.optional(), to: day.optional(), ...ofBook }),
      },
      description: 'Profit by UTC day.',
      run: (query, signal) => client.read('/report', given(query), signal),
    }),
    tool({
      ...{ name: 'list_fills', title: 'Fills', schema: z.strictObject({ max: max(500), ...ofBook }) },
      description: 'Last fills, newest first.',
      run: (query, signal) => client.read('/fills', given(query), signal),
    }),
    tool({
      ...{ name: 'list_events', title: 'Events and alerts', schema: z.strictObject({ max: max(200), ...ofBook }) },
      description: 'Latest halts and pauses with their causes, operator actions and logins, newest first.',
      run: (query, signal) => client.read('/events', given(query), signal),
    }),
    tool({
      ...{ name: 'get_configuration', title: 'Configuration', schema: none },
      description: 'Configuration of the last run, without secrets.',
      run: (_, signal) => client.read('/config', {}, signal),
    }),
    tool({
      ...{ name: 'list_proposals', title: 'Proposals', schema: z.strictObject({ max: max(20) }) },
      description: 'Open proposals with their preview, and the last closed ones with their state and result.',
      run: (query, signal) => client.read('/proposals', given(query), signal),
    }),
  ];
}

function ownTools({ backtest, pages }: AgentToolsOptions): readonly AgentTool[] {
  const path = z.string().min(1).max(400);
  return [
    tool({
      ...{ name: 'search_docs', title: 'Search the documentation' },
      description: 'Sections of the documentation that contain words of the query, best first.',
      schema: z.strictObject({
        query: z.string().min(2).max(200),
        max: z.int().min(1).max(10).optional().describe('Maximum number of sections; default 5'),
      }),
      run: async ({ query, max = 5 }) => searchDocs(pages(), query, max),
    }),
    tool({
      ...{ name: 'check_configuration', title: 'Check a configuration' },
      description: 'Errors and warnings of a YAML configuration, given as text. Nothing is stored.',
      schema: z.strictObject({ yaml: z.string().min(1).max(YAML_LENGTH_MAX) }),
      run: async ({ yaml }) => {
        const venues = VENUES.map(({ name }) => name);
        const loaded = loadConfig(yaml, 'configuration', venues);
        const unread =
          loaded.ok && withFileIn(loaded.config).length > 0
            ? [
                'strategy.file: the file is code, which this tool neither reads nor runs; its parameters are not checked',
              ]
            : [];
        const warnings = [...loaded.warnings, ...unread];
        return { isValid: loaded.ok, errors: loaded.ok ? [] : loaded.errors, warnings };
      },
    }),
    tool({
      ...{ name: 'run_backtest', title: 'Run a backtest' },
      description: 'Backtest on a recording in a folder that the operator allowed; one at a time, at most 3 minutes.',
      schema: z.strictObject({
        tape: path.describe('Recording, relative to an allowed folder'),
        configuration: path.optional().describe('YAML file, relative to an allowed folder'),
        book: symbol.optional().describe('Book, if the recording has several'),
      }),
      run: (ask, signal) => backtest.run(ask, signal),
    }),
  ];
}

function proposalTools({ client, agent }: AgentToolsOptions): readonly AgentTool[] {
  const reason = z.string().min(REASON_MIN).max(REASON_MAX).describe('Reason, for the person who decides');
  return [
    tool({
      ...{ name: 'preview_action', title: 'Preview an action' },
      description: 'Effect that an action would have now. Nothing happens, and nothing is proposed.',
      schema: z.strictObject({ action: z.enum(PROPOSED_ACTIONS), minutes, ...inBook }),
      run: (asked, signal) => client.post('/proposals/preview', { ...asked, agent }, signal),
    }),
    ...PROPOSED_ACTIONS.map(action =>
      tool({
        ...{ name: `propose_${action}`, title: `Propose: ${action}`, isReadOnly: false },
        description: `Proposal to ${EFFECTS[action]}. Nothing happens until a person approves it in the console or a terminal; it expires after 15 minutes.`,
        schema: z.strictObject({
          reason,
          ...(action === 'pause' && { minutes }),
          ...(isBookAction(action) && inBook),
        }),
        run: (asked, signal) => client.post('/proposals', { ...asked, action, agent }, signal),
      }),
    ),
  ];
}
