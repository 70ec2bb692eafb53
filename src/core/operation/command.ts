/** Browser commands are values: kind, shapes, and the function that runs them on a page. */
import type { BrowserContext, Locator, Page } from 'playwright'
import type { z } from 'zod'
import type { EventLog } from '../events/events.ts'
import type { Annotation, BoundingBox, CommandResult } from '../shapes/commands.ts'
import type { CredentialInput } from './credential-input.ts'
import type { FilesToUpload } from './files-to-upload.ts'
import type { FileSource } from '../shapes/session-files.ts'
import type { Candidate, Fingerprint } from '../shapes/recording.ts'
import type { Directly, Pressed } from './direct-element.ts'
import type { Examples } from './examples.ts'
import type { PageTools } from './page-tools.ts'
import type { EmulationControl, InitScripts, NetworkControl } from './page-control.ts'
import type { ObservedTab } from '../shapes/observe.ts'

/** A JavaScript value with its type name, as extraction commands return it. */
export interface TypedValue {
  readonly type: 'string' | 'number' | 'boolean' | 'null' | 'undefined' | 'object' | 'array' | 'bigint' | 'nan' | 'date'
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

/** Answer to a dialog. */
export interface DialogAnswer {
  readonly accept: boolean
  /** Text for a prompt. */
  readonly text?: string | undefined
}

/** Result of `answer_dialog`: the open dialog was answered, or the answer is kept for the next one. */
export interface DialogOutcome {
  readonly answered: boolean
  readonly type?: string
  readonly message?: string
  readonly replaced?: boolean
  readonly kept_for?: readonly string[]
}

/** The tabs of a session; a tab is named by its ID or its label. */
export interface TabControl {
  list(): Promise<ObservedTab[]>
  /** Opens an empty tab, which becomes the active one. */
  open(label?: string): Promise<Page>
  select(tab: string): Promise<ObservedTab>
  /** Closes a tab, the active one by default; returns its ID and that of the active tab. */
  close(tab?: string): Promise<{ closed: string; active: string }>
  describe(page: Page): Promise<ObservedTab>
}

/** References drawn on a page until `clear` is called, with boxes in CSS pixels of the viewport. */
export interface Annotations {
  readonly annotations: readonly Annotation[]
  readonly scroll: Point
  readonly viewport: { readonly width: number; readonly height: number }
  clear(): Promise<void>
}

/** API for commands, created by the engine for each command and bound to the session's active tab. */
export interface CommandContext {
  readonly page: Page
  readonly browserContext: BrowserContext
  /** Aborted when the command ends or must stop; pass it to every Playwright call that accepts one. */
  readonly signal: AbortSignal
  /** Returns the title of the page. */
  title(): Promise<string>
  /** Returns all matches of a selector: CSS (pierces open shadow roots), Playwright's engines, `frame=…`, `ref=e12`. */
  locateAll(selector: string): Locator
  /** Runs an action once the first visible match is ready for it. Failures name the reason (no match, hidden, …). */
  act<T>(
    target: { readonly selector: string; readonly timeout_ms?: number | undefined },
    needs: NonNullable<ActOptions['needs']>,
    action: (element: Locator, limit: CallLimit) => Promise<T>,
    options?: Pick<ActOptions, 'also' | 'endsOn' | 'mayBeHidden' | 'enabled' | 'options'> & Directly<T>,
  ): Promise<T>
  /** Sends input, which the page has processed once `send` resolves; again when it is a press that its element lost. */
  send<T>(send: () => Promise<T>, press?: Pressed): Promise<T>
  /** Reports with the result that a command which succeeds may not have done what was meant. */
  warn(text: string): void
  /** Ends the input so far: failures then report the delivery of later input only. */
  nextInput(): void
  /** Returns the number of characters that have reached a field since the command began; null when unknown. */
  receivedChars(): Promise<number | null>
  /** Waits until code is approved. Call it before a timeout starts; `evaluate` otherwise waits for the approval itself. */
  approveCode(code: string): Promise<void>
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
  /**
   * Repeats a probe until it reports `met`, or the time has passed; returns its last report. A probe that fails because
   * the page navigates is repeated.
   */
  poll<Seen extends Probe>(probe: () => Promise<Seen>, timeoutMs: number): Promise<Seen | Unanswered>
  /** Compiles a URL glob or a regular expression, which match in linear time. @throws BaxError `invalid_data` */
  matcher(pattern: { readonly glob: string } | { readonly regex: string }, field: string): (text: string) => boolean
  /** Finds texts of the observation of the page, or of one element in it, in document order. */
  findTexts(matches: (text: string) => boolean, selector?: string): Promise<FoundText[]>
  /** Finds the elements that fit a fingerprint best, in the frame of a selector. */
  findSimilar(selector: string, fingerprint: Fingerprint): Promise<Candidate[]>
  /** Events of the session. */
  readonly events: EventLog
  readonly credentials: CredentialInput
  /** Number of the last event before the latest action: later events belong to that action. */
  readonly actionSeq: number
  /** Moves the pointer: with `steps` along a human-like path, else instantly. */
  movePointer(to: Point, steps?: number): Promise<void>
  /** Last position of the pointer. */
  readonly pointer: Point
  /** Rejects URLs that may not be opened (`file:` and other schemes); returns the normalized URL. */
  checkUrl(url: string): Promise<string>
  /** Runs the navigation `go`. Interrupts a hanging script first; if that fails, runs `go` in a fresh tab instead. */
  leave<T>(go: (page: Page) => Promise<T>): Promise<T>
  readonly overlay: Overlay
  readonly network: NetworkControl
  readonly emulation: EmulationControl
  readonly initScripts: InitScripts
  /** Measures the Core Web Vitals of the current document. */
  vitals(): Promise<Record<string, unknown>>
  readonly tabs: TabControl
  readonly pageTools: PageTools
  /** Returns the clipboard of the session. @throws BaxError `unsupported` in a relayed browser. */
  clipboard(): { read(): string; write(text: string): void }
  /** Answers the open dialog, or else the next one. */
  answerDialog(answer: DialogAnswer): Promise<DialogOutcome>
  /** Draws the references of all controls, which then work as selectors. */
  annotate(): Promise<Annotations>
  /** Returns Markdown of one element, or of the live page when `element` is undefined. */
  markdown(element?: Locator): Promise<string>
  structured(
    request: StructuredRequest,
  ): Promise<{ value: unknown; source: 'model' | 'heuristic'; valid: boolean; errors: string[]; warnings: string[] }>
  /** @throws BaxError `conflict` when it is already running, `unsupported` in a browser of a user. */
  startRecording(kind: RecordingKind, options: { readonly bodies?: boolean }): Promise<void>
  /** Stores the recording among the files of the session. @throws BaxError `conflict` when none is running. */
  stopRecording(kind: RecordingKind, name: string | undefined): Promise<Record<string, unknown>>
  /** Finds files of the session by their names, and local files and folders by their paths if this engine allows it. */
  upload(names: readonly string[]): FilesToUpload
  /** Writes bytes where this engine allows it; returns the absolute path, or on a server the name of the file. */
  save(path: string, bytes: Uint8Array, source: FileSource): Promise<string>
}

/** Report of one probe of a condition. */
export interface Probe {
  readonly met: boolean
}

/** Report in place of a probe's own when the page did not answer a single one. */
export interface Unanswered extends Probe {
  readonly met: false
  readonly unanswered: true
}

/** A text of an observation. */
export interface FoundText {
  readonly text: string
  readonly role: string
  /** Reference of the element, or of the nearest one around the text. */
  readonly ref: string | null
}
export type RecordingKind = 'har' | 'trace' | 'video'

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
  /** Whether the action can use a hidden element, when no match is visible. */
  readonly mayBeHidden?: boolean
  /** Element under the pointer after the action, when it is not the action's own. */
  readonly endsOn?: Locator
  /** Whether the element has to be enabled, as for a click; fields to edit always have to. */
  readonly enabled?: boolean
  /** Values or labels of options that have to be enabled, in a select element. */
  readonly options?: readonly string[]
}

/** Input that a command sends to a page, used to detect and report its delivery. */
export interface CommandInput {
  /** Kind of events that confirm delivery: a pressed button, a moved pointer, or typed or selected text. */
  readonly kind: 'press' | 'move' | 'text'
  /** Noun for the input in messages: "the click was delivered". */
  readonly noun: string
}

/** Another spelling of a command on a command line, such as `goto` or `get title`. */
export interface Spelling {
  /** One or two words. */
  readonly words: string
  /** Fields that it sets: `is visible` is get_state with a state. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Positional forms, if they differ from those of the command. */
  readonly positional?: PositionalForms
}

/**
 * Orders in which values without a name set fields, in the order of preference. The first form that fits the number of
 * values, and their types where fields are numbers, positions or choices, is used: `wait 500` and `wait '#spinner'`.
 */
export type PositionalForms = readonly (readonly string[])[]

export interface Command<Data extends z.ZodObject = z.ZodObject> {
  readonly kind: 'action' | 'extraction'
  readonly summary: string
  /** Other spellings on a command line, such as `goto`; HTTP and scripts only know the name. */
  readonly also?: readonly (string | Spelling)[]
  /** Positional forms on the command line and in scripts; by default the required fields, in order. */
  readonly positional?: PositionalForms
  /** Example arguments after `bax <name>`, for the help text. */
  readonly example: Examples
  readonly data: Data
  /** Set for commands that simulate user input; on failure they report whether the input has reached the page. */
  readonly input?: CommandInput
  /** Returns whether text input with this data can submit a form; presses always can. */
  maySubmit?(data: Readonly<Record<string, unknown>>): boolean
  /** Set for actions that only wait: the page's reaction to the action before them is what they wait for. */
  readonly waits?: true
  /** Set for actions that replace the document: they do not wait for one that is being loaded. */
  readonly leaves?: true
  /** Set for extractions that run code of the caller, which can change the page. */
  readonly runsCode?: true
  /** Shows the list in the result as a table in the terminal; `items` is its field, if the result is an object. */
  readonly table?: { readonly items?: string; readonly columns: readonly string[] }
  /** Field of `data` in the result entry with base64 data; its media type is `content_type`. */
  readonly bytes?: string
  /** Field of an action's `data` in the result entry that the terminal prints, such as an ID. */
  readonly prints?: string
  /** Field with names of files of the session: the command line accepts local files there, and uploads them first. */
  readonly localFiles?: string
  /** Field of `data` in the result entry with the name of a file of the session, which `--output` fetches. */
  readonly stores?: string
  /** Shape of `data` in the result entry; null for commands that report nothing. */
  readonly result: z.ZodType | null
  /** Whether the command works while a dialog of the page is open; other commands fail at once then. */
  readonly worksDuringDialog?: boolean
  /** Maximum run time, for commands that have no `timeout_ms` and are not short. */
  readonly maxDurationMs?: number
  run(context: CommandContext, data: z.output<Data>): Promise<CommandOutcome | void>
}

export const defineCommand = <Data extends z.ZodObject>(command: Command<Data>): Command<Data> => command

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
  if (value instanceof Date) return { type: 'date', value: Number.isNaN(value.getTime()) ? null : value.toISOString() }
  if (Array.isArray(value)) return { type: 'array', value }
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value as 'string', value }
  return { type: 'object', value }
}
