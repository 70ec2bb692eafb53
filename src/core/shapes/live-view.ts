/** Messages between a live view and its session over their websocket, one JSON value each (frames are binary). */
import { z } from 'zod'
import { integer, named, number } from './fields.ts'
import type { SessionEvent } from '../events/events.ts'
import { declineMessage, type HandoffRecord } from '../access/handoffs.ts'
import { limits } from '../limits/limits.ts'

const coordinate = number(0, 100_000).describe('CSS pixels of the viewport')
const modifiers = integer(0, 15).default(0).describe('Alt 1, Ctrl 2, Meta 4, Shift 8')

/** Input of a person; all but `take`, `done` and `decline` requires control. */
export const liveInput = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('take') }).describe('Requests control, granted once the current command finishes'),
    z.object({ type: z.literal('return') }).describe('Returns control'),
    z.object({
      type: z.literal('mouse'),
      action: z.enum(['move', 'down', 'up', 'wheel']),
      x: coordinate,
      y: coordinate,
      button: z.enum(['none', 'left', 'middle', 'right']).default('none'),
      buttons: integer(0, 31).default(0).describe('Bit field as in MouseEvent.buttons'),
      clicks: integer(0, 3).default(0),
      delta_x: number(-100_000, 100_000).default(0),
      delta_y: number(-100_000, 100_000).default(0),
      modifiers,
    }),
    z.object({
      type: z.literal('key'),
      action: z.enum(['down', 'up']),
      key: z.string().max(32),
      code: z.string().max(32).default(''),
      key_code: integer(0, 255).default(0),
      location: integer(0, 3).default(0),
      repeat: z.boolean().default(false),
      modifiers,
    }),
    z.object({ type: z.literal('text'), text: z.string().max(limits.live.textChars) }).describe('Pasted or composed'),
    z.object({
      type: z.literal('dialog'),
      accept: z.boolean(),
      text: z.string().max(limits.live.textChars).optional().describe('Answer to a prompt'),
    }),
    z
      .object({ type: z.literal('record'), on: z.boolean() })
      .describe('Starts a recording, or stops one that a live view has started'),
    z.object({ type: z.literal('done') }).describe('Ends the handoff: the person has finished'),
    z
      .object({ type: z.literal('decline'), message: declineMessage.optional().describe('Sentence for the caller') })
      .describe('Ends the handoff: the person cannot do it'),
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
  /** Whether it is the shown tab, on which commands and a person act. */
  readonly active: boolean
}

export interface LiveDialog {
  readonly kind: string
  readonly message: string
  readonly default_value: string
}

/** The recording of the session. */
export interface LiveRecording {
  readonly recording: boolean
  /** Number of steps so far; events `recording.step` report further ones. */
  readonly steps: number
  /** Whether a request has started it, such as that of `bax record`; a view cannot stop it. */
  readonly elsewhere: boolean
}

/** A handoff, as a view shows it. */
export type LiveHandoff = Pick<HandoffRecord, 'handoff_id' | 'reason' | 'expires_at'>

/** Messages to a view. */
export type LiveMessage =
  | {
      readonly type: 'hello'
      readonly session_id: string
      readonly name: string | null
      readonly may_control: boolean
      /** Opens the view once more in place of the token that was used, for a page that is reloaded. */
      readonly token?: string
      readonly viewport: { readonly width: number; readonly height: number }
    }
  /** Sent to views that may take control. */
  | { readonly type: 'handoff'; readonly handoff: LiveHandoff | null }
  | { readonly type: 'tabs'; readonly tabs: readonly LiveTab[] }
  | { readonly type: 'event'; readonly event: SessionEvent }
  /** `waiting`: this view has requested control while a command runs. */
  | { readonly type: 'control'; readonly holder: 'you' | 'another' | 'nobody'; readonly waiting: boolean }
  /** Size of the following JPEG frames in CSS pixels of the viewport; sent whenever it changes. */
  | { readonly type: 'stage'; readonly width: number; readonly height: number }
  | { readonly type: 'dialog'; readonly dialog: LiveDialog | null }
  /** `script`: text of the recording that this view has stopped, for `bax run`. */
  | ({ readonly type: 'recording'; readonly script?: string } & LiveRecording)
  | { readonly type: 'error'; readonly error: string; readonly code: string }

export const liveViewLink = named('LiveViewLink', {
  live_view_url: z.string().describe('Page of the session; anyone with the URL may watch it or, with control, use it'),
  token: z.string().describe('Token in the URL; valid for this session during its lifetime'),
  control: z.boolean(),
})

export type LiveViewLink = z.output<typeof liveViewLink>
