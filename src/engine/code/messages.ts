/** Messages between the engine and the thread of a sandbox. All values of the code are JSON. */
import type { ErrorCode } from '../../core/errors/errors.ts'
import type { PlainError } from '../../core/process/thread-tasks.ts'

/** Task of a thread. */
export interface CodeTask {
  readonly code: string
  /** Names of the functions of `bax`. */
  readonly functions: readonly string[]
  /** `args` as JSON. */
  readonly args: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly maxCalls: number
  readonly maxOutputChars: number
}

/** Outcome of a call: its value as JSON, undefined for none, or its failure. */
export type CallOutcome = { readonly value: string | undefined } | { readonly failure: PlainError }

/** Message to a thread. */
export type ToThread = { readonly id: number } & CallOutcome

/** A failure of the code, or of a call that it did not handle. */
export interface CodeFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: PlainError['details']
  /** Position in the code, if known. */
  readonly line?: number
  readonly column?: number
}

/** End of the code: its result as JSON, or its failure. */
export type CodeEnd = { readonly result: string } | { readonly failure: CodeFailure }

/** Message of a thread. */
export type FromThread =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: string }
  | { readonly type: 'print'; readonly text: string }
  | { readonly type: 'end'; readonly end: CodeEnd }

/** One side of a channel, such as the port of a worker thread. */
export interface Port {
  postMessage(message: FromThread): void
  on(event: 'message', listener: (message: ToThread) => void): void
}
