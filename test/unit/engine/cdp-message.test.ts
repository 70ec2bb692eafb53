import { describe, expect, test } from 'vitest'
import { closeCodes } from '../../../src/core/net/link.ts'
import { deniedCode } from '../../../src/engine/cdp/calls.ts'
import { readCall } from '../../../src/engine/cdp/message.ts'
import { type CdpMessage, CdpRouter, type CdpWire } from '../../../src/engine/cdp/router.ts'
import { ClientContexts } from '../../../src/engine/browser/cdp/client-contexts.ts'
import { SessionGate } from '../../../src/engine/browser/cdp/session-gate.ts'
import { refusalOf } from '../../../src/engine/browser/cdp/session-rules.ts'
import { memoryLink } from '../../support/memory-link.ts'
import { serveChannel } from '../../../src/engine/relay/tunnel/remote-channel.ts'
import { Tunnel, type TunnelChannel } from '../../../src/engine/relay/tunnel/tunnel.ts'

/** Fake browser that answers every call with an empty result, or the session of a channel. */
function browser() {
  const received: CdpMessage[] = []
  let reply: (text: string) => void
  const wire: CdpWire = {
    send(text) {
      const message = JSON.parse(text) as CdpMessage
      received.push(message)
      const result = message.method === 'Target.attachToBrowserTarget' ? { sessionId: 'root' } : {}
      setImmediate(() => reply(JSON.stringify({ id: message.id, result })))
    },
    handle: ({ onMessage }) => void (reply = onMessage),
  }
  return { received, router: new CdpRouter(wire) }
}

const answerOf = (post: (answer: (message: CdpMessage) => void) => void) =>
  new Promise<CdpMessage>((resolve) => post(resolve))

describe('readCall', () => {
  test('parses a call with valid fields', () => {
    const call = { id: 1, method: 'Page.enable', params: { a: 1 }, sessionId: 'S' }
    expect(readCall(JSON.stringify(call))).toEqual(call)
    expect(readCall('{"method":"Page.enable"}')).toEqual({ method: 'Page.enable' })
  })

  test.each(['{', 'null', '[]', '{"id":1}', '{"method":["Browser.close"]}', '{"method":"A.b","id":"1"}'])(
    'rejects %s',
    (text) => expect(readCall(text)).toBeUndefined(),
  )

  test.each([
    { params: null },
    { params: [] },
    { params: 'x' },
    { sessionId: null },
    { sessionId: '' },
    { sessionId: 1 },
  ])('rejects a call with %j', (parts) =>
    expect(readCall(JSON.stringify({ id: 1, method: 'A.b', ...parts }))).toBeUndefined(),
  )
})

describe('a channel to a shared browser', () => {
  test('does not accept an empty session ID as the browser’s session', async () => {
    const { router, received } = browser()
    const channel = await router.openChannel()
    const answer = await answerOf((reply) => channel.post({ id: 1, method: 'Fetch.enable', sessionId: '' }, reply))
    expect(answer).toMatchObject({ error: { code: -32_001 } })
    expect(received.map(({ method }) => method)).toEqual(['Target.attachToBrowserTarget'])
  })

  test.each(['Fetch.enable', 'Security.setIgnoreCertificateErrors', 'Tracing.start', 'IO.read', 'Unheard.of'])(
    'does not pass %s to the whole browser',
    async (method) => {
      const { router, received } = browser()
      const rules = { files: true, checkUrl: () => {} }
      const downloads = { onEvent: () => () => {}, cancel: () => {} }
      const contexts = new ClientContexts(() => Promise.reject(new Error('unused')))
      const facts = {
        contextId: 'context',
        rules,
        downloads,
        contexts,
        artifacts: '/nowhere',
        userAgent: undefined,
        upload: String,
      }
      const gate = new SessionGate(await router.openChannel(), facts)
      expect(await answerOf((reply) => gate.post({ id: 1, method }, reply))).toMatchObject({ error: { code: -32_003 } })
      expect(received).toHaveLength(1)
    },
  )
})

test.each([
  ['Memory.simulatePressureNotification', 'it affects all sessions', {}],
  ['Target.createTarget', 'hidden pages would bypass the limit of tabs', { hidden: true }],
])('refuses %s on a page of a shared server: %s', (method, _, params) => {
  const checkUrl = () => {}
  expect(refusalOf(method, params, { files: false, checkUrl })).toMatchObject({ code: deniedCode })
  expect(refusalOf(method, params, { files: true, checkUrl })).toBeUndefined()
})

test('closes only the channel of a tunnel that sends an invalid message', async () => {
  const [near, far] = memoryLink()
  const { router } = browser()
  const channels = [await router.openChannel(), await router.openChannel()]
  const gone = { code: closeCodes.browserGone, reason: '' }
  const none = { onControl: () => {}, onOpen: () => {}, onClose: () => {} }
  const engine = new Tunnel(near, 'engine', none, 60_000)
  const onOpen = (channel: TunnelChannel) => serveChannel(channel, channels.shift()!, gone)
  const connector = new Tunnel(far, 'connector', { ...none, onOpen }, 60_000)
  const [bad, good] = [engine.open({}), engine.open({})]
  const closed = new Promise<number>((resolve) => bad.handle({ onMessage: () => {}, onClose: resolve }))
  const answered = new Promise<Buffer>((resolve) => good.handle({ onMessage: resolve, onClose: () => {} }))
  bad.send('{"id":1,"method":"Page.enable","params":null}')
  good.send('{"id":2,"method":"Browser.getVersion"}')
  expect(await closed).toBe(closeCodes.protocol)
  expect(JSON.parse((await answered).toString())).toEqual({ id: 2, result: {} })
  connector.close(closeCodes.done, '')
})
