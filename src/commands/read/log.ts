/** Commands that read console messages and errors of the pages from the session's events. */
import { z } from 'zod'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import type { EventLog, SessionEvent } from '../../core/events/events.ts'
import { flag, integer } from '../../core/shapes/fields.ts'
import { extraction } from '../fields.ts'

const clear = flag('Forget them afterwards: later calls return only newer ones')
const limit = integer(1, 1000).default(100).describe('Maximum number, the latest ones')
const omitted = z.int().describe('Number of older ones beyond limit')
const where = {
  tab_id: z.string().optional().describe('Tab of the page'),
  ts: z.iso.datetime(),
}

export const get_console = defineCommand({
  kind: 'extraction',
  summary: "Get console messages of the session's pages",
  table: { columns: ['ts', 'level', 'text', 'url'] },
  also: ['console'],
  example: ['', '--level error'],
  data: z.object({
    level: z.enum(['log', 'debug', 'info', 'warning', 'error']).optional().describe('Only messages of this level'),
    limit,
    clear,
  }),
  result: extraction(
    z.array(
      z.object({
        ...where,
        level: z.string(),
        text: z.string(),
        url: z.string().optional().describe('Script that wrote the message'),
        line: z.int().optional(),
      }),
    ),
    ['array'],
  ).extend({ omitted }),
  run: async ({ events }, { level, ...options }) =>
    logPart(events, 'console', options, ({ data }) => level === undefined || data['level'] === level),
})

export const get_errors = defineCommand({
  kind: 'extraction',
  summary: "Get uncaught errors of the session's pages",
  table: { columns: ['ts', 'tab_id', 'message'] },
  also: ['errors'],
  example: ['', '--clear'],
  data: z.object({ limit, clear }),
  result: extraction(
    z.array(
      z.object({
        ...where,
        message: z.string(),
        crashed: z.literal(true).optional().describe('The page crashed'),
      }),
    ),
    ['array'],
  ).extend({ omitted }),
  run: async ({ events }, options) => logPart(events, 'page.error', options, () => true),
})

type LogType = 'console' | 'page.error'

/** Number of the last event that was cleared, by log and type. */
const cleared = new WeakMap<EventLog, Partial<Record<LogType, number>>>()

function logPart(
  events: EventLog,
  type: LogType,
  { limit, clear }: { limit: number; clear: boolean },
  isIncluded: (event: SessionEvent) => boolean,
) {
  const marks = cleared.get(events) ?? {}
  const all = events.since(marks[type] ?? 0).filter((event) => event.type === type && isIncluded(event))
  if (clear) cleared.set(events, { ...marks, [type]: events.lastSeq })
  const { content_type, data } = extracted(all.slice(-limit).map(({ ts, data: facts }) => ({ ts, ...facts })))
  return { content_type, data: { ...data, omitted: Math.max(0, all.length - limit) } }
}
