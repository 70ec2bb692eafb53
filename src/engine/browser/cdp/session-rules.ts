/** Which calls of CDP clients are allowed on a session of a shared browser. */
import { isOpenable } from '../../../core/net/urls.ts'
import { blockedCode, deniedCode } from '../../cdp/calls.ts'
import type { CdpMessage } from '../../cdp/router.ts'
import { parseUrl } from '../../../core/net/parse-url.ts'

/** Domains that reach beyond a page. */
const browserDomains =
  /^(?:Browser|Target|SystemInfo|Storage|Extensions|Tethering|Tracing|Memory|HeapProfiler|IO|Fetch)\./
/** Methods of these domains that concern only the session's targets, or reveal nothing about others. */
const allowed = new Set([
  'Browser.cancelDownload',
  'Browser.getVersion',
  'Browser.getWindowForTarget',
  'Browser.grantPermissions',
  'Browser.resetPermissions',
  'Browser.setPermission',
  'Target.activateTarget',
  'Target.attachToTarget',
  'Target.autoAttachRelated',
  'Target.closeTarget',
  'Target.createTarget',
  'Target.detachFromTarget',
  'Target.getTargetInfo',
  'Target.getTargets',
  'Target.setAutoAttach',
  'Target.setDiscoverTargets',
  'Storage.clearCookies',
  'Storage.getCookies',
  'Storage.setCookies',
])
/** Methods that are also allowed on the session of a page, where they concern that page. */
const allowedOnPages = /^(?:Fetch|IO|HeapProfiler|Memory|Tracing)\.|^Storage\.(?!(?:get|set|clear)Cookies)/

/** Methods that take a context ID. */
export const scoped = new Set([
  'Browser.cancelDownload',
  'Browser.grantPermissions',
  'Browser.resetPermissions',
  'Browser.setPermission',
  'Target.createTarget',
  'Storage.clearCookies',
  'Storage.getCookies',
  'Storage.setCookies',
])

/** Methods that affect all sessions of the browser, even when called on a page. */
const browserWide = /^Memory\.(?:\w*Pressure|getBrowserSamplingProfile$)/

/** Alternatives to denied methods, for error messages. */
const instead: Record<string, string> = {
  'Browser.close': 'disconnect, and close the session with DELETE /sessions/{id}',
  'Tracing.start': 'start it on the session of a page',
}

export const denied = (method: string) => {
  const hint = instead[method]
  return { code: deniedCode, message: `${method} reaches beyond this session${hint ? `: ${hint}` : ''}` }
}

/** Returns whether a call is passed on to the browser; `isRoot` says that it is made at the browser level. */
export function isAllowed(method: string, isRoot: boolean): boolean {
  if (method === 'Target.attachToBrowserTarget') return isRoot
  // Without a page session, other domains affect the whole browser too (`Security.setIgnoreCertificateErrors`).
  const reaches = isRoot || (browserDomains.test(method) && !allowedOnPages.test(method))
  return !reaches || allowed.has(method)
}

/** Methods that open or load the URL in their `url`. */
const opening = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
])

/** Permissions that concern only the page that gets them. The clipboard and the screen are shared by all sessions. */
const harmlessPermissions = new Set(
  [
    ['geolocation', 'notifications', 'sensors', 'accelerometer', 'gyroscope', 'magnetometer', 'ambient-light-sensor'],
    ['midi', 'midiSysex', 'backgroundSync', 'background-sync', 'periodicBackgroundSync', 'periodic-background-sync'],
    ['storageAccess', 'storage-access', 'topLevelStorageAccess', 'top-level-storage-access', 'durableStorage'],
    ['persistent-storage', 'wakeLockScreen', 'screen-wake-lock', 'paymentHandler', 'payment-handler', 'localFonts'],
    ['local-fonts', 'idleDetection', 'idle-detection', 'push'],
  ].flat(),
)

export interface CdpRules {
  /** Whether clients are trusted with this machine: with its files and folders, and with browser-wide methods. */
  readonly files: boolean
  /** @throws BaxError `url_blocked` for a URL that the egress policy blocks. */
  readonly checkUrl: (url: URL) => void
}

/** Returns why a call is refused; undefined when it is allowed. */
export function refusalOf(method: string, params: Record<string, unknown>, rules: CdpRules): CdpMessage['error'] {
  const { url } = params
  if (opening.has(method) && typeof url === 'string' && isForbidden(url, rules))
    return { code: blockedCode, message: 'URL blocked' }
  if (rules.files) return undefined
  if (browserWide.test(method)) return denied(method)
  // A hidden page would not count towards the limit of tabs.
  if (method === 'Target.createTarget' && params['hidden'] === true)
    return { code: deniedCode, message: 'hidden pages are not allowed' }
  if (method === 'Input.dispatchKeyEvent' && pastes(params)) return clipboardIsShared
  const permission = permissionsIn(method, params).find((name) => !harmlessPermissions.has(name))
  if (permission !== undefined)
    return { code: deniedCode, message: `the permission ${permission} reaches beyond this session` }
  return undefined
}

const clipboardIsShared = {
  code: deniedCode,
  message: 'pasting reaches beyond this session: sessions share one browser clipboard; insert the text instead',
}

/** Modifiers of CDP key events. */
const [ctrl, meta, shift] = [2, 4, 8]

/** Returns whether a key event pastes: Ctrl+V, Meta+V, Shift+Insert, or an editing command. */
function pastes({ commands, modifiers, windowsVirtualKeyCode: keyCode, key, code }: Record<string, unknown>): boolean {
  if (Array.isArray(commands) && commands.some((command) => /paste|yank/i.test(String(command)))) return true
  const held = Number(modifiers)
  const isV = keyCode === 86 || code === 'KeyV' || /^v$/i.test(String(key))
  const isInsert = keyCode === 45 || key === 'Insert' || /^(?:Insert|Numpad0)$/.test(String(code))
  return (isV && (held & (ctrl | meta)) > 0) || (isInsert && (held & shift) > 0)
}

function permissionsIn(method: string, params: Record<string, unknown>): string[] {
  const { permissions, permission } = params as { permissions?: unknown; permission?: { name?: unknown } }
  if (method === 'Browser.setPermission') return [String(permission?.name)]
  return method === 'Browser.grantPermissions' && Array.isArray(permissions) ? permissions.map(String) : []
}

/** Returns whether a URL must not be opened; invalid ones are harmless. */
function isForbidden(text: string, { checkUrl }: CdpRules): boolean {
  const url = parseUrl(text)
  if (!url) return false
  if (!isOpenable(url.href)) return true
  try {
    if (url.protocol === 'http:' || url.protocol === 'https:') checkUrl(url)
    return false
  } catch {
    return true
  }
}
