import { expect, test } from 'vitest'
import type { Page } from 'playwright'
import { pressAll } from '../../../src/engine/browser/page/internals.ts'

test('each key waits for the answer to the one before, so that the page can react', async () => {
  const events: string[] = []
  const message = (kind: string) => async (_: unknown, key: string) => {
    events.push(`${kind} ${key}`)
    await new Promise(setImmediate)
    events.push(`${kind} ${key} answered`)
  }
  // The parts of Playwright's own page that typing uses.
  const impl = {
    frameManager: { waitForSignalsCreatedBy() {} },
    keyboard: { down: message('down'), up: message('up') },
  }
  const page = { _connection: { toImpl: () => impl } } as unknown as Page
  await pressAll(page, ['a', 'b'], new AbortController().signal)
  const steps = ['down a', 'up a', 'down b', 'up b']
  expect(events).toEqual(steps.flatMap((step) => [step, `${step} answered`]))
})
