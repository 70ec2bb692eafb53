import { expect, test } from 'vitest'
import { closeCodes } from '../../../../src/core/net/link.ts'
import { RelayHub } from '../../../../src/engine/relay/hub/hub.ts'
import { helloOf } from '../../../support/relay.ts'
import { memoryLink } from '../../../support/memory-link.ts'
import { protocol } from '../../../../src/engine/relay/tunnel/messages.ts'

/** Sends a first message to a hub; resolves with the type of its answer, or with the code and reason of the end. */
async function answerTo(message: object): Promise<unknown> {
  const hub = new RelayHub({ whenLost: () => {} }, { log: () => {} })
  const [near, far] = memoryLink()
  const answer = new Promise((resolve) => {
    near.handle({
      onText: (text) => resolve((JSON.parse(text) as { type: string }).type),
      onBytes: () => {},
      onClose: (code, reason) => resolve({ code, reason }),
    })
  })
  hub.accept(far, { tokenId: null, owner: null, transport: 'local', onlyResumes: false })
  near.sendText(JSON.stringify(message))
  return answer.finally(() => hub.close())
}

test.each(['1.0', '1.1', '1.3', '2.0', '', 'x'])('a connector of version %s is rejected', async (proto) => {
  expect(await answerTo(helloOf({ proto }))).toEqual({
    code: closeCodes.version,
    reason: `this engine speaks version ${protocol} of the protocol, not ${proto}`,
  })
})

test('a connector of the same version is welcome', async () => {
  expect(await answerTo(helloOf())).toBe('welcome')
})

test('an unknown message ends the connection', async () => {
  expect(await answerTo({ type: 'news' })).toMatchObject({ code: closeCodes.protocol })
})
