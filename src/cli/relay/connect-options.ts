/** Flags of `bax relay connect`. */
import { textFlag, textFlags } from '../../lines/typed.ts'
import type { Command } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { BrowserSource } from '../../engine/relay/connector/endpoint.ts'
import { type CollectedKind, collectedKinds, relayPolicies, runningBrowsers } from '../../core/relay-names.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import type { Io } from '../io.ts'
import { collect } from '../../lines/flags.ts'
import { fileText, type TypedArguments } from '../../lines/values.ts'

export function addConnectFlags(command: Command): void {
  command
    .option('--cdp <url>', 'debugging URL of a browser: http://127.0.0.1:9222 or ws://…')
    .option('--running <name>', 'running chrome, chromium or edge that allows debugging (or --browser <name>)')
    .option('--data-dir <folder>', 'data folder of the running browser, if it is not the default')
    .option('--launch', 'start a browser that ends with this command')
    .option('--name <text>', 'name of the browser, usable instead of its ID')
    .option('--token <text>', 'relay token; prefer BAX_RELAY_TOKEN or --token-file, which other users cannot see')
    .option('--token-file <path>', 'file with the relay token')
    .option('--policy <name>', `permissions of clients: ${relayPolicies.join(', ')} (default no-lifecycle)`)
    .option('--tab <id|glob>', 'ID or URL pattern of the tabs that clients can see; may be repeated', collect)
    .option('--events <kinds>', `kinds of events to collect: ${collectedKinds.join(', ')} (default all)`)
    .option('--no-events', 'collect no events')
    .option('--no-redact', 'keep secrets such as tokens and cookies in events')
    .option('--bodies <kind>', 'response bodies to collect: text (at most 256 KiB each)')
    .option(
      '--max-events-per-sec <number>',
      'maximum events per second; more are dropped (console events first) and counted',
    )
    .option('--approve-timeout <seconds>', "timeout for the browser's debugging dialog (default 120)")
    .option('--allow-remote-cdp', 'allow a --cdp URL of another machine')
}

/** Reads the flags. @throws BaxError `invalid_request` with the name of the flag */
export function readConnect({ flags }: TypedArguments, io: Io) {
  const text = (name: string) => textFlag(flags, name)
  const policy = oneOf('--policy', text('policy') ?? 'no-lifecycle', relayPolicies)
  const seconds = Number(text('approveTimeout') ?? 120)
  if (!(seconds > 0 && seconds <= 3600)) throw invalid('--approve-timeout', 'must be 1 to 3600 seconds')
  return {
    browser: browserOf(flags),
    name: text('name') ?? null,
    token: tokenOf(flags, io),
    attachment: {
      policy,
      tabs: textFlags(flags, 'tab'),
      kinds: kindsOf(flags['events']),
      redact: flags['redact'] !== false,
      bodies: text('bodies') !== undefined && oneOf('--bodies', text('bodies')!, ['text']) === 'text',
      maxEventsPerSec: rateOf(text('maxEventsPerSec')),
    },
    approveMs: seconds * 1000,
  }
}

function browserOf(flags: TypedArguments['flags']): BrowserSource {
  const { cdp, launch, allowRemoteCdp, dataDir } = flags
  // Here, --browser may name a running browser instead of a program.
  const named = textFlag(flags, 'running') ?? runningBrowsers.find((name) => name === flags['browser'])
  const given = [cdp !== undefined && '--cdp', named !== undefined && '--running', launch && '--launch'].filter(Boolean)
  if (given.length > 1) throw invalid(given.join(' and '), 'exclude each other')
  if (typeof cdp === 'string') return { cdp, allowRemote: allowRemoteCdp === true }
  if (launch) return { launch: true }
  if (named === undefined) {
    throw new BaxError('invalid_request', 'no browser is named', {
      hint: 'pass --cdp http://127.0.0.1:9222, --running NAME or --launch',
    })
  }
  const browser = oneOf('--running', named, runningBrowsers)
  return { running: browser, ...(typeof dataDir === 'string' && { dataDir }) }
}

function tokenOf(flags: TypedArguments['flags'], { cwd, env }: Io): string | undefined {
  const file = textFlag(flags, 'tokenFile')
  const token = textFlag(flags, 'token') ?? (file && fileText(`@${file}`, '--token-file', cwd).trim())
  return token || env['BAX_RELAY_TOKEN'] || undefined
}

function kindsOf(events: unknown): readonly CollectedKind[] {
  if (events === false) return []
  if (typeof events !== 'string') return collectedKinds
  return events.split(',').map((kind) => oneOf('--events', kind.trim(), collectedKinds))
}

function rateOf(given: string | undefined): number | null {
  if (given === undefined) return null
  const rate = Number(given)
  if (Number.isInteger(rate) && rate >= 1) return rate
  throw invalid('--max-events-per-sec', `must be a whole number of at least 1, not ${JSON.stringify(given)}`)
}

function oneOf<T extends string>(flag: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given)
  if (found !== undefined) return found
  throw invalid(flag, `must be one of ${known.join(', ')}, not ${JSON.stringify(given)}${didYouMean(given, known)}`)
}

const invalid = (flag: string, message: string) =>
  new BaxError('invalid_request', `${flag} ${message}`, { details: [{ path: flag.replace(/^--/, ''), message }] })
