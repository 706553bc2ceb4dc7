/** All rows of both interface documents. */
import { REST_API } from './restApi.ts';
import { RFQ_AND_WEBHOOKS } from './rfqAndWebhooks.ts';
import type { Group } from './rule.ts';

export type { Group, Kind, Places, Row } from './rule.ts';

export const RULES: readonly Group[] = [...REST_API, ...RFQ_AND_WEBHOOKS];
