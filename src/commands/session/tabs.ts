/** Commands that list, open, select and close tabs. */
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { printable } from '../../core/shapes/fields.ts'
import { observedTab } from '../../core/shapes/observe.ts'
import { extraction } from '../fields.ts'
import { navigationTimeout, openUrl, typedUrl } from './open-url.ts'

/** Words of the command line that labels cannot be, and names that look like IDs. */
const reserved = /^(?:new|list|close|select|(?:tab_?)?\d+)$/i

const tab = printable(limits.input.nameChars).min(1).describe('Tab ID such as tab_2, or label')

export const list_tabs = defineCommand({
  kind: 'extraction',
  summary: 'List the open tabs',
  table: { columns: ['tab_id', 'label', 'active', 'title', 'url'] },
  also: [{ words: 'tab', positional: [[]] }, 'tab list', 'tabs'],
  example: '',
  data: z.object({}),
  worksDuringDialog: true,
  result: extraction(z.array(observedTab), ['array']),
  run: async ({ tabs }) => extracted(await tabs.list()),
})

export const new_tab = defineCommand({
  kind: 'action',
  summary: 'Open a tab and make it active',
  also: ['tab new'],
  positional: [['url'], []],
  example: ['', 'https://example.com --label docs'],
  data: z.object({
    url: typedUrl.optional().describe('URL to open in it; an empty tab when omitted'),
    label: printable(limits.input.nameChars)
      .min(1)
      .refine((label) => !reserved.test(label), 'must not be new, list, close, select, or look like a tab ID')
      .optional()
      .describe('Label to use in place of its ID, unique among the open tabs'),
    timeout_ms: navigationTimeout,
  }),
  worksDuringDialog: true,
  result: z.object({
    ...observedTab.pick({ tab_id: true, label: true, url: true }).shape,
    status_code: z.int().nullable().describe('HTTP status; null for an empty tab and non-HTTP URLs'),
  }),
  run: async ({ tabs, checkUrl, signal }, { url, label, timeout_ms: timeout = limits.command.navigationMs }) => {
    const target = url === undefined ? undefined : await checkUrl(url)
    const page = await tabs.open(label)
    const opened = target === undefined ? undefined : await openUrl(page, target, { timeout, signal })
    const { tab_id, url: shown } = await tabs.describe(page)
    const named = label !== undefined && { label }
    return { data: { tab_id, ...named, url: shown, status_code: null, ...opened?.data } }
  },
})

export const switch_tab = defineCommand({
  kind: 'action',
  summary: 'Make another tab active',
  also: ['tab', 'tab select'],
  example: 'tab_1',
  data: z.object({ tab }),
  worksDuringDialog: true,
  result: observedTab,
  run: async ({ tabs }, { tab }) => ({ data: { ...(await tabs.select(tab)) } }),
})

export const close_tab = defineCommand({
  kind: 'action',
  summary: 'Close a tab',
  also: ['tab close'],
  positional: [['tab'], []],
  example: ['', 'tab_2'],
  data: z.object({ tab: tab.optional().describe('Tab ID such as tab_2, or label; the active tab when omitted') }),
  worksDuringDialog: true,
  result: z.object({
    closed: z.string().describe('ID of the closed tab'),
    active: z.string().describe('ID of the tab that is active now'),
  }),
  run: async ({ tabs }, { tab }) => ({ data: { ...(await tabs.close(tab)) } }),
})
