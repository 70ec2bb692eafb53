import { describe, expect, test } from 'vitest'
import { closeCodes } from '../../../src/core/net/link.ts'
import { refusalOf } from '../../../src/engine/browser/cdp/cdp-rules.ts'
import { deniedCode } from '../../../src/engine/cdp/calls.ts'
import { readCall } from '../../../src/engine/cdp/message.ts'
import { type CdpMessage, CdpRouter, type CdpWire } from '../../../src/engine/cdp/router.ts'
import { SessionGate } from '../../../src/engine/browser/cdp/session-gate.ts'
import { memoryLink } from '../../../src/engine/relay/tunnel/memory-link.ts'
import { serveChannel } from '../../../src/engine/relay/tunnel/remote-channel.ts'
import { Tunnel, type TunnelChannel } from '../../../src/engine/relay/tunnel/tunnel.ts'

/** A browser that answers every call with nothing, but where a session begins; what it was sent, and its router. */
function browser() {
  const heard: CdpMessage[] = []
  let tell: (text: string) => void
  const wire: CdpWire = {
    send(text) {
      const message = JSON.parse(text) as CdpMessage
      heard.push(message)
      const result = message.method === 'Target.attachToBrowserTarget' ? { sessionId: 'root' } : {}
      setImmediate(() => tell(JSON.stringify({ id: message.id, result })))
    },
    handle: ({ onMessage }) => void (tell = onMessage),
  }
  return { heard, router: new CdpRouter(wire) }
}

const answerOf = (post: (answer: (message: CdpMessage) => void) => void) =>
  new Promise<CdpMessage>((resolve) => post(resolve))

describe('what a client of CDP sends', () => {
  test('is a call when its parts are of the kinds that the protocol knows', () => {
    const call = { id: 1, method: 'Page.enable', params: { a: 1 }, sessionId: 'S' }
    expect(readCall(JSON.stringify(call))).toEqual(call)
    expect(readCall('{"method":"Page.enable"}')).toEqual({ method: 'Page.enable' })
  })

  test.each(['{', 'null', '[]', '{"id":1}', '{"method":["Browser.close"]}', '{"method":"A.b","id":"1"}'])(
    'is none: %s',
    (text) => expect(readCall(text)).toBeUndefined(),
  )

  test.each([
    { params: null },
    { params: [] },
    { params: 'x' },
    { sessionId: null },
    { sessionId: '' },
    { sessionId: 1 },
  ])('is none with the parts %j', (parts) =>
    expect(readCall(JSON.stringify({ id: 1, method: 'A.b', ...parts }))).toBeUndefined(),
  )
})

describe('a channel to a browser that is shared', () => {
  test('has no sessions but its own: an empty name is not the session of the browser', async () => {
    const { router, heard } = browser()
    const channel = await router.openChannel()
    const answer = await answerOf((tell) => channel.post({ id: 1, method: 'Fetch.enable', sessionId: '' }, tell))
    expect(answer).toMatchObject({ error: { code: -32_001 } })
    expect(heard.map(({ method }) => method)).toEqual(['Target.attachToBrowserTarget'])
  })

  test.each(['Fetch.enable', 'Security.setIgnoreCertificateErrors', 'Tracing.start', 'IO.read', 'Unheard.of'])(
    'does not pass on %s to the browser as a whole',
    async (method) => {
      const { router, heard } = browser()
      const rules = { files: true, checkUrl: () => {} }
      const gate = new SessionGate(await router.openChannel(), 'context', rules)
      expect(await answerOf((tell) => gate.post({ id: 1, method }, tell))).toMatchObject({ error: { code: -32_003 } })
      expect(heard).toHaveLength(1)
    },
  )
})

test.each([
  ['Tracing.start', 'what every session of the browser opens is traced', {}],
  ['Memory.simulatePressureNotification', 'all of them are pressed', {}],
  ['Target.createTarget', 'hidden pages are no tabs, which are bounded', { hidden: true }],
])('of a page of a shared server %s is refused: %s', (method, _, params) => {
  const checkUrl = () => {}
  expect(refusalOf(method, params, { files: false, checkUrl })).toMatchObject({ code: deniedCode })
  expect(refusalOf(method, params, { files: true, checkUrl })).toBeUndefined()
})

test('nonsense on one channel of a tunnel ends that channel, and the others go on', async () => {
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
  const answered = new Promise<string>((resolve) => good.handle({ onMessage: resolve, onClose: () => {} }))
  bad.send('{"id":1,"method":"Page.enable","params":null}')
  good.send('{"id":2,"method":"Browser.getVersion"}')
  expect(await closed).toBe(closeCodes.protocol)
  expect(JSON.parse(await answered)).toEqual({ id: 2, result: {} })
  connector.close(closeCodes.done, '')
})
