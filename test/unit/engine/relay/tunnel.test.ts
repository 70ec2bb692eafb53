import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeFrame, encodeFrame, frameBytes, pieceBytes } from '../../../../src/engine/relay/tunnel/frames.ts'
import { closeCodes, type Link, type LinkHandlers } from '../../../../src/core/net/link.ts'
import { memoryLink } from '../../../support/memory-link.ts'
import { type Control, Tunnel, type TunnelChannel } from '../../../../src/engine/relay/tunnel/tunnel.ts'

/** Promise with its resolver; Node 20 lacks `Promise.withResolvers`. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => (resolve = done))
  return { promise, resolve }
}

interface Side {
  readonly tunnel: Tunnel
  readonly controls: Control[]
  readonly opened: { channel: TunnelChannel; facts: Control }[]
  readonly closed: Promise<{ code: number; reason: string }>
}

function side(
  link: Link,
  name: 'engine' | 'connector',
  heartbeatMs = 60_000,
  onOpen?: (channel: TunnelChannel) => void,
): Side {
  const controls: Control[] = []
  const opened: Side['opened'] = []
  const ended = deferred<{ code: number; reason: string }>()
  const tunnel = new Tunnel(
    link,
    name,
    {
      onControl: (message) => controls.push(message),
      onOpen: (channel, facts) => {
        opened.push({ channel, facts })
        onOpen?.(channel)
      },
      onClose: (code, reason) => ended.resolve({ code, reason }),
    },
    heartbeatMs,
  )
  return { tunnel, controls, opened, closed: ended.promise }
}

/** Tunnel whose remote end echoes every message. */
function echoing() {
  const [near, far] = memoryLink()
  const engine = side(near, 'engine')
  const connector = side(far, 'connector', 60_000, (channel) =>
    channel.handle({ onMessage: (text) => channel.send(text.toString()), onClose: () => {} }),
  )
  return { engine, connector }
}

/** Collects the next `count` messages of a channel. */
function messages(channel: TunnelChannel, count: number): Promise<string[]> {
  const seen: string[] = []
  return new Promise((resolve, reject) => {
    channel.handle({
      onMessage: (text) => {
        seen.push(text.toString())
        if (seen.length === count) resolve(seen)
      },
      onClose: (code, reason) => reject(new Error(`closed ${code} ${reason}`)),
    })
  })
}

describe('frames', () => {
  test('decode to the encoded values', () => {
    fc.assert(
      fc.property(fc.nat(0xff_ff_ff_ff), fc.boolean(), fc.uint8Array({ maxLength: 200 }), (channel, last, piece) => {
        const frame = decodeFrame(encodeFrame({ channel, last, piece }))
        expect({ ...frame, piece: [...frame.piece] }).toEqual({ channel, last, piece: [...piece] })
      }),
    )
  })

  test('are rejected if they are too short, too long or have unknown flags', () => {
    for (const bytes of [new Uint8Array(4), new Uint8Array(frameBytes + 1), new Uint8Array([2, 0, 0, 0, 1])]) {
      expect(() => decodeFrame(bytes)).toThrow(/tunnel frame/)
    }
  })
})

describe('a tunnel', () => {
  test('delivers messages of any length on many channels, each in order', async () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('x'.repeat(pieceBytes), 'é'.repeat(pieceBytes), '', '€'.repeat(70_000)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
        async (conversations) => {
          const { engine } = echoing()
          const channels = conversations.map(() => engine.tunnel.open({ kind: 'cdp' }))
          const received = Promise.all(channels.map((channel, at) => messages(channel, conversations[at]!.length)))
          // Alternate between the channels.
          for (let round = 0; round < 5; round++) {
            channels.forEach(
              (channel, at) => conversations[at]![round] !== undefined && channel.send(conversations[at]![round]!),
            )
          }
          expect(await received).toEqual(
            conversations.map((conversation) => conversation.map((message) => Buffer.from(message).toString())),
          )
          engine.tunnel.close(closeCodes.done, '')
        },
      ),
      { numRuns: 40 },
    )
  })

  test('does not block a short message behind a long one of another channel', async () => {
    const { engine, connector } = echoing()
    const long = engine.tunnel.open({})
    const short = engine.tunnel.open({})
    const order: string[] = []
    const both = Promise.all([
      messages(long, 1).then(() => order.push('long')),
      messages(short, 1).then(() => order.push('short')),
    ])
    long.send('x'.repeat(8 * 1024 * 1024))
    short.send('hello')
    await both
    expect(order).toEqual(['short', 'long'])
    expect(connector.opened.map(({ channel }) => channel.number)).toEqual([2, 4])
  })

  test('notifies the other end of a closed channel, and drops later messages', async () => {
    const { engine, connector } = echoing()
    const channel = engine.tunnel.open({ kind: 'ws' })
    await reachable(channel)
    const ended = deferred<number>()
    connector.opened[0]!.channel.handle({ onMessage: () => {}, onClose: ended.resolve })
    channel.close(closeCodes.browserGone, 'no browser')
    channel.send('unheard')
    expect(await ended.promise).toBe(closeCodes.browserGone)
  })

  test('closes every channel with the tunnel', async () => {
    const { engine, connector } = echoing()
    const closed = messages(engine.tunnel.open({}), 1)
    connector.tunnel.close(closeCodes.replaced, 'replaced')
    await expect(closed).rejects.toThrow('closed 4410')
    expect(await engine.closed).toEqual({ code: 4001, reason: 'replaced' })
  })

  test('is lost when the other side stops responding', async () => {
    const silent: Link = {
      buffered: 0,
      handle: () => {},
      sendText: () => {},
      sendBytes: () => {},
      close: () => {},
      drop: () => {},
    }
    const { closed } = side(silent, 'engine', 10)
    expect(await closed).toMatchObject({ code: 1006 })
  })

  test('is kept when this process could not read what the other side sent', async () => {
    const [near, far] = memoryLink()
    const { tunnel, closed } = side(near, 'engine', 20)
    far.handle({ onText: () => {}, onBytes: () => {}, onClose: () => {} })
    const read = new Promise<void>((resolve) => {
      // After the heartbeat.
      setTimeout(() => {
        far.sendText(JSON.stringify({ type: 'beat' }))
        resolve()
      }, 30)
    })
    const end = performance.now() + 200
    while (performance.now() < end);
    await read
    tunnel.close(closeCodes.done, 'by this side')
    expect(await closed).toMatchObject({ reason: 'by this side' })
  })

  test('closes only a channel whose reader does not keep up', async () => {
    let handlers!: LinkHandlers
    const stuck: Link = {
      buffered: 10 ** 9,
      handle: (given) => (handlers = given),
      sendText: () => {},
      sendBytes: () => {},
      close: () => {},
      drop: () => {},
    }
    const { tunnel } = side(stuck, 'engine')
    const slow = tunnel.open({})
    const closed = messages(slow, 1)
    const piece = 'x'.repeat(16 * 1024 * 1024)
    for (let at = 0; at < 5; at++) slow.send(piece)
    await expect(closed).rejects.toThrow('closed 4413')
    expect(tunnel.closed).toBe(false)
    handlers.onClose(1000, '')
    expect(tunnel.closed).toBe(true)
  })

  test('closes with a protocol error and never throws on any input', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string(), fc.json(), fc.uint8Array(), fc.constant('{"type":"open","ch":2}')), {
          minLength: 1,
        }),
        async (received) => {
          let handlers!: LinkHandlers
          const link: Link = {
            buffered: 0,
            handle: (given) => (handlers = given),
            sendText: () => {},
            sendBytes: () => {},
            close: () => {},
            drop: () => {},
          }
          const { tunnel, closed } = side(link, 'engine')
          for (const message of received) {
            if (typeof message === 'string') handlers.onText(message)
            else handlers.onBytes(message)
          }
          if (tunnel.closed) expect(await closed).toMatchObject({ code: 4000 })
          tunnel.close(closeCodes.done, '')
        },
      ),
    )
  })
})

/** Resolves when the remote end has echoed a first message: the channel is open on both sides. */
async function reachable(channel: TunnelChannel): Promise<void> {
  const first = messages(channel, 1)
  channel.send('hello')
  await first
}
