import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits.ts'
import { Flood } from '../../../src/engine/browser/flood.ts'

const message = (method: string, sessionId: string) =>
  Buffer.from(JSON.stringify({ method, params: { type: 'log', args: ['x'.repeat(200)] }, sessionId }))
const most = limits.session.messagesPerSec

describe('a page that talks without end', () => {
  test('is heard so often a second, and again in the next', () => {
    let now = 5000
    const flood = new Flood(() => now)
    const heard = () =>
      Array.from({ length: most * 2 }, () => flood.passes(message('Runtime.consoleAPICalled', 'A'))).filter(Boolean)
        .length
    expect(heard()).toBe(most)
    now += 1000
    expect(heard()).toBe(most)
  })

  test('takes nothing from another page, and nothing of what somebody waits for', () => {
    const flood = new Flood(() => 0)
    for (let said = 0; said < most * 2; said += 1) flood.passes(message('Runtime.exceptionThrown', 'A'))
    expect(flood.passes(message('Log.entryAdded', 'A'))).toBe(false)
    expect(flood.passes(message('Runtime.consoleAPICalled', 'B'))).toBe(true)
    expect(flood.passes(message('Page.javascriptDialogOpening', 'A'))).toBe(true)
    expect(
      flood.passes(Buffer.from('{"id":7,"result":{"text":"\\"Runtime.consoleAPICalled\\""},"sessionId":"A"}')),
    ).toBe(true)
  })
})
