/** Meanings of the errors of browsers, which Playwright and the DevTools protocol report as text only. */
import type { ErrorCode } from './errors.ts'

export interface BrowserError {
  readonly code: ErrorCode
  readonly message: string
}

const meanings: readonly [RegExp, ErrorCode, string][] = [
  [/(?:page|target) crashed/i, 'page_crashed', 'the page crashed'],
  [/the browser is gone|connection to the browser is closed/i, 'worker_lost', 'the browser is gone'],
  [
    /\b(?:browser|page|target|session) (?:has been )?closed|(?:page|session|target) with given id|session already detached|not attached to an active page/i,
    'target_closed',
    'the page was closed',
  ],
  [
    /context was destroyed|cannot find context|uniqueContextId not found|target navigated|frame (?:was|got|has been) detached/i,
    'navigation_aborted',
    'the page navigated meanwhile',
  ],
  [/unable to capture screenshot/i, 'action_failed', 'the browser could not paint the page'],
  [/printing failed/i, 'action_failed', 'the browser could not print the page'],
  [/\bprotocol error \(/i, 'cdp_error', 'the browser reported an error'],
]

/** Returns what a message of a browser means; undefined when it is none, or not known. */
export function browserErrorOf(message: string): BrowserError | undefined {
  // Further lines are a log, which may quote anything.
  const [line = ''] = message.split('\n', 1)
  const found = meanings.find(([pattern]) => pattern.test(line))
  return found && { code: found[1], message: found[2] }
}
