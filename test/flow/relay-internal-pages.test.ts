/** Internal pages that the user of a connected browser has opened. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { RelayPolicy } from '../../src/core/relay-names.ts'
import { startForeignBrowser } from '../support/foreign-browser.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { noFullBrowser, testUnless } from '../support/needs.ts'
import { connectBrowser } from '../support/relay.ts'
import { failureOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
beforeAll(async () => {
  ;[homes, site] = await Promise.all([openHomes(), serveSite({ '/': '<title>Shop</title><p>Tea' })])
})
afterAll(async () => {
  await homes?.close()
  await site?.close()
})

/** Connects a browser that shows its page for new tabs. */
async function share(policy: RelayPolicy) {
  const browser = await startForeignBrowser({ full: true, page: 'chrome://newtab' })
  const { token } = await homes.clients.http.createRelayToken({})
  const connected = await connectBrowser({ browser: browser.url, engine: homes.baseUrl, token, policy })
  const session_id = connected.id
  await waitUntil(async () => {
    const { targets, active_target_id: active } = await homes.clients.http.getRelay({ id: session_id })
    return active !== null && targets.some(({ url }) => url.startsWith('chrome:'))
  })
  return {
    cdp: (method: string, params = {}) => homes.clients.http.cdp({ session_id, method, params }),
    run: (command: string, data = {}) => homes.clients.http.runCommands({ session_id, commands: [{ command, data }] }),
    async [Symbol.asyncDispose]() {
      await connected.stop()
      await browser.close()
    },
  }
}

const location = { expression: 'location.href', returnByValue: true }

for (const policy of ['no-lifecycle', 'read-only'] as const)
  testUnless(noFullBrowser)(`nothing acts in an internal page under ${policy}`, async () => {
    await using browser = await share(policy)
    for (const [method, params] of [
      ['Runtime.evaluate', location],
      ['Runtime.evaluate', { ...location, throwOnSideEffect: true }],
      ['Input.insertText', { text: 'x' }],
      ['Page.setDocumentContent', { frameId: 'x', html: '' }],
    ] as const)
      expect(await failureOf(browser.cdp(method, params)), method).toMatchObject({ code: 'method_denied' })
    expect(await browser.run('evaluate', { expression: '1' })).toMatchObject({ success: false })
    // The interface of the browser consists of internal pages, too.
    const { result } = await browser.cdp('Target.getTargets')
    const targets = result!['targetInfos'] as { type: string; url: string }[]
    expect(targets.filter(({ type, url }) => type !== 'page' && url.startsWith('chrome:'))).toEqual([])
  })

testUnless(noFullBrowser)('an internal page can be left', async () => {
  await using browser = await share('no-lifecycle')
  expect(await browser.run('navigate_to', { url: site.url })).toMatchObject({ success: true })
  expect(await browser.run('get_text', { selector: 'p' })).toMatchObject({ success: true })
  expect(await browser.cdp('Runtime.evaluate', location)).toMatchObject({
    result: { result: { value: `${site.url}/` } },
  })
})

testUnless(noFullBrowser)('the policy full allows internal pages', async () => {
  await using browser = await share('full')
  // The target has its URL before its document is loaded, and cannot answer while that is replaced.
  const shown = async () => {
    const { result } = await browser.cdp('Runtime.evaluate', location)
    return (result?.['result'] as { value: string } | undefined)?.value
  }
  await waitUntil(async () => (await shown())?.startsWith('chrome:') === true)
})
