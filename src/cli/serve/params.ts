/** Flags of `bax serve`. */
import type { Allowance } from '../../core/access/quota.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { logFormats, logLevels } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Param } from '../../core/operation/params.ts'

const optional = { type: 'string', required: false } as const

const limit = (name: string, what: string, value: number) =>
  ({
    name,
    type: 'integer',
    required: false,
    description: `${what} per key, 0 for no limit (default ${value} when keys exist)`,
  }) as const satisfies Param

const { caller } = limits

const allowanceParams = {
  rate: limit('rate', 'requests per second', caller.rate),
  burst: {
    ...limit('burst', '', 0),
    description: `burst of requests per key (default ${caller.burst} when keys exist)`,
  },
  sessions: limit('max_sessions', 'browser sessions', caller.sessions),
  shells: limit('max_shells', 'shell sessions', caller.shells),
  crawls: limit('max_crawls', 'concurrent crawls', caller.crawls),
} as const satisfies Record<keyof Allowance, Param>

export const serveParams = {
  host: {
    ...optional,
    name: 'host',
    description: 'address to listen on; all but loopback addresses need a key',
    default: '127.0.0.1',
  },
  port: {
    ...optional,
    name: 'port',
    type: 'integer',
    description: 'port to listen on; 0 for a free one',
    default: 4100,
  },
  allowHost: {
    ...optional,
    name: 'allow_host',
    type: 'string[]',
    description: 'additional Host header values to accept without keys',
  },
  allowOrigin: {
    ...optional,
    name: 'allow_origin',
    type: 'string[]',
    description: 'web origin that may send requests, such as https://app.example.com; none by default',
  },
  allowPrivate: {
    ...optional,
    name: 'allow_private',
    type: 'string[]',
    description: 'private address range that pages may reach, such as 10.0.0.0/8; may be repeated',
  },
  logLevel: {
    ...optional,
    name: 'log_level',
    choices: logLevels,
    description: 'minimum level of log lines on stderr',
    default: 'info',
  },
  logFormat: {
    ...optional,
    name: 'log_format',
    choices: logFormats,
    description: 'format of log lines; text on a terminal, else json',
  },
  drainSecs: {
    ...optional,
    name: 'drain_secs',
    type: 'number',
    description: 'seconds for running work to finish after SIGTERM; a second SIGTERM exits immediately',
    default: limits.drain.secs,
  },
  metrics: {
    ...optional,
    name: 'metrics',
    description: 'address (HOST:PORT) that serves only GET /metrics, without a key',
  },
  profileKeyFile: {
    ...optional,
    name: 'profile_key_file',
    description: 'file with the secret that encrypts saved profiles (BAX_PROFILE_KEY)',
  },
  ...allowanceParams,
} as const satisfies Record<string, Param>

/** Returns the limits that are set by flags. @throws BaxError `invalid_request` */
export function readAllowance(read: (name: keyof typeof allowanceParams) => unknown): Partial<Allowance> {
  const allowance: Partial<Record<keyof Allowance, number>> = {}
  for (const name of Object.keys(allowanceParams) as (keyof Allowance)[]) {
    const value = read(name) as number | undefined
    if (value === undefined) continue
    const least = name === 'burst' ? 1 : 0
    if (value < least) {
      const flag = `--${allowanceParams[name].name.replaceAll('_', '-')}`
      throw new BaxError('invalid_request', `${flag} must be at least ${least}, not ${value}`)
    }
    allowance[name] = value
  }
  return allowance
}
