/** Bounds that the page, the server of the console, its API, the chat and the commands share. */

/** Minimum number of visible characters of a reason. */
export const REASON_MIN = 4;
/** Maximum number of characters of a reason. */
export const REASON_MAX = 500;
/** Maximum number of characters of an operator's name at the console. */
export const NAME_MAX = 40;
/** Maximum number of characters of the name in a record, which is also an agent's or a chat user's. */
export const RECORDED_NAME_MAX = 60;
/** Maximum length of a pause, in minutes: one week. */
export const PAUSE_MINUTES_MAX = 10_080;
/** Maximum length of a parameter's key and of its value, in characters, as in the patterns. */
export const PARAMETER_MAX = 100;
/** Pattern of a parameter's new value, as text. */
export const PARAMETER_VALUE = /^[ -~]{1,100}$/;
/** Pattern of a parameter's key, as in `strategy.halfSpreadBps`. */
export const PARAMETER_KEY = /^[\w.]{1,100}$/;
/** Pattern of a maximum cost in quote currency, which must also be above zero. */
export const COST = /^\d{1,15}(?:\.\d{1,8})?$/;
/** Maximum number of recent points of a chart, one per second. */
export const RECENT_POINTS_MAX = 900;

/** Whether a reason has too few visible characters for the record. */
export const isReasonTooShort = (reason: string): boolean => [...reason.replaceAll(/\s/g, '')].length < REASON_MIN;

/** Whether a text is a maximum cost above zero. */
export const isCost = (text: string): boolean => COST.test(text) && /[1-9]/.test(text);
