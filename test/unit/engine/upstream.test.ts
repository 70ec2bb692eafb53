import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { type CdpMessage, Upstream } from '../../../src/engine/browser/pool/upstream.ts'

/** The browser's end of the pipe: what it was told, and a way to tell something. */
function openPipe() {
  const input = new PassThrough()
  const output = new PassThrough()
  const told: CdpMessage[] = []
  const listeners = new Set<() => void>()
  input.on('data', (chunk: Buffer) => {
    for (const text of chunk.toString().split('\0').filter(Boolean)) told.push(JSON.parse(text) as CdpMessage)
    for (const listener of listeners) listener()
  })
  const say = (message: CdpMessage) => output.write(`${JSON.stringify(message)}\0`)
  /** Resolves with the newest request of a method. */
  const asked = (method: string, times = 1): Promise<CdpMessage> =>
    new Promise((resolve) => {
      const look = () => {
        const all = told.filter((message) => message.method === method)
        if (all.length < times) return
        listeners.delete(look)
        resolve(all[times - 1]!)
      }
      listeners.add(look)
      look()
    })
  const upstream = new Upstream(input, output)
  let channels = 0
  const openChannel = async () => {
    const opening = upstream.openChannel()
    const { id } = await asked('Target.attachToBrowserTarget', ++channels)
    say({ id: id!, result: { sessionId: `root-${channels}` } })
    return opening
  }
  return { upstream, output, say, asked, openChannel }
}

const arrival = (sessionId: string) => ({ sessionId, targetInfo: { targetId: sessionId, type: 'page', url: '' } })

describe('one pipe for several consumers', () => {
  test('each has its own numbers, and speaks on its own browser-level session', async () => {
    const { say, asked, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const answers: CdpMessage[][] = [[], []]
    first.post({ id: 1, method: 'A.one' }, (answer) => answers[0]!.push(answer))
    second.post({ id: 1, method: 'B.one' }, (answer) => answers[1]!.push(answer))
    const [a, b] = [await asked('A.one'), await asked('B.one')]
    expect([a.sessionId, b.sessionId]).toEqual(['root-1', 'root-2'])
    expect(a.id).not.toBe(b.id)
    say({ id: b.id!, sessionId: 'root-2', result: { of: 'b' } })
    say({ id: a.id!, sessionId: 'root-1', result: { of: 'a' } })
    await expect.poll(() => answers).toEqual([[{ id: 1, result: { of: 'a' } }], [{ id: 1, result: { of: 'b' } }]])
  })

  test('events reach the one who attached, and those of the browser level come without a session', async () => {
    const { say, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const heard: CdpMessage[][] = [[], []]
    first.onEvent((event) => heard[0]!.push(event))
    second.onEvent((event) => heard[1]!.push(event))
    say({ method: 'Target.attachedToTarget', sessionId: 'root-1', params: arrival('page-1') })
    say({ method: 'Page.loaded', sessionId: 'page-1', params: {} })
    say({ method: 'Target.attachedToTarget', sessionId: 'page-1', params: arrival('frame-1') })
    say({ method: 'Page.loaded', sessionId: 'frame-1', params: {} })
    say({ method: 'Page.loaded', sessionId: 'stranger', params: {} })
    say({ method: 'Target.targetCreated', sessionId: 'root-2', params: {} })
    await expect.poll(() => heard[1]).toEqual([{ method: 'Target.targetCreated', params: {} }])
    expect(heard[0]!.map(({ method, sessionId }) => [method, sessionId])).toEqual([
      ['Target.attachedToTarget', undefined],
      ['Page.loaded', 'page-1'],
      ['Target.attachedToTarget', 'page-1'],
      ['Page.loaded', 'frame-1'],
    ])
  })

  test('a session that a channel asked for is its own even before the event', async () => {
    const { say, asked, openChannel } = openPipe()
    const channel = await openChannel()
    const heard: CdpMessage[] = []
    channel.onEvent((event) => heard.push(event))
    const attached = channel.send('Target.attachToTarget', { targetId: 'x', flatten: true })
    const { id } = await asked('Target.attachToTarget')
    say({ id: id!, result: { sessionId: 'page-9' } })
    await attached
    say({ method: 'Page.loaded', sessionId: 'page-9', params: {} })
    await expect.poll(() => heard.length).toBe(1)
  })

  test('messages come in any pieces', async () => {
    const { upstream, output, asked } = openPipe()
    const version = upstream.send('Browser.getVersion')
    const { id } = await asked('Browser.getVersion')
    const bytes = Buffer.from(`${JSON.stringify({ id, result: { product: 'Chrömium/1' } })}\0`)
    for (const byte of bytes) output.write(Buffer.from([byte]))
    expect(await version).toEqual({ product: 'Chrömium/1' })
  })

  test('an error of the protocol rejects with the method and its words', async () => {
    const { upstream, say, asked } = openPipe()
    const call = upstream.send('Page.nothing')
    const { id } = await asked('Page.nothing')
    say({ id: id!, error: { code: -32_601, message: "'Page.nothing' wasn't found" } })
    await expect(call).rejects.toMatchObject({
      code: 'internal_error',
      message: "Page.nothing: 'Page.nothing' wasn't found",
    })
  })

  test("another consumer's session does not exist for it", async () => {
    const { say, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const attached = new Promise((resolve) => first.onEvent(resolve))
    say({ method: 'Target.attachedToTarget', sessionId: 'root-1', params: arrival('page-1') })
    await attached
    const answers: CdpMessage[] = []
    second.post({ id: 7, method: 'Page.close', sessionId: 'page-1' }, (answer) => answers.push(answer))
    second.post({ id: 8, method: 'Browser.getVersion', sessionId: 'root-1' }, (answer) => answers.push(answer))
    expect(answers).toMatchObject([
      { id: 7, sessionId: 'page-1', error: { code: -32_001 } },
      { id: 8, sessionId: 'root-1', error: { code: -32_001 } },
    ])
  })

  test('when the browser goes, everything that waits is told', async () => {
    const { upstream, output, openChannel } = openPipe()
    const channel = await openChannel()
    const told: string[] = []
    channel.onClose(() => told.push('channel'))
    upstream.onClose(() => told.push('upstream'))
    const calls = [upstream.send('A.a'), channel.send('B.b')]
    output.end()
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'worker_lost' })
    expect(told).toEqual(['channel', 'upstream'])
    await expect(upstream.send('C.c')).rejects.toMatchObject({ code: 'worker_lost' })
    upstream.onClose(() => told.push('late'))
    expect(told.at(-1)).toBe('late')
  })

  test('a closed channel detaches, hears nothing and sends nothing', async () => {
    const { say, asked, openChannel, upstream } = openPipe()
    const channel = await openChannel()
    const heard: CdpMessage[] = []
    channel.onEvent((event) => heard.push(event))
    channel.close()
    expect((await asked('Target.detachFromTarget')).params).toEqual({ sessionId: 'root-1' })
    say({ method: 'Page.loaded', sessionId: 'root-1', params: {} })
    await expect(channel.send('A.a')).rejects.toThrow(/closed/)
    const call = upstream.send('B.b')
    say({ id: (await asked('B.b')).id!, result: {} })
    await call
    expect(heard).toEqual([])
  })
})

describe('a message that is too long', () => {
  const piece = Buffer.alloc(1024 * 1024, 'a')
  const saying = (output: PassThrough, head: string, tail: string) => {
    output.write(head)
    for (let bytes = 0; bytes <= limits.cdp.messageBytes; bytes += piece.length) output.write(piece)
    output.write(`${tail}\0`)
  }

  test('is not read: who waits for an answer is told, and the next one is read', async () => {
    const { upstream, output, asked, say } = openPipe()
    const [long, short] = [upstream.send('A.long'), upstream.send('B.short')]
    const { id } = await asked('A.long')
    saying(output, `{"id":${id},"result":{"data":"`, '"},"sessionId":"page-1"}')
    say({ id: (await asked('B.short')).id!, result: { data: 'b' } })
    await expect(long).rejects.toMatchObject({ code: 'content_too_large', message: expect.stringContaining('128 MiB') })
    expect(await short).toEqual({ data: 'b' })
  })

  test('and one of too many values is not parsed', async () => {
    const { upstream, asked, say } = openPipe()
    const dense = upstream.send('A.dense')
    say({ id: (await asked('A.dense')).id!, result: { list: Array(limits.cdp.messageValues + 1).fill(null) } })
    await expect(dense).rejects.toMatchObject({ code: 'content_too_large', message: expect.stringContaining('values') })
  })

  test('that a page says by itself ends the page', async () => {
    const { output, asked, upstream } = openPipe()
    saying(output, '{"method":"Runtime.bindingCalled","params":{"payload":"', '"},"sessionId":"page-1"}')
    expect(await asked('Page.crash')).toMatchObject({ sessionId: 'page-1' })
    expect(upstream.closed).toBe(false)
  })
})

test('a browser that says what is no message is gone', async () => {
  const { upstream, output } = openPipe()
  const call = upstream.send('A.a')
  output.write('null\0')
  await expect(call).rejects.toMatchObject({ code: 'worker_lost' })
  expect(upstream.closed).toBe(true)
})
