/** What a live view and its session tell each other over their websocket, one JSON value a message (pictures are bytes). */
import { z } from 'zod'
import type { SessionEvent } from '../events/events.ts'
import { limits } from '../limits/limits.ts'

const place = z.number().min(0).max(100_000).describe('CSS pixels of the viewport')
const modifiers = z.int().min(0).max(15).default(0).describe('Alt 1, Ctrl 2, Meta 4, Shift 8')

/** What a person does; all but `take` needs the control. */
export const liveInput = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('take') }).describe('Asks for the control: it comes when what runs is done'),
    z.object({ type: z.literal('return') }).describe('Hands the session back'),
    z.object({
      type: z.literal('mouse'),
      action: z.enum(['move', 'down', 'up', 'wheel']),
      x: place,
      y: place,
      button: z.enum(['none', 'left', 'middle', 'right']).default('none'),
      buttons: z.int().min(0).max(31).default(0).describe("A bit each, as in a web page's MouseEvent"),
      clicks: z.int().min(0).max(3).default(0),
      delta_x: z.number().min(-100_000).max(100_000).default(0),
      delta_y: z.number().min(-100_000).max(100_000).default(0),
      modifiers,
    }),
    z.object({
      type: z.literal('key'),
      action: z.enum(['down', 'up']),
      key: z.string().max(32),
      code: z.string().max(32).default(''),
      key_code: z.int().min(0).max(255).default(0),
      location: z.int().min(0).max(3).default(0),
      repeat: z.boolean().default(false),
      modifiers,
    }),
    z.object({ type: z.literal('text'), text: z.string().max(limits.live.textChars) }).describe('Pasted, or composed'),
    z.object({
      type: z.literal('dialog'),
      accept: z.boolean(),
      text: z.string().max(limits.live.textChars).optional().describe('What a prompt is answered with'),
    }),
    z.object({ type: z.literal('navigate'), url: z.string().min(1) }),
    z.object({ type: z.literal('history'), go: z.enum(['back', 'forward', 'reload']) }),
  ])
  .meta({ id: 'LiveInput' })

export type LiveInput = z.output<typeof liveInput>
export type LiveInputMessage = z.input<typeof liveInput>

export interface LiveTab {
  readonly tab_id: string
  readonly url: string
  readonly title: string
  /** The one that is shown, and that commands and a person act on. */
  readonly active: boolean
}

export interface LiveDialog {
  readonly kind: string
  readonly message: string
  readonly default_value: string
}

/** What a view is told. */
export type LiveMessage =
  | {
      readonly type: 'hello'
      readonly session_id: string
      readonly name: string | null
      readonly may_control: boolean
      readonly viewport: { readonly width: number; readonly height: number }
    }
  | { readonly type: 'tabs'; readonly tabs: readonly LiveTab[] }
  | { readonly type: 'event'; readonly event: SessionEvent }
  /** `waiting`: this view has asked for it, and something runs. */
  | { readonly type: 'control'; readonly holder: 'you' | 'another' | 'nobody'; readonly waiting: boolean }
  /** The next bytes are a JPEG of a viewport of this size in CSS pixels; told when it changes. */
  | { readonly type: 'stage'; readonly width: number; readonly height: number }
  | { readonly type: 'dialog'; readonly dialog: LiveDialog | null }
  | { readonly type: 'error'; readonly error: string; readonly code: string }

export const liveViewLink = z
  .object({
    live_view_url: z.string().describe('Page that shows the session; who has it may watch, or with control drive it'),
    token: z.string().describe('The token in it: bound to this session, and as long-lived'),
    control: z.boolean(),
  })
  .meta({ id: 'LiveViewLink' })

export type LiveViewLink = z.output<typeof liveViewLink>
