/** Dialogs: login, and for each action its reason, preview, approval and result. */
import { Access, type ShownOutcome, type ShownPreview } from './access.ts';
import { COST, NAME_MAX, PARAMETER_MAX, REASON_MAX, REASON_MIN } from './bounds.ts';
import { div, h, render, small, type Node } from './elements.ts';
import type { State } from './state.ts';
import { shownCount, stamp } from './texts.ts';
import type { ShownParameters, ShownProposal } from './view.ts';

/** Label of each button, and the action's effect on orders and inventory. */
const ACTIONS: Readonly<Record<string, readonly [string, string]>> = {
  pause: [
    'Pause',
    'Cancels all orders and stops quoting; keeps inventory. Ends after the given minutes, or with Resume.',
  ],
  reduce: ['Reduce only', 'Quotes only to reduce inventory; orders that increase it are canceled. Ends with Resume.'],
  cancel: ['Cancel all', 'Cancels all orders, verifies with the exchange that none is open, and then quotes again.'],
  halt: ['Halt', 'Cancels all orders and stops quoting until Resume, also across restarts.'],
  resume: ['Resume', 'Ends the pause. If the bot is not paused, ends its halt, sentinel hold and reduce-only state.'],
  reload: ['Reload', 'Applies all changes in the YAML file or none.'],
  flatten: [
    'Flatten',
    'The hedger brings the inventory to its target, for at most the given cost; the bot quotes only to reduce inventory until Resume.',
  ],
  set: ['Parameter', 'Writes one value into the YAML file and reloads it. Limits can only be tightened here.'],
};
const NOTHING_TYPED = { reason: '', minutes: '', costMax: '', key: '', value: '', book: '' };
/** Actions that can apply to one book. */
const OF_BOOK: ReadonlySet<string> = new Set(['pause', 'reduce', 'halt', 'resume', 'set']);

type Step =
  | { readonly kind: 'login'; readonly problem: string | null }
  | { readonly kind: 'ask'; readonly action: string; readonly problem: string | null }
  | {
      readonly kind: 'preview';
      readonly preview: ShownPreview;
      readonly endsAt: number;
      readonly problem: string | null;
      /** Proposal of an agent that is previewed; `null` for an action of the operator. */
      readonly proposal: ShownProposal | null;
    }
  | { readonly kind: 'proposal'; readonly proposal: ShownProposal; readonly problem: string | null }
  | { readonly kind: 'over'; readonly action: string; readonly outcome: ShownOutcome };

export class Dialogs {
  readonly access: Access;
  readonly #bar: HTMLElement;
  readonly #dialog: HTMLDialogElement;
  readonly #state: State;
  readonly #now: () => number;
  #step: Step | null = null;
  #isBusy = false;
  /** Whether the change removes the key from the file. */
  #removes = false;
  #typed = NOTHING_TYPED;
  /** Parameters of the configuration file; `null` while unknown. */
  #parameters: ShownParameters | null = null;
  /** Current cost of a flatten; `null` while unknown. */
  #cost: readonly string[] | null = null;
  /** Replayed share of the recording, from 0 to 1, while a request waits for the replay; otherwise `null`. */
  #share: number | null = null;
  #counting: number | undefined;

  /** Creates the dialogs. `now` returns monotonic ms. */
  constructor(bar: HTMLElement, dialog: HTMLDialogElement, state: State, now: () => number) {
    this.#now = now;
    this.#bar = bar;
    this.#dialog = dialog;
    this.#state = state;
    this.access = new Access(() => this.show());
    dialog.addEventListener('close', () => this.#closed());
  }

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  /** Focuses the first button, for keyboard use. */
  focus(): void {
    this.#bar.querySelector('button')?.focus();
  }

  /** Opens the dialog of a proposal. */
  review(proposal: ShownProposal): void {
    this.#open({ kind: 'proposal', proposal, problem: null });
  }

  /** Redraws bar and dialog. */
  show(): void {
    const { session } = this.access;
    document.documentElement.dataset['role'] = session?.role ?? 'nobody';
    render(session === null || !session.hasLogin ? null : this.#barOf(session.actions), this.#bar);
    render(this.#step === null ? null : this.#stepOf(this.#step), this.#dialog);
  }

  #barOf(names: readonly string[]): Node {
    const { session } = this.access;
    const button = (label: string, does: () => void, more: object = {}) =>
      h('button', { type: 'button', key: label, onClick: does, ...more }, label);
    return [
      ...names
        .filter(name => name in ACTIONS)
        .map(name =>
          button(ACTIONS[name]![0], () => this.#open({ kind: 'ask', action: name, problem: null }), {
            'data-action': name,
          }),
        ),
      session?.role === 'operator' && names.length === 0 ? small('soft', 'log in again to control the bot') : null,
      session?.whyNot === null || session === null ? null : small('soft', session.whyNot),
      session?.role === null
        ? null
        : small('soft', `${session?.role ?? ''}${session?.name === '' ? '' : ` ${session?.name ?? ''}`}`),
      session?.whyNot !== null
        ? null
        : session.role === null || (session.role === 'operator' && names.length === 0)
          ? button('Log in', () => this.#open({ kind: 'login', problem: null }), { id: 'login' })
          : button('Log out', () => void this.access.logOut(), { id: 'logout' }),
    ];
  }

  #open(step: Step): void {
    this.#typed = { ...NOTHING_TYPED, book: this.#state.book ?? '' };
    this.#removes = false;
    // Values and costs of an earlier dialog may have changed since.
    [this.#parameters, this.#cost] = [null, null];
    this.#go(step);
    if (step.kind === 'ask' && step.action === 'flatten') void this.#readCost();
    if (step.kind === 'ask' && step.action === 'set') void this.#readParameters();
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector('input')?.focus();
  }

  #go(step: Step): void {
    window.clearInterval(this.#counting);
    const before = this.#step?.kind;
    this.#step = step;
    this.show();
    if (step.kind === 'preview') this.#counting = window.setInterval(() => this.show(), 500);
    // The confirm button never receives the focus, so that a key press meant for the previous step confirms nothing.
    if (before !== undefined && before !== step.kind)
      this.#dialog.querySelector<HTMLElement>(step.kind === 'ask' ? 'input' : '.told, input')?.focus();
  }

  /** Requests the cost of a flatten first, so that the user sees the cost before typing a maximum. */
  async #readCost(): Promise<void> {
    try {
      this.#cost = await this.access.cost(share => this.#replays(share));
    } catch (error) {
      this.#cost = [errorText(error)];
    } finally {
      this.#replays(null);
    }
  }

  /** Requests the parameters of the chosen book. */
  async #readParameters(): Promise<void> {
    this.#parameters = null;
    const { book } = this.#typed;
    try {
      const found = await this.access.parameters(this.#hasBook('set') && book !== '' ? book : undefined);
      // The operator may have chosen another book in the meantime.
      if (this.#typed.book === book) this.#parameters = found;
      this.show();
    } catch (error) {
      if (this.#step?.kind === 'ask') this.#go({ kind: 'ask', action: 'set', problem: errorText(error) });
    }
  }

  /** Forgets the chosen parameter, because another book can lack it, and requests those of the chosen book. */
  #rereadParameters(): void {
    this.#typed = { ...this.#typed, key: '', value: '' };
    this.#removes = false;
    void this.#readParameters();
  }

  #replays(share: number | null): void {
    this.#share = share;
    this.show();
  }

  #closed(): void {
    window.clearInterval(this.#counting);
    this.#step = null;
    this.show();
  }

  /** Runs one request at a time; a second press of a button does nothing. */
  async #busy(work: () => Promise<void>, failed: (problem: string) => void): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.show();
    const of = this.#step;
    try {
      await work();
    } catch (error) {
      if (this.#step === of) failed(errorText(error));
    } finally {
      this.#isBusy = false;
      this.#replays(null);
    }
  }

  #stepOf(step: Step): Node {
    if (step.kind === 'login') return this.#loginOf(step.problem);
    if (step.kind === 'ask') return this.#askOf(step.action, step.problem);
    if (step.kind === 'proposal') return this.#proposalOf(step);
    if (step.kind === 'preview') return this.#previewOf(step);
    return this.#overOf(step.action, step.outcome);
  }

  #loginOf(problem: string | null): Node {
    const submit = (): void => {
      const read = (id: string) => this.#dialog.querySelector<HTMLInputElement>(`#${id}`)?.value ?? '';
      void this.#busy(
        async () => {
          await this.access.logIn(read('token'), read('who'));
          this.#dialog.close();
          this.#state.listen();
          // Focuses the logout button. The browser would otherwise focus an action at the place of the login button.
          this.#bar.querySelector<HTMLElement>('#logout')?.focus();
        },
        text => this.#go({ kind: 'login', problem: text }),
      );
    };
    return this.#form('Log in', submit, [
      labelled('token', 'Token', { type: 'password', autocomplete: 'off', required: true }),
      labelled('who', 'Your name', { type: 'text', maxLength: NAME_MAX, autocomplete: 'username' }),
      problemText(problem),
      this.#buttons('Log in'),
    ]);
  }

  #askOf(action: string, problem: string | null): Node {
    const [title = action, means = ''] = ACTIONS[action] ?? [];
    const typed = (name: keyof typeof NOTHING_TYPED) => (event: Event) =>
      void (this.#typed = { ...this.#typed, [name]: (event.target as HTMLInputElement).value });
    const change = (): object =>
      action === 'set'
        ? {
            key: this.#typed.key,
            value: this.#removes ? null : this.#typed.value.trim(),
            digest: this.#parameters?.digest ?? '',
          }
        : {};
    const submit = (): void => {
      const { reason, ...typedText } = this.#typed;
      const book = this.#hasBook(action) && typedText.book !== '' ? { book: typedText.book } : {};
      const minutes = action === 'pause' && typedText.minutes.trim() !== '' ? Number(typedText.minutes) : null;
      const costMax = action === 'flatten' ? typedText.costMax.trim() : null;
      void this.#busy(
        async () => {
          const preview = await this.access.preview(action, reason, { minutes, costMax, ...book, ...change() }, share =>
            this.#replays(share),
          );
          if (this.#step?.kind === 'ask')
            this.#go({ kind: 'preview', preview, ...this.#until(preview), proposal: null });
        },
        text => this.#go({ kind: 'ask', action, problem: text }),
      );
    };
    return this.#form(title, submit, [
      h('p', null, means),
      this.#state.books === undefined ? null : this.#bookField(action),
      this.#state.past === null
        ? null
        : h('p', { class: 'fair' }, 'The page shows an earlier time, but this action applies to the bot now.'),
      action === 'set' ? this.#parameterFields() : null,
      action === 'flatten' ? linesList(this.#cost ?? ['computing the current cost…'], '', 'cost') : null,
      labelled('reason', 'Why', {
        maxLength: REASON_MAX,
        required: true,
        minLength: REASON_MIN,
        autocomplete: 'off',
        value: this.#typed.reason,
        onInput: typed('reason'),
      }),
      action === 'pause'
        ? labelled('minutes', 'Minutes (empty: until Resume)', {
            inputMode: 'numeric',
            pattern: '[0-9]{1,5}',
            autocomplete: 'off',
            value: this.#typed.minutes,
            onInput: typed('minutes'),
          })
        : null,
      action === 'flatten'
        ? labelled('max-cost', `Maximum total cost, ${this.#state.live?.minor ?? 'quote currency'}`, {
            inputMode: 'decimal',
            pattern: COST.source,
            required: true,
            autocomplete: 'off',
            value: this.#typed.costMax,
            onInput: typed('costMax'),
          })
        : null,
      problemText(problem),
      this.#buttons('Preview'),
    ]);
  }

  /** Whether the action can apply to one of several books. */
  #hasBook = (action: string): boolean => this.#state.books !== undefined && OF_BOOK.has(action);

  /** Choice of the book to act on, or a sentence that the action applies to all books. */
  #bookField(action: string): Node {
    if (!this.#hasBook(action)) return h('p', { class: 'fair' }, 'This action applies to all books.');
    const { book } = this.#typed;
    const option = (value: string, name: string) => h('option', { value, selected: value === book }, name);
    const onChange = (event: Event): void => {
      this.#typed = { ...this.#typed, book: (event.target as HTMLSelectElement).value };
      if (action === 'set') this.#rereadParameters();
      this.show();
    };
    return h(
      'label',
      { for: 'book' },
      small('soft', 'Book'),
      h(
        'select',
        { id: 'book', onChange },
        option('', action === 'set' ? 'keys of all books' : 'all books'),
        ...(this.#state.books ?? []).map(each => option(each, each)),
      ),
    );
  }

  #until = ({ endsInMs }: ShownPreview) => ({ endsAt: this.#now() + endsInMs, problem: null });

  /** Shows a proposal of an agent. The action is executed only after the operator confirms a new preview. */
  #proposalOf({ proposal, problem }: Extract<Step, { kind: 'proposal' }>): Node {
    const { action, agent, reason, lines, expiresAt } = proposal;
    const failed = (text: string): void => this.#go({ kind: 'proposal', proposal, problem: text });
    const submit = (): void =>
      void this.#busy(async () => {
        const preview = await this.access.previewProposal(proposal, share => this.#replays(share));
        if (this.#step?.kind === 'proposal') this.#go({ kind: 'preview', preview, ...this.#until(preview), proposal });
      }, failed);
    const reject = (): void =>
      void this.#busy(async () => {
        await this.access.rejectProposal(proposal);
        this.#dialog.close();
      }, failed);
    return this.#form(`Proposal: ${ACTIONS[action]?.[0] ?? action}`, submit, [
      h('p', null, small('soft', `${agent} gives the reason: `), reason),
      h('p', { class: 'soft' }, `Preview that the agent saw; the proposal expires ${stamp(expiresAt)}`),
      linesList(lines),
      problemText(problem),
      h('button', { type: 'button', id: 'reject', 'aria-disabled': this.#isBusy, onClick: reject }, 'Reject'),
      this.#buttons('Preview now'),
    ]);
  }

  /** Fields of a change: the parameter with its current value, unit and help, the new value, and earlier changes. */
  #parameterFields(): Node {
    if (this.#parameters === null) return h('p', { class: 'soft' }, 'reading the parameters…');
    const { parameters, changes } = this.#parameters;
    const { key, value } = this.#typed;
    const chosen = parameters.find(each => each.key === key);
    const choose = (of: string, to: string | null, book = this.#typed.book): void => {
      const isOther = book !== this.#typed.book;
      this.#typed = { ...this.#typed, key: of, value: to ?? '', book };
      this.#removes = to === null;
      if (isOther) void this.#readParameters();
      this.show();
    };
    const valueOf = (of: string): string => parameters.find(each => each.key === of)?.value ?? '';
    return [
      h(
        'label',
        { for: 'parameter' },
        small('soft', 'Parameter'),
        h(
          'select',
          {
            id: 'parameter',
            required: true,
            onChange: (event: Event) => {
              const of = (event.target as HTMLSelectElement).value;
              choose(of, valueOf(of));
            },
          },
          h('option', { value: '', selected: key === '' }, 'choose'),
          ...parameters.map(each => h('option', { value: each.key, selected: each.key === key }, each.key)),
        ),
      ),
      chosen === undefined
        ? null
        : h(
            'p',
            { id: 'parameter-help' },
            chosen.help,
            small(
              'soft',
              ` now ${chosen.value ?? 'not set'} ${chosen.unit}${chosen.direction === 'free' ? '' : `; only a ${chosen.direction} value is accepted`}`,
            ),
            (chosen.books?.length ?? 0) > 1
              ? small('fair', ` changes ${chosen.books!.join(', ')}, which share this key`)
              : null,
          ),
      labelled('value', `New value${chosen === undefined || chosen.unit === '' ? '' : ` (${chosen.unit})`}`, {
        maxLength: PARAMETER_MAX,
        required: !this.#removes,
        autocomplete: 'off',
        placeholder: this.#removes ? 'removed from the file' : '',
        value,
        onInput: (event: Event) => {
          this.#typed = { ...this.#typed, value: (event.target as HTMLInputElement).value };
          this.#removes = false;
        },
      }),
      changes.length === 0
        ? null
        : h(
            'details',
            null,
            h('summary', null, 'Earlier changes'),
            h(
              'ul',
              { class: 'lines' },
              ...changes.map(each =>
                h(
                  'li',
                  null,
                  `${new Date(each.at).toISOString().slice(0, 16)}Z ${each.by}: ${each.book === undefined ? '' : `${each.book} `}${each.key}: ${each.from ?? 'not set'} → ${each.to ?? 'not set'} `,
                  each.canUndo
                    ? h(
                        'button',
                        { type: 'button', onClick: () => choose(each.key, each.from, each.book ?? '') },
                        'Undo',
                      )
                    : null,
                ),
              ),
            ),
          ),
    ];
  }

  #previewOf({ preview, endsAt, problem, proposal }: Extract<Step, { kind: 'preview' }>): Node {
    const { action, reason, minutes, costMax, lines, id, book } = preview;
    const name = ACTIONS[action]?.[0] ?? action;
    const title =
      book === undefined ? `${name}${this.#state.books === undefined ? '' : ' all books'}` : `${name} ${book}`;
    const left = Math.max(0, Math.ceil((endsAt - this.#now()) / 1000));
    const submit = (): void =>
      void this.#busy(
        async () => {
          const outcome = await this.access.confirm(id);
          if (this.#step?.kind === 'preview') this.#go({ kind: 'over', action, outcome });
        },
        text => this.#go({ kind: 'preview', preview, endsAt: 0, problem: text, proposal }),
      );
    return this.#form(`${title}: effects`, submit, [
      linesList(lines),
      h(
        'p',
        null,
        small('soft', 'why '),
        reason,
        minutes === null ? null : small('soft', `, for ${shownCount(minutes, 'minute')}`),
        preview.change === undefined
          ? null
          : small('soft', `, ${preview.change.key}: ${preview.change.value ?? 'removed'}`),
        costMax === null ? null : small('soft', `, for at most ${costMax} ${this.#state.live?.minor ?? ''}`),
      ),
      problemText(problem),
      h(
        'p',
        { class: left > 10 ? 'soft' : 'fair', id: 'left' },
        this.#isBusy
          ? 'under way…'
          : left > 0
            ? `confirm within ${left} s`
            : 'this preview has expired; preview the action again',
      ),
      div(
        'row',
        left > 0
          ? h('button', { type: 'submit', id: 'confirm', 'aria-disabled': this.#isBusy }, `Confirm: ${title}`)
          : null,
        h(
          'button',
          {
            type: 'button',
            id: 'back',
            'aria-disabled': this.#isBusy,
            onClick: () =>
              !this.#isBusy &&
              this.#go(
                proposal === null
                  ? { kind: 'ask', action, problem: null }
                  : { kind: 'proposal', proposal, problem: null },
              ),
          },
          'Back',
        ),
        this.#close(),
      ),
    ]);
  }

  #overOf(action: string, { end, lines, undo }: ShownOutcome): Node {
    const title = ACTIONS[action]?.[0] ?? action;
    return this.#form(`${title}: ${end}`, () => this.#dialog.close(), [
      linesList(lines.length === 0 ? [end] : lines, end === 'done' ? 'good' : 'bad'),
      div(
        'row',
        undo === undefined
          ? null
          : h(
              'button',
              {
                type: 'button',
                id: 'undo',
                onClick: () => {
                  this.#open({ kind: 'ask', action, problem: null });
                  this.#typed = { ...this.#typed, key: undo.key, value: undo.value ?? '', book: undo.book ?? '' };
                  this.#removes = undo.value === null;
                  void this.#readParameters();
                  this.show();
                },
              },
              'Undo…',
            ),
        this.#close(),
      ),
    ]);
  }

  #form(title: string, submit: () => void, inside: readonly Node[]): Node {
    const onSubmit = (event: Event): void => {
      event.preventDefault();
      submit();
    };
    return h('form', { onSubmit, key: title }, h('h2', { id: 'dialog-title' }, title), ...inside);
  }

  #buttons(label: string): Node {
    return [
      this.#share === null
        ? null
        : h('p', { class: 'soft', role: 'status' }, `replaying the recording: ${Math.floor(this.#share * 100)}%`),
      div('row', h('button', { type: 'submit', id: 'next', 'aria-disabled': this.#isBusy }, label), this.#close()),
    ];
  }

  #close(): Node {
    return h('button', { type: 'button', id: 'close', onClick: () => this.#dialog.close() }, 'Close');
  }
}

const labelled = (id: string, label: string, of: object): Node =>
  h('label', { for: id }, small('soft', label), h('input', { id, ...of }));

const problemText = (problem: string | null): Node =>
  problem === null ? null : h('p', { class: 'bad', role: 'alert' }, problem);

const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const linesList = (lines: readonly string[], name = '', id?: string): Node =>
  h(
    'ul',
    { class: `lines told ${name}`, id, tabIndex: -1, 'aria-live': 'polite' },
    // Table rows start with spaces, which the class `pre` preserves.
    ...lines.map(line => h('li', line.startsWith('  ') ? { class: 'pre' } : null, line)),
  );
