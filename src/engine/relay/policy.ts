/** Decides which calls a policy allows; enforced in the connector, so that no server can lift it (`spec: relay 5`). */
import { catalogue } from '../../commands/index.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { RelayPolicy } from '../../core/relay-names.ts'
import type { ChannelKind } from './tunnel/messages.ts'

/** Methods that end or break the browser. */
const lifecycle = [
  /^Browser\.(?:close|crash|crashGpuProcess)$/,
  /^Page\.crash$/,
  /^Extensions\./,
  /^Target\.setRemoteLocations$/,
  // These bypass this check: calls wrapped in a string, or made by a page that is given the protocol.
  /^Target\.(?:sendMessageToTarget|exposeDevToolsProtocol)$/,
  // Opens ports on the user's machine.
  /^Tethering\./,
]

/** Downloads of the user's own context keep the user's settings. */
const downloads = /^(?:Browser|Page)\.setDownloadBehavior$/

/** Methods that open a URL. */
const openers = new Set(['Page.navigate', 'Target.createTarget'])

/** Internal pages can quit the browser, crash it, change its settings, and name its folders; an empty page cannot. */
const internalPage = /^(?:view-source:)*(?:chrome|chrome-untrusted|devtools|edge|brave|opera|vivaldi|about):/i
const harmlessPage = /^about:(?:blank|srcdoc)(?:[?#].*)?$/i
/** Spaces and control characters, which browsers remove from the ends of a URL, and partly from its scheme. */
const unseen = /[\p{Cc}\p{Zs}]/gu

/** Returns whether a browser parses a URL as that of an internal page. */
export function isInternalPage(text: string): boolean {
  const url = text.replace(unseen, '')
  return internalPage.test(url) && !harmlessPage.test(url)
}

/** Methods that run code in a page, or act in it. */
const acting =
  /^(?:Runtime\.(?:evaluate|callFunctionOn|runScript)|Debugger\.evaluateOnCallFrame|Input\.\w+|Page\.setDocumentContent|DOM\.set\w+)$/

/** Returns why `policy` denies a call to a page of the user with this URL, or undefined if it is allowed. */
export function refusalIn(url: string, policy: RelayPolicy, method: string): string | undefined {
  const isDenied = policy !== 'full' && acting.test(method) && isInternalPage(url)
  return isDenied ? `${denial(policy, method)} in ${url}` : undefined
}

/** Methods that change what the user's pages show, store or send. */
const changes = [
  /^Input\./,
  /^Page\.(?:navigate|navigateToHistoryEntry|reload|setDocumentContent|close|handleJavaScriptDialog|addScriptToEvaluateOnNewDocument|setWebLifecycleState|setBypassCSP)$/,
  /^Target\.(?:create\w*|closeTarget|disposeBrowserContext|openDevTools)$/,
  /^Storage\.(?:set|clear|delete|override|run)\w*/,
  /^DOMStorage\.(?:set|remove|clear)\w*/,
  /^IndexedDB\.(?:delete|clear)\w*/,
  /^CacheStorage\.delete\w*/,
  /^Network\.(?:setCookies?|deleteCookies|clear\w*|set(?!CacheDisabled)\w*|replayXHR|emulate\w*|overrideNetworkState)$/,
  /^DOM\.(?:set\w*|remove\w*|moveTo|copyTo|focus|undo|redo)$/,
  /^CSS\.(?:set\w*|add\w*|create\w*)$/,
  /^(?:Fetch|Emulation|ServiceWorker|WebAuthn|DOMDebugger|Autofill|BluetoothEmulation|DeviceAccess|FedCm|PWA|Tethering)\.(?!disable$|getEventListeners$)/,
  /^Debugger\.(?:set\w*|pause|evaluateOnCallFrame|restartFrame)$/,
  /^Runtime\.(?:addBinding|runScript|terminateExecution|setAsyncCallStackDepth)$/,
  /^WebMCP\.(?:invokeTool|cancelInvocation)$/,
  /^Browser\.(?:set\w*|grantPermissions|resetPermissions|cancelDownload|executeBrowserCommand)$/,
]

/** Methods that run code of the caller; on request V8 rejects side effects. */
const evaluations = new Set(['Runtime.evaluate', 'Runtime.callFunctionOn'])

interface CdpCall {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Methods that reading commands need. Allowed on the connector's own channel only, on which `checkCommand` and
 * `checkCode` reject everything but reading commands.
 */
const reading = /^(?:Runtime\.(?:evaluate|callFunctionOn)|Page\.addScriptToEvaluateOnNewDocument)$/

/** Returns why `policy` denies a call of a consumer, or undefined if it is allowed. */
export function refusal(
  policy: RelayPolicy,
  { method, params = {} }: CdpCall,
  consumer: ChannelKind = 'cdp',
): string | undefined {
  if (policy === 'full') return undefined
  if (lifecycle.some((pattern) => pattern.test(method))) return denial(policy, method)
  // A browser context created by a consumer belongs to that consumer.
  if (downloads.test(method) && params['browserContextId'] === undefined) return denial(policy, method)
  const url = openers.has(method) ? String(params['url'] ?? '') : ''
  if (isInternalPage(url)) return `${denial(policy, method)} of ${url}`
  if (policy === 'no-lifecycle') return undefined
  if (consumer === 'commands' && reading.test(method)) return undefined
  if (changes.some((pattern) => pattern.test(method))) return denial(policy, method)
  if (!evaluations.has(method)) return undefined
  // `callFunctionOn` accepts the flag too; without it the function may do anything.
  return params['throwOnSideEffect'] === true ? undefined : `${denial(policy, method)} without throwOnSideEffect`
}

const denial = (policy: RelayPolicy, method: string) => `the policy ${policy} of this browser does not allow ${method}`

/** Rejects commands that a policy denies: under `read-only`, all but reading ones. @throws BaxError `method_denied`. */
export function checkCommand(policy: RelayPolicy, command: string): void {
  const { kind, waits, runsCode } = catalogue.get(command) ?? { kind: 'extraction' }
  const reads = (kind === 'extraction' && !runsCode) || waits
  if (policy === 'read-only' && !reads) throw deniedCommand(policy, command)
}

/** Rejects code of the caller under `read-only`. @throws BaxError `method_denied`. */
export function checkCode(policy: RelayPolicy): void {
  if (policy === 'read-only') throw deniedCommand(policy, 'code of the caller')
}

const deniedCommand = (policy: RelayPolicy, what: string): BaxError =>
  new BaxError('method_denied', denial(policy, what), {
    hint: 'reading commands work; the user of the browser chooses its policy with "bax relay connect --policy"',
  })
