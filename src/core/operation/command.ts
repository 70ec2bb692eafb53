/** A browser command is a value: kind, shapes, and the lines that run it against a page. */
import type { BrowserContext, Locator, Page } from 'playwright'
import type { z } from 'zod'

/** A JavaScript value with the name of its type, as extraction commands return it. */
export interface TypedValue {
  readonly type:
    | 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'object' | 'array' | 'bigint' | 'nan' | 'date' // prettier-ignore
  readonly value: unknown
}

/** What a command leaves behind: data for its result entry, and the media type of an extraction. */
export interface CommandOutcome {
  readonly content_type?: 'data' | 'markdown' | 'html' | 'json' | 'image/png' | 'image/jpeg'
  readonly data?: Record<string, unknown>
}

/** In-page helpers that draw on a page without changing its layout. */
export interface Overlay {
  /** Shows or hides a mark at every click and at the pointer; survives navigations. */
  clicks(enabled: boolean): Promise<void>
  /** Draws or removes numbered boxes around elements; returns the boxes drawn. */
  boxes(options: { enabled: boolean; selector?: string; limit: number; includeHtml: boolean }): Promise<BoundingBox[]>
}

export interface BoundingBox {
  readonly index: number
  readonly tag: string
  readonly text: string
  readonly visible: boolean
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly html?: string
}

export interface StructuredRequest {
  readonly query: string
  readonly schema?: Record<string, unknown>
  readonly max_chars?: number
}

/** What commands may use; one per command, made by the engine for the session's active tab. */
export interface CommandContext {
  readonly page: Page
  readonly browserContext: BrowserContext
  /** Aborted when the command is over or may not go on: give it to every Playwright call that takes one. */
  readonly signal: AbortSignal
  /** Every match of a selector: CSS (pierces open shadow roots), Playwright's engines, `frame=… >> …` chains, `ref=e12`. */
  locateAll(selector: string): Locator
  /** Waits until the first visible match can take the action, runs it, and on failure says why (no match, hidden, covered by …). */
  act<T>(selector: string, action: (element: Locator, limit: CallLimit) => Promise<T>, options?: ActOptions): Promise<T>
  /** Sends input that the page has handled when `send` is done, so that a failure can report whether it arrived. */
  send<T>(send: () => Promise<T>): Promise<T>
  /** Number of characters that have reached a field since the command began; null when that is not known. */
  received(): Promise<number | null>
  /** Value of an expression of the page, promises awaited; a page that hangs on it is freed. */
  evaluate(expression: string, options: { timeoutMs: number }): Promise<TypedValue>
  /** The same with an element as `this`: a function is called with it, another expression evaluated. */
  evaluateOn(element: Locator, expression: string, options: { timeoutMs: number }): Promise<TypedValue>
  /** Address that the navigation of the last action, or else the next one, has led to, once it is loaded. */
  navigated(timeoutMs: number): Promise<string>
  /** Where the matches of a selector are, in CSS pixels of the viewport; `total` counts those beyond the limit too. */
  measure(
    selector: string,
    options: { limit: number; includeHtml: boolean },
  ): Promise<{ boxes: BoundingBox[]; total: number }>
  /** Moves the pointer: with `steps` along a human-like path, else at once. */
  movePointer(to: Point, steps?: number): Promise<void>
  /** Remembers where the pointer was left. */
  readonly pointer: Point
  /** Refuses addresses that may not be opened (`file:` and other schemes); returns the normalised address. */
  checkUrl(url: string): string
  /** Leaves the page by what `go` does; one that hangs is freed of its script, or given up for a fresh tab where `go` runs. */
  leave<T>(go: (page: Page) => Promise<T>): Promise<T>
  readonly overlay: Overlay
  /** Markdown of one element, or of the live page when `element` is undefined. */
  markdown(element?: Locator): Promise<string>
  structured(
    request: StructuredRequest,
  ): Promise<{ value: unknown; source: 'model' | 'heuristic'; valid: boolean; errors: string[] }>
  /** Path of a local file that may be uploaded; refuses those that this engine does not give to pages. */
  upload(path: string): string
  /** Writes bytes where this engine allows it; returns the absolute path. */
  save(path: string, bytes: Uint8Array): Promise<string>
}

/** A place in CSS pixels of the viewport. */
export interface Point {
  x: number
  y: number
}

/** How long a Playwright call may take, in the form of its options. */
export interface CallLimit {
  readonly timeout: number
  readonly signal: AbortSignal
}

export interface ActOptions {
  readonly timeoutMs?: number
  /** What the element must allow; decides the wording of a failure. */
  readonly needs?: 'present' | 'visible' | 'pointer' | 'editable'
  /** A second element that the action needs, such as the target of a drag. */
  readonly also?: string
  /** The element that the pointer is left on when it is not the one of the action. */
  readonly endsOn?: Locator
}

/** Input that a command sends to a page, by which its delivery is detected and reported. */
export interface CommandInput {
  /** Events that prove its arrival: a pressed button, a moved pointer, or typed and chosen text. */
  readonly kind: 'press' | 'move' | 'text'
  /** Name of the input in messages: "the click was delivered". */
  readonly noun: string
}

export interface Command<Data extends z.ZodObject = z.ZodObject> {
  readonly kind: 'action' | 'extraction'
  readonly summary: string
  /** Arguments as one would type them after `bax do <name>`; for the help text. */
  readonly example: string
  readonly data: Data
  /** Set for commands that act like a person; a failed one reports whether its input has reached the page. */
  readonly input?: CommandInput
  /** Shape of `data` in the result entry; null for commands that report nothing. */
  readonly result: z.ZodType | null
  /** Time that the command may take, where it is neither the data's `timeout_ms` nor short. */
  readonly withinMs?: number
  run(context: CommandContext, data: z.output<Data>): Promise<CommandOutcome | void>
}

export function defineCommand<Data extends z.ZodObject>(command: Command<Data>): Command<Data> {
  return command
}

/** Wraps a value of the page as `data.result` of an extraction. */
export function extracted(value: unknown): CommandOutcome {
  return { content_type: 'data', data: { result: typed(value) } }
}

function typed(value: unknown): TypedValue {
  if (value === undefined) return { type: 'undefined', value: null }
  if (value === null) return { type: 'null', value: null }
  if (typeof value === 'bigint') return { type: 'bigint', value: value.toString() }
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return { type: 'nan', value: null }
    // JSON has no infinities: they travel as their names.
    return { type: 'number', value: Number.isFinite(value) ? value : String(value) }
  }
  if (value instanceof Date) {
    return { type: 'date', value: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  }
  if (Array.isArray(value)) return { type: 'array', value }
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value as 'string', value }
  return { type: 'object', value }
}
