/** A CDP client of a session never sees or changes other sessions of the browser that they share. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CdpClient, connectCdp } from '../support/cdp-client.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { valueOf } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let site: Site
/** The session that is attacked, its client, and what an attacker could learn about it. */
let victim: { id: string; client: CdpClient; target: string; page: string; contexts: string[] }
let attacker: { id: string; client: CdpClient; target: string; page: string; context: string }

const http = () => homes.clients.http

interface Info {
  readonly targetId: string
  readonly type: string
  readonly url: string
  readonly browserContextId?: string
}

const targetsOf = async (client: CdpClient, filter: object[] = [{}]) =>
  (await client.send('Target.getTargets', { filter }))['targetInfos'] as Info[]

async function openClient(path: string) {
  const { session_id, cdp_url, frame_token } = await http().createSession({
    headless: true,
    start_url: site.url + path,
  })
  const client = await connectCdp(`${cdp_url}?token=${frame_token}`)
  const info = (await targetsOf(client)).find(({ type }) => type === 'page')!
  return { id: session_id!, client, info, page: await client.attach(info.targetId) }
}

beforeAll(async () => {
  site = await serveSite({
    '/victim': '<title>Victim</title><a id="download" href="/slow">slow</a>',
    '/attacker': '<title>Attacker</title>',
    '/slow': (_request, response) => {
      response.setHeader('content-disposition', 'attachment; filename=slow.bin')
      response.write(Buffer.alloc(64 * 1024))
    },
  })
  homes = await openHomes({ writeAnywhere: false, pool: { browsers: 1 } })
  const [first, second] = [await openClient('/victim'), await openClient('/attacker')]
  const { browserContextId: made } = await first.client.send('Target.createBrowserContext')
  await first.client.send('Target.createTarget', { url: `${site.url}/victim`, browserContextId: made })
  await first.client.send('Storage.setCookies', { cookies: [{ name: 'secret', value: '1', url: site.url }] })
  victim = { ...first, target: first.info.targetId, contexts: [first.info.browserContextId!, made as string] }
  attacker = { ...second, target: second.info.targetId, context: second.info.browserContextId! }
})
afterAll(async () => {
  await homes.close()
  await site.close()
})

/** Opens the browser-level sessions that a client can get: its own, and one of each way to attach to the browser. */
async function rootsOf(client: CdpClient): Promise<(string | undefined)[]> {
  const { sessionId } = await client.send('Target.attachToBrowserTarget')
  const { targetInfo } = (await client.send('Target.getTargetInfo')) as unknown as { targetInfo: Info }
  expect(targetInfo.type).toBe('browser')
  return [undefined, sessionId as string, await client.attach(targetInfo.targetId)]
}

const denied = /^-32003 /
const unknown = /^-32602 No target with given id found/

describe('a client', () => {
  test('finds only targets of its session, at every browser level', async () => {
    const { client } = attacker
    for (const root of await rootsOf(client)) {
      await client.send('Target.setDiscoverTargets', { discover: true, filter: [{}] }, root)
      // Pages, and then the tabs that contain them, which Puppeteer attaches to.
      for (const filter of [undefined, [{ type: 'page', exclude: true }, {}]]) {
        const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true, filter }
        await client.send('Target.setAutoAttach', attach, root)
      }
      const { targetInfos } = await client.send('Target.getTargets', { filter: [{}] }, root)
      for (const { type, browserContextId } of targetInfos as Info[]) {
        expect([type, browserContextId]).toEqual([type, attacker.context])
      }
    }
    // The pages of the victim that open later are not attached, and not left paused.
    const made = await victim.client.send('Target.createTarget', { url: `${site.url}/victim?later` })
    const later = await victim.client.attach(made['targetId'] as string)
    const { result } = await victim.client.send('Runtime.evaluate', { expression: '1 + 1' }, later)
    expect(result).toMatchObject({ value: 2 })
    await victim.client.send('Target.closeTarget', { targetId: made['targetId'] })
    // Its closed tab was the active one.
    await waitUntil(async () => (await valueOf(http(), victim.id, 'document.title').catch(() => null)) === 'Victim')
    const seen = client.events.flatMap(({ params }) => (params['targetInfo'] as Info | undefined) ?? [])
    expect(new Set(seen.filter(({ type }) => type !== 'browser').map((info) => info.browserContextId))).toEqual(
      new Set([attacker.context]),
    )
    expect(JSON.stringify(client.events)).not.toContain(victim.target)
  })

  test('cannot use a foreign target', async () => {
    const { client, page } = attacker
    for (const at of [...(await rootsOf(client)), page]) {
      for (const method of [
        'Target.attachToTarget',
        'Target.closeTarget',
        'Target.getTargetInfo',
        'Target.activateTarget',
        'Target.autoAttachRelated',
        'Browser.getWindowForTarget',
      ]) {
        const params = { targetId: victim.target, flatten: true, waitForDebuggerOnStart: false }
        await expect(client.send(method, params, at), method).rejects.toThrow(unknown)
      }
    }
    for (const sessionId of [victim.page, 'x'.repeat(32)]) {
      await expect(client.send('Runtime.evaluate', { expression: '1' }, sessionId)).rejects.toThrow(/^-32001 /)
    }
    expect(await valueOf(http(), victim.id, 'document.title')).toBe('Victim')
  })

  test('cannot use a foreign context', async () => {
    const { client, page } = attacker
    const cookies = [{ name: 'planted', value: '1', url: site.url }]
    for (const browserContextId of [...victim.contexts, '', null, 'unknown', []]) {
      for (const at of [...(await rootsOf(client)), page]) {
        for (const [method, params] of [
          ['Target.createTarget', { url: 'about:blank' }],
          ['Target.disposeBrowserContext', {}],
          ['Storage.getCookies', {}],
          ['Storage.setCookies', { cookies }],
          ['Storage.clearCookies', {}],
          ['Browser.grantPermissions', { permissions: ['geolocation'] }],
          ['Browser.resetPermissions', {}],
          ['Browser.setPermission', { permission: { name: 'geolocation' }, setting: 'granted' }],
          ['Browser.setDownloadBehavior', { behavior: 'deny' }],
          ['Browser.cancelDownload', { guid: 'x' }],
        ] as const) {
          await expect(client.send(method, { ...params, browserContextId }, at), method).rejects.toThrow(denied)
        }
      }
    }
    // Nor close the context of its own session.
    const own = { browserContextId: attacker.context }
    await expect(client.send('Target.disposeBrowserContext', own)).rejects.toThrow(denied)
    expect((await client.send('Target.getBrowserContexts'))['browserContextIds']).toEqual([])
    expect((await client.send('Storage.getCookies'))['cookies']).toEqual([])
    const { cookies: kept } = await victim.client.send('Storage.getCookies')
    expect((kept as { name: string }[]).map(({ name }) => name)).toEqual(['secret'])
  })

  test('cannot call methods that affect the whole browser', async () => {
    const { client, page } = attacker
    const everywhere = [
      ['Browser.close'],
      ['Browser.crash'],
      ['Browser.crashGpuProcess'],
      ['Browser.getBrowserCommandLine'],
      ['Browser.getHistograms'],
      ['Browser.executeBrowserCommand', { commandId: 'openTabSearch' }],
      ['Browser.setWindowBounds', { windowId: 1, bounds: { windowState: 'minimized' } }],
      ['Browser.getWindowBounds', { windowId: 1 }],
      ['Browser.grantPermissions', { permissions: ['clipboardReadWrite'] }],
      ['Browser.grantPermissions', { permissions: ['geolocation', 'displayCapture'] }],
      ['Browser.setPermission', { permission: { name: 'clipboard-read' }, setting: 'granted' }],
      ['SystemInfo.getInfo'],
      ['SystemInfo.getProcessInfo'],
      ['Target.setRemoteLocations', { locations: [{ host: '127.0.0.1', port: 1 }] }],
      ['Target.sendMessageToTarget', { message: '{"id":1,"method":"Browser.close"}' }],
      ['Target.exposeDevToolsProtocol', {}],
      ['Target.createBrowserContext', { proxyServer: 'http://127.0.0.1:1' }],
      ['Target.createBrowserContext', { proxyBypassList: '*' }],
      ['Target.createBrowserContext', { originsWithUniversalNetworkAccess: ['http://127.0.0.1'] }],
      ['Target.createTarget', { url: 'about:blank', hidden: true }],
      ['Target.createTarget', { url: 'file:///etc/passwd' }],
      ['Tethering.bind', { port: 9999 }],
      ['Extensions.loadUnpacked', { path: '/tmp' }],
      ['Memory.getBrowserSamplingProfile'],
      ['Memory.forciblyPurgeJavaScriptMemory'],
    ] as const
    const atBrowser = [
      ['IO.read', { handle: '1' }],
      ['Tracing.start', { traceConfig: { includedCategories: ['*'] } }],
      ['Tracing.requestMemoryDump', {}],
      ['Tracing.end', {}],
      ['Tracing.getCategories', {}],
      ['Fetch.enable', {}],
      ['Security.setIgnoreCertificateErrors', { ignore: true }],
      ['Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }],
      ['Network.enable', {}],
      ['Page.enable', {}],
    ] as const
    const roots = await rootsOf(client)
    for (const [method, params = {}] of everywhere) {
      const fromPage = method === 'Memory.forciblyPurgeJavaScriptMemory' ? [] : [page]
      for (const at of [...roots, ...fromPage]) {
        await expect(client.send(method, params, at), method).rejects.toThrow(/^-3200[34] /)
      }
    }
    for (const [method, params] of atBrowser) {
      for (const at of roots) await expect(client.send(method, params, at), method).rejects.toThrow(denied)
    }
    await expect(client.send('Target.attachToBrowserTarget', {}, page)).rejects.toThrow(denied)
  })

  test('finds no extensions', async () => {
    for (const at of [...(await rootsOf(attacker.client)), attacker.page])
      expect(await attacker.client.send('Extensions.getExtensions', {}, at)).toEqual({ extensions: [] })
  })

  test('cannot read a foreign stream', async () => {
    const { client, page } = attacker
    const { stream } = await victim.client.send('Page.printToPDF', { transferMode: 'ReturnAsStream' }, victim.page)
    await expect(client.send('IO.read', { handle: stream }, page)).rejects.toThrow(/^-32/)
    const { data } = await victim.client.send('IO.read', { handle: stream }, victim.page)
    expect(data).not.toBe('')
  })

  test('cannot paste what another session has copied or selected', async () => {
    const type = (client: CdpClient, page: string, expression: string) =>
      client.send('Runtime.evaluate', { expression, userGesture: true }, page)
    const copy =
      'const input = document.createElement("input"); input.value = "secret"; document.body.append(input); input.select(); document.execCommand("copy")'
    await type(victim.client, victim.page, `{ ${copy} }`)
    const { client, page } = attacker
    await type(
      client,
      page,
      'document.body.innerHTML = "<input style=width:200px>"; document.querySelector("input").focus()',
    )
    for (const key of [
      { key: 'v', code: 'KeyV', windowsVirtualKeyCode: 86, modifiers: 2 },
      { windowsVirtualKeyCode: 86, modifiers: 4 },
      { key: 'V', modifiers: 2 + 8 },
      { key: 'Insert', windowsVirtualKeyCode: 45, modifiers: 8 },
      { commands: ['paste'] },
      { commands: ['selectAll', 'PasteAndMatchStyle'] },
      { commands: ['PasteGlobalSelection'] },
      { commands: ['yank'] },
    ]) {
      await expect(client.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...key }, page)).rejects.toThrow(denied)
    }
    for (const event of ['mousePressed', 'mouseReleased']) {
      const at = { x: 50, y: 20, button: 'middle', clickCount: 1 }
      await client.send('Input.dispatchMouseEvent', { type: event, ...at }, page)
    }
    const { result } = await type(client, page, 'document.execCommand("paste"); document.querySelector("input").value')
    expect(result).toMatchObject({ value: '' })
  })

  test('neither sees nor cancels foreign downloads', async () => {
    const { client } = attacker
    const behavior = { behavior: 'allowAndName', downloadPath: '/tmp', eventsEnabled: true }
    for (const one of [client, victim.client]) {
      for (const root of await rootsOf(one)) await one.send('Browser.setDownloadBehavior', behavior, root)
    }
    const click = { expression: 'document.getElementById("download").click()', userGesture: true }
    await victim.client.send('Runtime.evaluate', click, victim.page)
    const { params } = await victim.client.event('Browser.downloadWillBegin')
    await victim.client.event('Browser.downloadProgress')
    const { guid } = params
    // The call on another context fails, or has no effect.
    await client.send('Browser.cancelDownload', { guid }).catch(() => {})
    await client.send('Browser.getVersion')
    expect(JSON.stringify(client.events)).not.toContain(guid)
    const states = victim.client.events
      .filter(({ params }) => params['guid'] === guid)
      .map(({ params }) => params['state'])
    expect(states).not.toContain('canceled')
    await victim.client.send('Browser.cancelDownload', { guid })
    await victim.client.event('Browser.downloadProgress', ({ params }) => params['state'] === 'canceled')
  })
})
