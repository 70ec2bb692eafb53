import type { Page } from 'playwright'
import { expect, test } from 'vitest'
import { titleOf } from '../../../src/engine/browser/page/internals.ts'

/** A page whose document cannot be evaluated, as Playwright shows it to this process. */
const pageThat = (fails: Error): Page => {
  const frame = {
    pendingDocument: () => undefined,
    utilityContext: () => Promise.reject(fails),
    raceAgainstEvaluationStallingEvents: <T>(work: () => Promise<T>) => work(),
  }
  const impl = { frameManager: { waitForSignalsCreatedBy() {} }, mainFrame: () => frame }
  return { isClosed: () => false, _connection: { toImpl: () => impl } } as unknown as Page
}

test('a page that has crashed has no title, also before its crash is reported', async () => {
  const crashed = Object.assign(new Error('Protocol error (Runtime.evaluate)'), { type: 'crashed' })
  await expect(titleOf(pageThat(crashed))).rejects.toThrow('Target crashed')
})

test('the title of a document that is replaced all the time is empty', async () => {
  expect(await titleOf(pageThat(new Error('Execution context was destroyed')))).toBe('')
})
