/** Rules for CDP clients: which URLs they may open, and whether they may access files of this machine. */
import { isOpenable } from '../../../core/net/urls.ts'
import { blockedCode, deniedCode } from '../../cdp/calls.ts'

/** Methods that open or load the URL in their `url`. */
const opening = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
])

/** Methods that affect all sessions of the browser, even when called on a page. */
const browserWide = /^(?:Tracing\.|Memory\.\w*Pressure)/

export interface CdpRules {
  /** Whether clients are trusted with this machine: with its files and folders, and with browser-wide methods. */
  readonly files: boolean
  /** @throws BaxError `url_blocked` for a URL that the egress policy blocks. */
  readonly checkUrl: (url: URL) => void
}

interface Refusal {
  readonly code: number
  readonly message: string
}

/** Returns why a call is refused; undefined when it is allowed. */
export function refusalOf(method: string, params: Record<string, unknown>, rules: CdpRules): Refusal | undefined {
  const { url } = params
  if (opening.has(method) && typeof url === 'string' && isForbidden(url, rules)) {
    return { code: blockedCode, message: 'URL blocked' }
  }
  if (rules.files) return undefined
  if (browserWide.test(method)) return { code: deniedCode, message: `${method} reaches beyond this session` }
  // A hidden page would not count towards the limit of tabs.
  if (method === 'Target.createTarget' && params['hidden'] === true)
    return { code: deniedCode, message: 'hidden pages are not allowed' }
  if (!namesFiles(method, params)) return undefined
  return { code: deniedCode, message: `${method} accesses files of the machine that runs the browser` }
}

/** Returns whether a URL must not be opened; invalid ones are harmless. */
function isForbidden(text: string, { checkUrl }: CdpRules): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (!isOpenable(url.href)) return true
  try {
    if (url.protocol === 'http:' || url.protocol === 'https:') checkUrl(url)
    return false
  } catch {
    return true
  }
}

function namesFiles(method: string, params: Record<string, unknown>): boolean {
  if (method === 'DOM.setFileInputFiles' || method === 'Page.setDownloadBehavior') return true
  const data = params['data'] as { files?: unknown } | undefined
  return method === 'Input.dispatchDragEvent' && Array.isArray(data?.files) && data.files.length > 0
}
