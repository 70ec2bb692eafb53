/** Bodies as Node receives them, and as a call within the process sends them. */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keylessCaller } from '../../../src/core/access/caller.ts'
import { limits } from '../../../src/core/limits/limits.ts'
import { BodyMemory } from '../../../src/server/access/load.ts'
import { type BodyRules, readJsonBody } from '../../../src/server/request/json-body.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe.each(['Node', 'a web stream'] as const)('a body from %s', (source) => {
  /** Sends the chunks; the body ends unless `isOpen`. */
  function read(chunks: readonly Uint8Array[], rules: Partial<BodyRules> = {}, isOpen = false) {
    const incoming = new Readable({ read() {} })
    for (const chunk of chunks) incoming.push(chunk)
    if (!isOpen) incoming.push(null)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, duplex: 'half' }
    const body = source === 'Node' ? {} : { body: Readable.toWeb(incoming) }
    const request = new Request('http://localhost/', { ...init, ...body } as RequestInit)
    const own = source === 'Node' ? { incoming: incoming as IncomingMessage } : {}
    return { incoming, object: readJsonBody(request, { maxBytes: 100, ...own, ...rules }) }
  }

  test('is joined and parsed, and its bytes are passed on', async () => {
    const onBody = vi.fn<(bytes: Uint8Array) => void>()
    const { object } = read([bytesOf('{"name":'), bytesOf('"é"}')], { onBody })
    expect(await object).toEqual({ name: 'é' })
    expect(new TextDecoder().decode(onBody.mock.calls[0]![0])).toBe('{"name":"é"}')
  })

  test('is an empty object if it is empty', async () => {
    expect(await read([]).object).toEqual({})
  })

  test('is rejected as soon as it is too large', async () => {
    const { object } = read([bytesOf('"'.repeat(60)), bytesOf('"'.repeat(60))], {}, true)
    await expect(object).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  test('is rejected if it is not UTF-8, and does not affect the next one', async () => {
    await expect(read([new Uint8Array([0x7b, 0xe2, 0x82])]).object).rejects.toMatchObject({ code: 'invalid_json' })
    expect(await read([bytesOf('{"a":1}')]).object).toEqual({ a: 1 })
  })

  test('takes memory as it arrives', async () => {
    const memory = new BodyMemory(10).open(keylessCaller)
    const { object } = read([bytesOf('{"name":'), bytesOf('"abc"}')], { memory }, true)
    await expect(object).rejects.toMatchObject({ code: 'no_capacity' })
  })

  test('that breaks off is an error', async () => {
    const { incoming, object } = read([bytesOf('{')], {}, true)
    setImmediate(() => incoming.destroy(new Error('aborted')))
    await expect(object).rejects.toThrow('aborted')
  })

  describe('that does not arrive', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
    afterEach(() => void vi.useRealTimers())

    test('times out', async () => {
      const { object } = read([bytesOf('{')], {}, true)
      const outcome = expect(object).rejects.toMatchObject({ code: 'timeout', message: 'timed out reading the body' })
      await vi.advanceTimersByTimeAsync(limits.connection.bodyMs)
      await outcome
    })
  })
})
