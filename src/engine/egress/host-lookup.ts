/**
 * Looks up host names: in the hosts file, then from the servers and with the search domains of resolv.conf, as glibc does.
 * `getaddrinfo` would occupy one of the process's few threads per name, for up to minutes if nobody answers, while all
 * other names, files and compression wait.
 */
import { lookup, type LookupAddress, promises } from 'node:dns'
import { isIP } from 'node:net'
import { platform } from 'node:os'
import type { HostLookup } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { FairQueue } from '../../core/process/fair-queue.ts'
import { hostsIn, type SearchRules, searchRulesIn, namesToAsk, WatchedFile } from './resolver-files.ts'

export interface LookupSources {
  /** Files in place of those of the system. */
  readonly hosts?: string
  readonly resolvConf?: string
  /** DNS servers (`127.0.0.1:5353`) in place of those of the system. */
  readonly servers?: readonly string[]
}

/**
 * Returns the look-up for this system. Other systems than Linux have sources that only `getaddrinfo` knows, such as the
 * servers of a VPN.
 */
export const systemHostLookup = (): HostLookup => (platform() === 'linux' ? dnsHostLookup() : threadLookup)

export function dnsHostLookup({
  hosts = '/etc/hosts',
  resolvConf = '/etc/resolv.conf',
  servers,
}: LookupSources = {}): HostLookup {
  const hostsFile = new WatchedFile(hosts, hostsIn)
  const rulesFile = new WatchedFile(resolvConf, searchRulesIn)
  return async (host, signal) => {
    const name = host.toLowerCase()
    const bare = name.replace(/\.$/, '')
    const listed = (await hostsFile.read()).get(bare)
    if (listed) return listed
    if (bare === 'localhost' || bare.endsWith('.localhost')) return loopback
    try {
      return await ask(name, { rules: await rulesFile.read(), servers, signal })
    } catch (error) {
      // A name without a dot may be known only to this machine.
      if (bare.includes('.') || codeOf(error) !== 'ENOTFOUND') throw error
      return threadQueue.run(() => threadLookup(bare), { ...(signal && { signal }) })
    }
  }
}

/** Each of these look-ups occupies one of the process's few threads, which other work needs. */
const threadQueue = new FairQueue({ atOnce: 1, reserve: 1 })

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

interface Question {
  readonly rules: SearchRules
  readonly servers: readonly string[] | undefined
  readonly signal: AbortSignal | undefined
}

/** Asks for the name with each search domain until one exists. @throws `ENOTFOUND`, `EAI_AGAIN`, the signal's reason */
async function ask(name: string, { rules, servers, signal }: Question): Promise<readonly LookupAddress[]> {
  const { tryMs: timeout, tries } = limits.egress
  // A resolver of its own can be cancelled, and has read the current servers.
  const resolver = new promises.Resolver({ timeout, tries })
  if (servers) resolver.setServers(servers)
  const cancel = () => resolver.cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    let failed: Error | undefined
    for (const each of namesToAsk(name, rules)) {
      try {
        const addresses = await addressesOf(each, resolver)
        if (addresses.length > 0) return addresses
      } catch (error) {
        signal?.throwIfAborted()
        // The server of one search domain may be broken.
        if (codeOf((error as Error).cause) !== 'ESERVFAIL') throw error
        failed ??= error as Error
      }
    }
    throw failed ?? failure('ENOTFOUND', `no address of ${name}`)
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}

/** Returns the addresses of a name, none if it does not exist: IPv4 first, since sockets soon try the others. */
async function addressesOf(name: string, resolver: promises.Resolver): Promise<LookupAddress[]> {
  let timer: NodeJS.Timeout | undefined
  const typed = (family: 4 | 6) => (list: string[]) => list.map((address) => ({ address, family }))
  const answers = [resolver.resolve4(name).then(typed(4)), resolver.resolve6(name).then(typed(6))]
  // Some servers never answer questions for IPv6.
  const onFirst = () => (timer = setTimeout(() => resolver.cancel(), limits.egress.otherFamilyMs))
  Promise.any(answers).then(onFirst, () => {})
  const settled = await Promise.allSettled(answers)
  clearTimeout(timer)
  const found = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  if (found.length > 0) return found.filter(({ address }) => isIP(address) !== 0)
  const failed = settled.find((one) => one.status === 'rejected' && !isMissing(one.reason))
  // The codes of c-ares would be mistaken for those of a failed connection.
  if (failed?.status === 'rejected') throw failure('EAI_AGAIN', `no answer for ${name}`, failed.reason)
  return []
}

const missing: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'ENODATA', 'ENONAME', 'EBADNAME'])
const isMissing = (error: unknown): boolean => missing.has(codeOf(error))
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code

/** Looks a name up in one of the process's threads. */
const threadLookup: HostLookup = (host) =>
  new Promise((resolve, reject) => {
    lookup(host, { all: true, verbatim: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
  })

const failure = (code: string, message: string, cause?: unknown): NodeJS.ErrnoException =>
  Object.assign(new Error(message, { cause }), { code })
