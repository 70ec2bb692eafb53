/**
 * Attributes unhandled promise rejections to the code that caused them. Libraries that process untrusted input may
 * create such promises, and their rejections only reach the handler of the whole process.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type ErrorHandler = (error: unknown) => void

const handlers = new AsyncLocalStorage<ErrorHandler>()

/** Runs `work`; `handler` receives its error, and unhandled rejections that result from it. */
export function withErrorHandler(handler: ErrorHandler, work: () => unknown): void {
  handlers.run(handler, async () => work()).catch(handler)
}

/** Returns the handler for the unhandled rejection being reported; undefined when there is none. */
export const currentErrorHandler = (): ErrorHandler | undefined => handlers.getStore()

/** Error events of a process; each method adds a listener and returns a function that removes it. */
export interface ProcessErrors {
  /** Reports an unhandled rejection; with a listener the process continues. */
  onStray(listener: (error: unknown) => void): () => void
  /** Reports an uncaught error; with a listener the process does not exit by itself. */
  onCrash(listener: (error: unknown) => void): () => void
  /** Ends the process at once. */
  exit(code: number): void
}
