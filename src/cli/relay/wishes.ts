/** What was typed after `bax relay connect`. */
import { type Command, Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { BrowserWish } from '../../engine/relay/connector/endpoint.ts'
import {
  type CollectedKind,
  collectedKinds,
  type RelayPolicy,
  relayPolicies,
  runningBrowsers,
} from '../../core/relay-words.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import type { Io } from '../io.ts'
import { fileText, type Typed } from '../parse/values.ts'

export interface ConnectWishes {
  readonly browser: BrowserWish
  readonly name: string | null
  readonly token: string | undefined
  readonly policy: RelayPolicy
  readonly tabs: readonly string[]
  readonly kinds: readonly CollectedKind[]
  readonly redact: boolean
  readonly bodies: boolean
  readonly maxEventsPerSec: number | null
  readonly approveMs: number
}

export function addConnectFlags(command: Command): void {
  const several = (text: string, before: string[] = []) => [...before, text]
  command
    .addOption(
      new Option('--cdp <address>', 'a browser that is debugged at http://127.0.0.1:9222, or its ws:// address'),
    )
    .addOption(
      new Option('--running <name>', `a running chrome, chromium or edge that allows debugging (or --browser <name>)`),
    )
    .addOption(new Option('--data-dir <folder>', "the running browser's data folder, when it is not the usual one"))
    .addOption(new Option('--launch', 'start a browser that ends with this command'))
    .addOption(new Option('--name <text>', 'a name for the browser, to be used in place of its id'))
    .addOption(
      new Option('--token <text>', 'relay token; better in BAX_RELAY_TOKEN or a file: arguments can be seen by others'),
    )
    .addOption(new Option('--token-file <path>', 'file with the relay token'))
    .addOption(new Option('--policy <name>', `what others may do: ${relayPolicies.join(', ')} (default no-lifecycle)`))
    .addOption(
      new Option('--tab <id|glob>', 'only tabs of this id or address exist for others; may be repeated').argParser(
        several,
      ),
    )
    .addOption(new Option('--events <kinds>', `kinds of events to collect: ${collectedKinds.join(', ')} (default all)`))
    .addOption(new Option('--no-events', 'collect no events'))
    .addOption(new Option('--no-redact', 'leave tokens, cookies and the like in the events'))
    .addOption(new Option('--bodies <kind>', 'collect bodies of answers too: text (256 KiB each at most)'))
    .addOption(
      new Option('--max-events-per-sec <number>', 'above it leave events out, of the console first, and count them'),
    )
    .addOption(
      new Option('--approve-timeout <seconds>', "time to allow debugging in the browser's dialog (default 120)"),
    )
    .addOption(new Option('--allow-remote-cdp', 'accept a --cdp address of another machine'))
}

/** @throws BaxError `invalid_request` that names the flag. */
export function readWishes({ flags }: Typed, io: Io): ConnectWishes {
  const text = (name: string) => flags[name] as string | undefined
  const policy = oneOf('--policy', text('policy') ?? 'no-lifecycle', relayPolicies)
  const seconds = Number(text('approveTimeout') ?? 120)
  if (!(seconds > 0 && seconds <= 3600)) throw wrong('--approve-timeout', 'takes 1 to 3600 seconds')
  return {
    browser: browserOf(flags),
    name: text('name') ?? null,
    token: tokenOf(flags, io),
    policy,
    tabs: (flags['tab'] as string[] | undefined) ?? [],
    kinds: kindsOf(flags['events']),
    redact: flags['redact'] !== false,
    bodies: text('bodies') !== undefined && oneOf('--bodies', text('bodies')!, ['text']) === 'text',
    maxEventsPerSec: rateOf(text('maxEventsPerSec')),
    approveMs: seconds * 1000,
  }
}

function browserOf(flags: Typed['flags']): BrowserWish {
  const { cdp, launch, allowRemoteCdp, dataDir } = flags as Record<string, string | boolean | undefined>
  // The flag of every command names a program; here it may name one that runs already.
  const named = (flags['running'] ??
    (runningBrowsers.includes(flags['browser'] as never) ? flags['browser'] : undefined)) as string | undefined
  const given = [cdp !== undefined && '--cdp', named !== undefined && '--running', launch && '--launch'].filter(Boolean)
  if (given.length > 1) throw wrong(given.join(' and '), 'name different browsers: give one of them')
  if (typeof cdp === 'string') return { cdp, allowRemote: allowRemoteCdp === true }
  if (launch) return { launch: true }
  if (named === undefined) {
    throw new BaxError('invalid_request', 'which browser? give --cdp ADDRESS, --running NAME or --launch', {
      hint: 'a browser started with --remote-debugging-port=9222 is at --cdp http://127.0.0.1:9222',
    })
  }
  const browser = oneOf('--running', named, runningBrowsers)
  return { running: browser, ...(typeof dataDir === 'string' && { dataDir }) }
}

function tokenOf(flags: Typed['flags'], { cwd, env }: Io): string | undefined {
  const file = flags['tokenFile'] as string | undefined
  const token = (flags['token'] as string | undefined) ?? (file && fileText(`@${file}`, '--token-file', cwd).trim())
  return token || env['BAX_RELAY_TOKEN'] || undefined
}

function kindsOf(events: unknown): ConnectWishes['kinds'] {
  if (events === false) return []
  if (typeof events !== 'string') return collectedKinds
  return events.split(',').map((kind) => oneOf('--events', kind.trim(), collectedKinds))
}

function rateOf(given: string | undefined): number | null {
  if (given === undefined) return null
  const rate = Number(given)
  if (Number.isInteger(rate) && rate >= 1) return rate
  throw wrong('--max-events-per-sec', `takes a whole number from 1 on, not ${JSON.stringify(given)}`)
}

function oneOf<T extends string>(flag: string, given: string, known: readonly T[]): T {
  const found = known.find((one) => one === given)
  if (found !== undefined) return found
  throw wrong(flag, `must be one of ${known.join(', ')}, not ${JSON.stringify(given)}${didYouMean(given, known)}`)
}

const wrong = (flag: string, message: string) =>
  new BaxError('invalid_request', `${flag} ${message}`, { details: [{ path: flag.replace(/^--/, ''), message }] })
