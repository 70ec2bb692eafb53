/**
 * Calls of functions that Playwright exposes to pages. All Playwright clients of a page use one CDP binding and see the
 * calls of all, and answer those of others with an error: `Function "x" is not exposed`. So each sees only its own.
 */
import { randomBytes } from 'node:crypto'
import type { CdpMessage } from '../../cdp/router.ts'

/** Name of the function that pages call for the clipboard of their session. */
export const clipboardBinding = `_${randomBytes(9).toString('hex')}`

/** Functions of Playwright's recorder. */
const recorderPrefix = '__pw_recorder'

/** Returns whether a message is a call of a function that the engine's Playwright has not exposed. */
export function isForeignCall(message: CdpMessage): boolean {
  const name = calledFunction(message)
  return name !== undefined && !isOwn(name)
}

/** Returns whether a message is a call of a function that the engine's Playwright has exposed. */
export function isOwnCall(message: CdpMessage): boolean {
  const name = calledFunction(message)
  return name !== undefined && isOwn(name)
}

const isOwn = (name: string): boolean => name === clipboardBinding || name.startsWith(recorderPrefix)

/** Characters at the beginning of a payload that contain the name of the function. */
const longestStart = 1000

function calledFunction({ method, params }: CdpMessage): string | undefined {
  if (method !== 'Runtime.bindingCalled' || params?.['name'] !== '__playwright__binding__') return undefined
  // The payload is JSON with arguments of any size.
  return /^\{"name":"([^"\\]*)"/.exec(String(params['payload']).slice(0, longestStart))?.[1]
}
