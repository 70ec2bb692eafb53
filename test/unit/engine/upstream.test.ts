import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { type CdpMessage, Upstream } from '../../../src/engine/browser/cdp/upstream.ts'

/** Opens a pipe with a fake browser at its other end. */
function openPipe() {
  const input = new PassThrough()
  const output = new PassThrough()
  const sent: CdpMessage[] = []
  const listeners = new Set<() => void>()
  input.on('data', (chunk: Buffer) => {
    for (const text of chunk.toString().split('\0').filter(Boolean)) sent.push(JSON.parse(text) as CdpMessage)
    for (const listener of listeners) listener()
  })
  const reply = (message: CdpMessage) => output.write(`${JSON.stringify(message)}\0`)
  /** Resolves with the newest request of a method. */
  const requested = (method: string, times = 1): Promise<CdpMessage> =>
    new Promise((resolve) => {
      const check = () => {
        const all = sent.filter((message) => message.method === method)
        if (all.length < times) return
        listeners.delete(check)
        resolve(all[times - 1]!)
      }
      listeners.add(check)
      check()
    })
  const upstream = new Upstream(input, output)
  let channels = 0
  const openChannel = async () => {
    const opening = upstream.openChannel()
    const { id } = await requested('Target.attachToBrowserTarget', ++channels)
    reply({ id: id!, result: { sessionId: `root-${channels}` } })
    return opening
  }
  return { upstream, output, reply, requested, openChannel }
}

const attachment = (sessionId: string) => ({ sessionId, targetInfo: { targetId: sessionId, type: 'page', url: '' } })

describe('one pipe for several channels', () => {
  test('gives each channel its own message IDs and browser-level session', async () => {
    const { reply, requested, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const answers: CdpMessage[][] = [[], []]
    first.post({ id: 1, method: 'A.one' }, (answer) => answers[0]!.push(answer))
    second.post({ id: 1, method: 'B.one' }, (answer) => answers[1]!.push(answer))
    const [a, b] = [await requested('A.one'), await requested('B.one')]
    expect([a.sessionId, b.sessionId]).toEqual(['root-1', 'root-2'])
    expect(a.id).not.toBe(b.id)
    reply({ id: b.id!, sessionId: 'root-2', result: { of: 'b' } })
    reply({ id: a.id!, sessionId: 'root-1', result: { of: 'a' } })
    await expect.poll(() => answers).toEqual([[{ id: 1, result: { of: 'a' } }], [{ id: 1, result: { of: 'b' } }]])
  })

  test('delivers events to the channel that attached, browser-level ones without a session', async () => {
    const { reply, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const received: CdpMessage[][] = [[], []]
    first.onEvent((event) => received[0]!.push(event))
    second.onEvent((event) => received[1]!.push(event))
    reply({ method: 'Target.attachedToTarget', sessionId: 'root-1', params: attachment('page-1') })
    reply({ method: 'Page.loaded', sessionId: 'page-1', params: {} })
    reply({ method: 'Target.attachedToTarget', sessionId: 'page-1', params: attachment('frame-1') })
    reply({ method: 'Page.loaded', sessionId: 'frame-1', params: {} })
    reply({ method: 'Page.loaded', sessionId: 'stranger', params: {} })
    reply({ method: 'Target.targetCreated', sessionId: 'root-2', params: {} })
    await expect.poll(() => received[1]).toEqual([{ method: 'Target.targetCreated', params: {} }])
    expect(received[0]!.map(({ method, sessionId }) => [method, sessionId])).toEqual([
      ['Target.attachedToTarget', undefined],
      ['Page.loaded', 'page-1'],
      ['Target.attachedToTarget', 'page-1'],
      ['Page.loaded', 'frame-1'],
    ])
  })

  test('assigns a session to the channel that requested it, even before the event', async () => {
    const { reply, requested, openChannel } = openPipe()
    const channel = await openChannel()
    const received: CdpMessage[] = []
    channel.onEvent((event) => received.push(event))
    const attached = channel.send('Target.attachToTarget', { targetId: 'x', flatten: true })
    const { id } = await requested('Target.attachToTarget')
    reply({ id: id!, result: { sessionId: 'page-9' } })
    await attached
    reply({ method: 'Page.loaded', sessionId: 'page-9', params: {} })
    await expect.poll(() => received.length).toBe(1)
  })

  test('joins messages split at any byte', async () => {
    const { upstream, output, requested } = openPipe()
    const version = upstream.send('Browser.getVersion')
    const { id } = await requested('Browser.getVersion')
    const bytes = Buffer.from(`${JSON.stringify({ id, result: { product: 'Chrömium/1' } })}\0`)
    for (const byte of bytes) output.write(Buffer.from([byte]))
    expect(await version).toEqual({ product: 'Chrömium/1' })
  })

  test('rejects with a code and words of its own, and the method and message of the browser as the details', async () => {
    const { upstream, reply, requested } = openPipe()
    const call = upstream.send('Page.nothing')
    const { id } = await requested('Page.nothing')
    reply({ id: id!, error: { code: -32_601, message: "'Page.nothing' wasn't found" } })
    await expect(call).rejects.toMatchObject({
      code: 'cdp_error',
      message: 'the browser reported an error',
      details: { code: -32_601, message: "'Page.nothing' wasn't found", method: 'Page.nothing' },
    })
  })

  test('fails the pending calls of a page that is closed, which the browser never answers', async () => {
    const { reply, requested, openChannel } = openPipe()
    const channel = await openChannel()
    const attached = new Promise((resolve) => channel.onEvent(resolve))
    reply({ method: 'Target.attachedToTarget', sessionId: 'root-1', params: attachment('page-1') })
    await attached
    const pending = channel.send('Runtime.evaluate', {}, 'page-1')
    const other = channel.send('Target.getTargets')
    await requested('Runtime.evaluate')
    reply({ method: 'Target.detachedFromTarget', sessionId: 'root-1', params: { sessionId: 'page-1' } })
    await expect(pending).rejects.toMatchObject({ code: 'target_closed', message: 'the page was closed' })
    reply({ id: (await requested('Target.getTargets')).id!, result: {} })
    expect(await other).toEqual({})
  })

  test('hides the sessions of other channels', async () => {
    const { reply, openChannel } = openPipe()
    const [first, second] = [await openChannel(), await openChannel()]
    const attached = new Promise((resolve) => first.onEvent(resolve))
    reply({ method: 'Target.attachedToTarget', sessionId: 'root-1', params: attachment('page-1') })
    await attached
    const answers: CdpMessage[] = []
    second.post({ id: 7, method: 'Page.close', sessionId: 'page-1' }, (answer) => answers.push(answer))
    second.post({ id: 8, method: 'Browser.getVersion', sessionId: 'root-1' }, (answer) => answers.push(answer))
    expect(answers).toMatchObject([
      { id: 7, sessionId: 'page-1', error: { code: -32_001 } },
      { id: 8, sessionId: 'root-1', error: { code: -32_001 } },
    ])
  })

  test('rejects all pending calls when the browser ends', async () => {
    const { upstream, output, openChannel } = openPipe()
    const channel = await openChannel()
    const sent: string[] = []
    channel.onClose(() => sent.push('channel'))
    upstream.onClose(() => sent.push('upstream'))
    const calls = [upstream.send('A.a'), channel.send('B.b')]
    output.end()
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'worker_lost' })
    expect(sent).toEqual(['channel', 'upstream'])
    await expect(upstream.send('C.c')).rejects.toMatchObject({ code: 'worker_lost' })
    upstream.onClose(() => sent.push('late'))
    expect(sent.at(-1)).toBe('late')
  })

  test('detaches a closed channel, which then neither receives nor sends', async () => {
    const { reply, requested, openChannel, upstream } = openPipe()
    const channel = await openChannel()
    const received: CdpMessage[] = []
    channel.onEvent((event) => received.push(event))
    channel.close()
    expect((await requested('Target.detachFromTarget')).params).toEqual({ sessionId: 'root-1' })
    reply({ method: 'Page.loaded', sessionId: 'root-1', params: {} })
    await expect(channel.send('A.a')).rejects.toMatchObject({
      code: 'worker_lost',
      message: expect.stringContaining('closed'),
    })
    const call = upstream.send('B.b')
    reply({ id: (await requested('B.b')).id!, result: {} })
    await call
    expect(received).toEqual([])
  })
})

describe('an oversized message', () => {
  const piece = Buffer.alloc(1024 * 1024, 'a')
  const sendOversized = (output: PassThrough, head: string, tail: string) => {
    output.write(head)
    for (let bytes = 0; bytes <= limits.cdp.messageBytes; bytes += piece.length) output.write(piece)
    output.write(`${tail}\0`)
  }

  test('rejects its call and leaves the following ones intact', async () => {
    const { upstream, output, requested, reply } = openPipe()
    const [long, short] = [upstream.send('A.long'), upstream.send('B.short')]
    const { id } = await requested('A.long')
    sendOversized(output, `{"id":${id},"result":{"data":"`, '"},"sessionId":"page-1"}')
    reply({ id: (await requested('B.short')).id!, result: { data: 'b' } })
    await expect(long).rejects.toMatchObject({ code: 'content_too_large', message: expect.stringContaining('128 MiB') })
    expect(await short).toEqual({ data: 'b' })
  })

  test('rejects its call when it has too many values', async () => {
    const { upstream, requested, reply } = openPipe()
    const dense = upstream.send('A.dense')
    reply({ id: (await requested('A.dense')).id!, result: { list: Array(limits.cdp.messageValues + 1).fill(null) } })
    await expect(dense).rejects.toMatchObject({ code: 'content_too_large', message: expect.stringContaining('values') })
  })

  test('ends the page when it is an event', async () => {
    const { output, requested, upstream } = openPipe()
    sendOversized(output, '{"method":"Runtime.bindingCalled","params":{"payload":"', '"},"sessionId":"page-1"}')
    expect(await requested('Page.crash')).toMatchObject({ sessionId: 'page-1' })
    expect(upstream.closed).toBe(false)
  })
})

test('closes the connection on a malformed message', async () => {
  const { upstream, output } = openPipe()
  const call = upstream.send('A.a')
  output.write('null\0')
  await expect(call).rejects.toMatchObject({ code: 'worker_lost' })
  expect(upstream.closed).toBe(true)
})
