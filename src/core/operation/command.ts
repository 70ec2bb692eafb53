/** Browser commands are values: kind, shapes, and the function that runs them on a page. */
import type { BrowserContext, Locator, Page } from 'playwright'
import type { z } from 'zod'
import type { BoundingBox, CommandResult } from '../shapes/commands.ts'

/** A JavaScript value with its type name, as extraction commands return it. */
export interface TypedValue {
  readonly type:
    | 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'object' | 'array' | 'bigint' | 'nan' | 'date' // prettier-ignore
  readonly value: unknown
}

/** Result of a command: data for its result entry, and the media type of an extraction. */
export interface CommandOutcome {
  readonly content_type?: CommandResult['content_type']
  readonly data?: Record<string, unknown>
}

/** In-page helpers that draw on a page without changing its layout. */
export interface Overlay {
  /** Shows or hides a mark at every click and at the pointer; persists across navigations. */
  clicks(enabled: boolean): Promise<void>
  /** Draws or removes numbered boxes around elements; returns the boxes drawn. */
  boxes(options: { enabled: boolean; selector?: string; limit: number; includeHtml: boolean }): Promise<BoundingBox[]>
}

export interface StructuredRequest {
  readonly query: string
  readonly schema?: Record<string, unknown>
  readonly max_chars?: number
}

/** API for commands, created by the engine for each command and bound to the session's active tab. */
export interface CommandContext {
  readonly page: Page
  readonly browserContext: BrowserContext
  /** Aborted when the command ends or must stop; pass it to every Playwright call that accepts one. */
  readonly signal: AbortSignal
  /** Returns all matches of a selector: CSS (pierces open shadow roots), Playwright's engines, `frame=…`, `ref=e12`. */
  locateAll(selector: string): Locator
  /** Runs an action once the first visible match is ready for it. Failures name the reason (no match, hidden, …). */
  act<T>(
    target: { readonly selector: string; readonly timeout_ms?: number | undefined },
    needs: NonNullable<ActOptions['needs']>,
    action: (element: Locator, limit: CallLimit) => Promise<T>,
    options?: Pick<ActOptions, 'also' | 'endsOn'>,
  ): Promise<T>
  /** Sends input, which the page has processed once `send` resolves, so that failures can report its delivery. */
  send<T>(send: () => Promise<T>): Promise<T>
  /** Returns the number of characters that have reached a field since the command began; null when unknown. */
  receivedChars(): Promise<number | null>
  /** Evaluates an expression in the page and awaits promises; interrupts a script that hangs. */
  evaluate(expression: string, options: { timeoutMs: number }): Promise<TypedValue>
  /** Evaluates with an element as `this`; a function is called with the element, any other expression is evaluated. */
  evaluateOn(element: Locator, expression: string, options: { timeoutMs: number }): Promise<TypedValue>
  /** Returns the URL after the navigation caused by the last action, else after the next one, once it has loaded. */
  navigated(timeoutMs: number): Promise<string>
  /** Measures the matches of a selector in CSS pixels of the viewport; `total` includes those beyond the limit. */
  measure(
    selector: string,
    options: { limit: number; includeHtml: boolean },
  ): Promise<{ boxes: BoundingBox[]; total: number }>
  /** Moves the pointer: with `steps` along a human-like path, else instantly. */
  movePointer(to: Point, steps?: number): Promise<void>
  /** Last position of the pointer. */
  readonly pointer: Point
  /** Rejects URLs that may not be opened (`file:` and other schemes); returns the normalized URL. */
  checkUrl(url: string): string
  /** Runs the navigation `go`. Interrupts a hanging script first; if that fails, runs `go` in a fresh tab instead. */
  leave<T>(go: (page: Page) => Promise<T>): Promise<T>
  readonly overlay: Overlay
  /** Returns Markdown of one element, or of the live page when `element` is undefined. */
  markdown(element?: Locator): Promise<string>
  structured(
    request: StructuredRequest,
  ): Promise<{ value: unknown; source: 'model' | 'heuristic'; valid: boolean; errors: string[] }>
  /** Checks that this engine may upload a local file, and returns its path. */
  upload(path: string): string
  /** Writes bytes where this engine allows it; returns the absolute path. */
  save(path: string, bytes: Uint8Array): Promise<string>
}

/** A position in CSS pixels of the viewport. */
export interface Point {
  x: number
  y: number
}

/** Timeout and signal of a Playwright call, in the form of its options. */
export interface CallLimit {
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface ActOptions {
  readonly timeoutMs?: number
  /** State that the element must reach; also determines the error message. */
  readonly needs?: 'present' | 'visible' | 'pointer' | 'editable'
  /** Selector of a second element that the action needs, such as the target of a drag. */
  readonly also?: string
  /** Element under the pointer after the action, when it is not the action's own. */
  readonly endsOn?: Locator
}

/** Input that a command sends to a page, used to detect and report its delivery. */
export interface CommandInput {
  /** Kind of events that confirm delivery: a pressed button, a moved pointer, or typed or selected text. */
  readonly kind: 'press' | 'move' | 'text'
  /** Noun for the input in messages: "the click was delivered". */
  readonly noun: string
}

export interface Command<Data extends z.ZodObject = z.ZodObject> {
  readonly kind: 'action' | 'extraction'
  readonly summary: string
  /** Other spellings on a command line, such as `goto`; HTTP and scripts only know the name. */
  readonly also?: readonly string[]
  /** Example arguments after `bax do <name>`, for the help text. */
  readonly example: string
  readonly data: Data
  /** Set for commands that simulate user input; on failure they report whether the input has reached the page. */
  readonly input?: CommandInput
  /** Field of `data` in the result entry with base64 data; its media type is `content_type`. */
  readonly bytes?: string
  /** Shape of `data` in the result entry; null for commands that report nothing. */
  readonly result: z.ZodType | null
  /** Maximum run time, for commands that have no `timeout_ms` and are not short. */
  readonly maxDurationMs?: number
  run(context: CommandContext, data: z.output<Data>): Promise<CommandOutcome | void>
}

export function defineCommand<Data extends z.ZodObject>(command: Command<Data>): Command<Data> {
  return command
}

/** Wraps a value from the page as `data.result` of an extraction. */
export function extracted(value: unknown): CommandOutcome {
  return { content_type: 'data', data: { result: typed(value) } }
}

function typed(value: unknown): TypedValue {
  if (value === undefined) return { type: 'undefined', value: null }
  if (value === null) return { type: 'null', value: null }
  if (typeof value === 'bigint') return { type: 'bigint', value: value.toString() }
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return { type: 'nan', value: null }
    // JSON has no infinities; they are sent as text.
    return { type: 'number', value: Number.isFinite(value) ? value : String(value) }
  }
  if (value instanceof Date) {
    return { type: 'date', value: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  }
  if (Array.isArray(value)) return { type: 'array', value }
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value as 'string', value }
  return { type: 'object', value }
}
