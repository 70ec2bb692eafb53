/** Meanings of the errors of browsers, which Playwright and the DevTools protocol report as text only. */
import type { ErrorCode } from './errors.ts'

export interface BrowserError {
  readonly code: ErrorCode
  readonly message: string
}

/** `$1` in a message is the first group of the pattern. */
const meanings: readonly [RegExp, ErrorCode, string][] = [
  [/(?:page|target) crashed/i, 'page_crashed', 'the page crashed'],
  [/the browser is gone|connection to the browser is closed/i, 'worker_lost', 'the browser is gone'],
  [
    /\b(?:browser|page|target|session) (?:has been )?closed|(?:page|session|target) with given id|session already detached|no object with guid|not attached to an active page/i,
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
  [/\bprotocol error \([\w.]+\): internal error/i, 'cdp_error', 'the browser reported an error'],
  // Its reason may be a rule of ours, such as a policy or a size.
  [/\bprotocol error \([\w.]+\): (.+)/i, 'cdp_error', '$1'],
]

/** Characters that are read of a message: a page may throw an error with a text of any size. */
const longestLine = 100_000

/** Returns what a message of a browser means; undefined when it is none, or not known. */
export function browserErrorOf(message: string): BrowserError | undefined {
  // Further lines are a log, which may quote anything.
  const [first = ''] = message.split('\n', 1)
  const line = first.slice(0, longestLine)
  for (const [pattern, code, text] of meanings) {
    const match = pattern.exec(line)
    if (match) return { code, message: text.replace('$1', () => match[1]!) }
  }
  return undefined
}
