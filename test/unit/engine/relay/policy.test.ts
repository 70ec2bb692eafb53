import { describe, expect, test } from 'vitest'
import { refusal, refusalIn } from '../../../../src/engine/relay/policy.ts'

const allowed = (policy: 'full' | 'no-lifecycle' | 'read-only', method: string, params = {}) =>
  refusal(policy, { method, params }) === undefined

describe('policy of a browser', () => {
  test('full allows everything', () => {
    for (const method of ['Browser.close', 'Page.crash', 'Input.dispatchKeyEvent'])
      expect(allowed('full', method)).toBe(true)
  })

  test.each([
    'Browser.close',
    'Browser.crash',
    'Browser.crashGpuProcess',
    'Page.crash',
    'Extensions.loadUnpacked',
    'Target.setRemoteLocations',
    'Target.sendMessageToTarget',
    'Target.exposeDevToolsProtocol',
    'Tethering.bind',
    'Page.setDownloadBehavior',
  ])('no-lifecycle denies %s and names it', (method) => {
    expect(refusal('no-lifecycle', { method })).toContain(method)
    expect(refusal('read-only', { method })).toContain(method)
  })

  test('no-lifecycle allows driving pages', () => {
    for (const method of ['Page.navigate', 'Input.dispatchMouseEvent', 'Runtime.evaluate', 'Target.closeTarget']) {
      expect(allowed('no-lifecycle', method)).toBe(true)
    }
  })

  test.each([
    'chrome://quit',
    'chrome://restart/',
    ' ABOUT:restart',
    'edge://settings',
    'view-source:chrome://crash',
    'chrome://version',
    'chrome://newtab/',
    'ch\trome://version',
    'chro\nme://quit',
    '\u0001chrome://version',
    'view-source:view-source:chrome://version',
    'view-source:\tchrome://version',
    'view-source: chrome://version',
    'ab\rout:version',
  ])('does not open the internal page %j', (url) => {
    expect(allowed('no-lifecycle', 'Page.navigate', { url })).toBe(false)
    expect(allowed('no-lifecycle', 'Target.createTarget', { url })).toBe(false)
  })

  test.each(['about:blank', 'about:blank#x', '', 'https://chrome.example/', 'data:text/html,x'])(
    'opens the URL %j',
    (url) => expect(allowed('no-lifecycle', 'Target.createTarget', { url })).toBe(true),
  )

  test.each(['Runtime.evaluate', 'Input.dispatchKeyEvent', 'Page.setDocumentContent'])(
    '%s is denied in internal pages only',
    (method) => {
      expect(refusalIn('chrome://settings/', 'no-lifecycle', method)).toContain(`${method} in chrome://settings/`)
      expect(refusalIn('chrome://settings/', 'full', method)).toBeUndefined()
      for (const url of ['https://a.test/', 'about:blank', 'chrome-error://chromewebdata/', ''])
        expect(refusalIn(url, 'no-lifecycle', method), url).toBeUndefined()
      expect(refusalIn('chrome://settings/', 'no-lifecycle', 'Page.navigate')).toBeUndefined()
    },
  )

  test("download settings of the user's own context cannot be changed", () => {
    expect(allowed('no-lifecycle', 'Browser.setDownloadBehavior', { behavior: 'deny' })).toBe(false)
    expect(allowed('no-lifecycle', 'Browser.setDownloadBehavior', { behavior: 'deny', browserContextId: 'C' })).toBe(
      true,
    )
  })

  test.each([
    'Input.insertText',
    'Page.navigate',
    'Page.reload',
    'Page.setDocumentContent',
    'Target.createTarget',
    'Target.createBrowserContext',
    'Target.closeTarget',
    'Storage.setCookies',
    'Storage.clearDataForOrigin',
    'Network.setCookie',
    'Network.deleteCookies',
    'Network.clearBrowserCookies',
    'Network.setExtraHTTPHeaders',
    'DOM.setOuterHTML',
    'DOM.removeNode',
    'Fetch.enable',
    'Emulation.setGeolocationOverride',
    'Runtime.evaluate',
    'Runtime.callFunctionOn',
    'DOMStorage.setDOMStorageItem',
    'WebMCP.invokeTool',
  ])('read-only denies %s', (method) => {
    expect(allowed('read-only', method)).toBe(false)
  })

  test.each([
    'Page.captureScreenshot',
    'Page.enable',
    'Runtime.enable',
    'Runtime.getProperties',
    'Network.enable',
    'Network.getCookies',
    'Network.getResponseBody',
    'DOM.getDocument',
    'DOMSnapshot.captureSnapshot',
    'Accessibility.getFullAXTree',
    'Target.getTargets',
    'Target.attachToTarget',
    'Browser.getVersion',
    'Emulation.disable',
  ])('read-only allows %s', (method) => {
    expect(allowed('read-only', method)).toBe(true)
  })

  test('read-only allows evaluations that V8 checks for side effects', () => {
    expect(allowed('read-only', 'Runtime.evaluate', { throwOnSideEffect: true })).toBe(true)
    expect(allowed('read-only', 'Runtime.evaluate', { throwOnSideEffect: 'true' })).toBe(false)
  })
})
