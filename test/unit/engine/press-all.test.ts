import { expect, test } from 'vitest'
import type { Page } from 'playwright'
import { pressAll, type Reacts } from '../../../src/engine/browser/page/internals.ts'

/** Returns the messages of some keys in groups: those of a group are sent before the first of them is answered. */
async function groupsOf(names: readonly string[], reacts: Reacts): Promise<string[][]> {
  const groups: string[][] = []
  let waiting = 0
  const message = (kind: string) => async (_: unknown, key: string) => {
    if (waiting++ === 0) groups.push([])
    groups.at(-1)!.push(`${kind} ${key}`)
    await new Promise(setImmediate)
    waiting--
  }
  // The parts of Playwright's own page that typing uses.
  const impl = {
    frameManager: { waitForSignalsCreatedBy() {} },
    keyboard: { down: message('down'), up: message('up') },
  }
  const page = { _connection: { toImpl: () => impl } } as unknown as Page
  await pressAll(page, names, reacts, new AbortController().signal)
  expect(waiting).toBe(0)
  return groups
}

test('each message waits for the answer to the one before when the page reacts to all keys', async () => {
  expect(await groupsOf(['a', 'b'], 'always')).toEqual([['down a'], ['up a'], ['down b'], ['up b']])
})

test('each press is answered before the next one when the page reacts to presses', async () => {
  expect(await groupsOf(['a', 'b'], 'to presses')).toEqual([['down a'], ['up a', 'down b'], ['up b']])
})

test('all keys are sent at once when the page listens to none, except for Enter', async () => {
  expect(await groupsOf(['a', 'b', 'Enter'], 'never')).toEqual([
    ['down a', 'up a', 'down b', 'up b', 'down Enter'],
    ['up Enter'],
  ])
})
