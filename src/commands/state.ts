/** The command that captures the complete state of a page. */
import { z } from 'zod'
import { defineCommand, extracted } from '../core/operation/command.ts'
import { cookieShape, toApiCookie } from './cookie-shape.ts'
import { extraction } from './fields.ts'
import { pageState } from './page-state.ts'

const entries = z.record(z.string(), z.string()).nullable()

export const capture_state = defineCommand({
  kind: 'extraction',
  summary: 'Capture URL, cookies, storage, scroll position and fields',
  also: ['state save'],
  example: ['', '-o state.json'],
  data: z.object({}),
  result: extraction(
    z.object({
      captured_at: z.iso.datetime(),
      url: z.string(),
      title: z.string(),
      ready_state: z.enum(['loading', 'interactive', 'complete']),
      viewport: z.object({ width: z.int(), height: z.int(), device_scale_factor: z.number() }),
      scroll: z.object({ x: z.number(), y: z.number(), max_x: z.number(), max_y: z.number() }),
      pointer: z.object({ x: z.number(), y: z.number() }).describe('Last position of the pointer'),
      focused: z.string().nullable().describe('Focused element'),
      fields: z
        .array(
          z.object({
            selector: z.string(),
            type: z.string(),
            name: z.string().nullable(),
            value: z.string().nullable().describe('null for passwords'),
            checked: z.boolean().nullable(),
          }),
        )
        .describe('Form fields and their values, at most 500'),
      frames: z.array(z.string()).describe('URLs of its frames'),
      tabs: z.array(z.object({ url: z.string(), active: z.boolean() })),
      cookies: z.array(cookieShape),
      local_storage: entries.describe('null for a page without an origin'),
      session_storage: entries,
    }),
    ['object'],
  ),
  run: async ({ page, browserContext, pointer }) => {
    const [state, cookies] = await Promise.all([page.evaluate(pageState), browserContext.cookies()])
    return extracted({
      captured_at: new Date().toISOString(),
      ...state,
      pointer: { ...pointer },
      frames: page
        .frames()
        .slice(1)
        .map((frame) => frame.url()),
      tabs: browserContext.pages().map((tab) => ({ url: tab.url(), active: tab === page })),
      cookies: cookies.map(toApiCookie),
    })
  },
})
