/** What no client may do over CDP, whoever the page belongs to: open what navigations may not, reach files of this machine. */
import { isOpenable } from '../../../core/net/urls.ts'
import { blockedCode, deniedCode } from '../../cdp/calls.ts'

/** Methods that open or load the address in their `url`. */
const opening = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
])

/** What these tell and do is of all the sessions of the browser, on whoever's page they are asked. */
const browserWide = /^(?:Tracing\.|Memory\.\w*Pressure)/

export interface CdpRules {
  /** Whether the machine is its clients' own: they may name its files and folders, and watch the whole browser. */
  readonly files: boolean
  /** @throws BaxError `url_blocked` for an address of the web that may not be reached. */
  readonly checkUrl: (url: URL) => void
}

interface Refusal {
  readonly code: number
  readonly message: string
}

/** Why a call is not passed on; undefined when it may be. */
export function refusalOf(method: string, params: Record<string, unknown>, rules: CdpRules): Refusal | undefined {
  const { url } = params
  if (opening.has(method) && typeof url === 'string' && isForbidden(url, rules)) {
    return { code: blockedCode, message: 'URL blocked' }
  }
  if (rules.files) return undefined
  if (browserWide.test(method)) return { code: deniedCode, message: `${method} reaches beyond this session` }
  // It would be no tab, and tabs are what is bounded.
  if (method === 'Target.createTarget' && params['hidden'] === true)
    return { code: deniedCode, message: 'a hidden page cannot be opened here' }
  if (!namesFiles(method, params)) return undefined
  return { code: deniedCode, message: `${method} names files of the machine that the browser runs on` }
}

/** What is no address opens nothing. */
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
