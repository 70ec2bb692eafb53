/** Failures of code, with their position in it. */
import { isErrorCode } from '../../core/errors/errors.ts'
import type { PlainError } from '../../core/process/thread-tasks.ts'
import type { Thrown } from './guest.ts'
import type { CodeFailure, CodeTask } from './messages.ts'

/** Name of the code in stacks. */
export const fileName = 'code.js'

const before = '(async () => {'

/** Returns the code as a function that is called; its lines keep their numbers. */
export const wrapped = (code: string): string => `${before}${code}\n})()`

/** Returns the first position in the code that a stack names. */
export function positionIn(stack: string): Pick<CodeFailure, 'line' | 'column'> {
  const found = /\bcode\.js:(\d+):(\d+)/.exec(stack)
  if (!found) return {}
  const line = Number(found[1])
  return { line, column: Math.max(1, Number(found[2]) - (line === 1 ? before.length : 0)) }
}

/** Converts what the code has thrown. */
export function failureOf({ name, message, stack, ...more }: Thrown, { memoryMb }: CodeTask): CodeFailure {
  const position = positionIn(stack)
  if (isErrorCode(more.code)) {
    const details = more.details as PlainError['details']
    return { code: more.code, message, hint: more.hint, ...(details && { details }), ...position }
  }
  if (name === 'InternalError' && message.startsWith('out of memory')) return noMemory(memoryMb, position)
  return { code: 'code_failed', message: name === '' ? message : `${name}: ${message}`, ...position }
}

export const noMemory = (memoryMb: number, position: Pick<CodeFailure, 'line' | 'column'> = {}): CodeFailure => ({
  code: 'limit_exceeded',
  message: `the code needs more than ${memoryMb} MB of memory`,
  hint: 'make less of it, or raise memory_mb',
  details: { limit: 'memory_mb' },
  ...position,
})

/** Builds the failure of code whose time is up, where it is running, or in a call. */
export const timeoutFailure = (
  ms: number,
  place: { readonly name?: string; readonly stack: string } | undefined,
): CodeFailure => ({
  code: 'timeout',
  message: `the code was not done within ${ms} ms${place?.name === undefined ? '' : `; it waited for bax.${place.name}`}`,
  details: { limit: 'timeout_ms' },
  ...positionIn(place?.stack ?? ''),
})
