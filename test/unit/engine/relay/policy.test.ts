import { describe, expect, test } from 'vitest'
import { refusal } from '../../../../src/engine/relay/policy.ts'

const allowed = (policy: 'full' | 'no-lifecycle' | 'read-only', method: string, params = {}) =>
  refusal(policy, { method, params }) === undefined

describe('the policy of a browser', () => {
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
  ])('no-lifecycle refuses %s and names it', (method) => {
    expect(refusal('no-lifecycle', { method })).toContain(method)
    expect(refusal('read-only', { method })).toContain(method)
  })

  test('no-lifecycle lets pages be driven', () => {
    for (const method of ['Page.navigate', 'Input.dispatchMouseEvent', 'Runtime.evaluate', 'Target.closeTarget']) {
      expect(allowed('no-lifecycle', method)).toBe(true)
    }
  })

  test.each(['chrome://quit', 'chrome://restart/', ' ABOUT:restart', 'edge://settings', 'view-source:chrome://crash'])(
    'the page %s of the browser itself is not opened',
    (url) => {
      expect(allowed('no-lifecycle', 'Page.navigate', { url })).toBe(false)
      expect(allowed('no-lifecycle', 'Target.createTarget', { url })).toBe(false)
    },
  )

  test.each(['about:blank', 'about:blank#x', '', 'chrome://newtab/', 'https://chrome.example/', 'data:text/html,x'])(
    'the address %j is opened',
    (url) => expect(allowed('no-lifecycle', 'Target.createTarget', { url })).toBe(true),
  )

  test("downloads of the user's own context stay as they are", () => {
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
  ])('read-only refuses %s', (method) => {
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
  ])('read-only lets %s through', (method) => {
    expect(allowed('read-only', method)).toBe(true)
  })

  test('read-only lets V8 judge an evaluation', () => {
    expect(allowed('read-only', 'Runtime.evaluate', { throwOnSideEffect: true })).toBe(true)
    expect(allowed('read-only', 'Runtime.evaluate', { throwOnSideEffect: 'true' })).toBe(false)
  })
})
