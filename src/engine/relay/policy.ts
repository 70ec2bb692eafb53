/** What consumers may do to the user's browser; enforced in the connector, so that no server can lift it (`spec: relay 5`). */
import type { RelayPolicy } from '../../core/relay-words.ts'

/** Ends or maims the browser itself. */
const lifecycle = [
  /^Browser\.(?:close|crash|crashGpuProcess)$/,
  /^Page\.crash$/,
  /^Extensions\./,
  /^Target\.setRemoteLocations$/,
  // These carry calls past this very check: wrapped in a text, or out of a page that was given the protocol.
  /^Target\.(?:sendMessageToTarget|exposeDevToolsProtocol)$/,
  // Opens ports of the user's machine.
  /^Tethering\./,
]

/** Downloads of the user's own context go where the user wants them. */
const downloads = /^(?:Browser|Page)\.setDownloadBehavior$/

/** Methods that open an address. */
const openers = new Set(['Page.navigate', 'Target.createTarget'])

/** Pages of the browser's own can quit it, crash it and change its settings; an empty tab cannot. */
const ownPage = /^(?:view-source:)?(?:chrome|chrome-untrusted|devtools|edge|brave|opera|vivaldi|about):/i
const harmlessPage = /^(?:about:(?:blank|srcdoc)(?:[?#].*)?|chrome:\/\/(?:newtab|new-tab-page|version)\/?)$/i

/** Changes what the user's pages show, hold or send. */
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
  /^(?:Fetch|Emulation|ServiceWorker|WebAuthn|DOMDebugger|Autofill|BluetoothEmulation|DeviceAccess|FedCm|PWA|Tethering)\.(?!disable$)/,
  /^Debugger\.(?:set\w*|pause|evaluateOnCallFrame|restartFrame)$/,
  /^Runtime\.(?:addBinding|runScript|terminateExecution|setAsyncCallStackDepth)$/,
  /^Browser\.(?:set\w*|grantPermissions|resetPermissions|cancelDownload|executeBrowserCommand)$/,
]

/** These run code of the caller's; V8 itself keeps them from having effects when asked. */
const evaluations = new Set(['Runtime.evaluate', 'Runtime.callFunctionOn'])

interface CdpCall {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/** Why `policy` refuses a call; undefined when it allows it. */
export function refusal(policy: RelayPolicy, { method, params = {} }: CdpCall): string | undefined {
  if (policy === 'full') return undefined
  if (lifecycle.some((pattern) => pattern.test(method))) return why(policy, method)
  // A context that a consumer has made is the consumer's.
  if (downloads.test(method) && params['browserContextId'] === undefined) return why(policy, method)
  const url = openers.has(method) ? String(params['url'] ?? '').trim() : ''
  if (ownPage.test(url) && !harmlessPage.test(url)) return `${why(policy, method)} of ${url}`
  if (policy === 'no-lifecycle') return undefined
  if (changes.some((pattern) => pattern.test(method))) return why(policy, method)
  if (!evaluations.has(method)) return undefined
  // `callFunctionOn` takes the flag too; without it the function may do anything.
  return params['throwOnSideEffect'] === true ? undefined : `${why(policy, method)} without throwOnSideEffect`
}

const why = (policy: RelayPolicy, method: string) => `the policy ${policy} of this browser does not allow ${method}`
