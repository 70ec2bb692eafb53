/** Flags of `bax serve`. */
import type { Allowance } from '../../core/access/quota.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { logFormats, logLevels } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Param } from '../../core/operation/params.ts'
import type { ValuesOf } from '../../lines/typed.ts'
import { fleetCaParam, secretFileParam } from '../fleet/address.ts'
import { param } from './param.ts'
import { scalerParams } from './scaler-params.ts'

const limit = (name: string, what: string, value: number) =>
  param(name, `${what} per key, 0 for no limit (default ${value} when keys exist)`, { type: 'integer' })

const { caller } = limits

const allowanceParams = {
  rate: limit('rate', 'requests per second', caller.rate),
  burst: param('burst', `burst of requests per key (default ${caller.burst} when keys exist)`, { type: 'integer' }),
  sessions: limit('max_sessions', 'browser sessions', caller.sessions),
  shells: limit('max_shells', 'shell sessions', caller.shells),
  crawls: limit('max_crawls', 'concurrent crawls', caller.crawls),
  relays: limit('max_relays', 'browsers of users', caller.relays),
  credentials: limit('max_credentials', 'stored credentials', caller.credentials),
} satisfies Readonly<Record<keyof Allowance, Param>>

export const fleetParams = {
  fleet: param(
    'fleet',
    'URL of the Redis that gateways and workers share: redis://[user:password@]host[:port] (BAX_FLEET)',
  ),
  secretFile: secretFileParam,
}

export const serveParams = {
  ...fleetParams,
  fleetCa: fleetCaParam,
  keys: param('keys', 'require an API key in a fleet (loopback addresses only); existing keys remain required', {
    type: 'boolean',
    default: true,
  }),
  host: param('host', 'address to listen on; all but loopback addresses need a key', { default: '127.0.0.1' }),
  port: param('port', 'port to listen on; 0 for a free one', { type: 'integer', default: 4100 }),
  allowHost: param('allow_host', 'additional Host header values to accept without keys', { type: 'string[]' }),
  allowOrigin: param(
    'allow_origin',
    'web origin that may send requests, such as https://app.example.com; none by default',
    { type: 'string[]' },
  ),
  allowPrivate: param(
    'allow_private',
    'private address range that pages may reach, such as 10.0.0.0/8; may be repeated',
    { type: 'string[]' },
  ),
  verifyTls: param(
    'verify_tls',
    'refuse requests that accept any certificate, with skip_tls_verification (BAX_VERIFY_TLS)',
    {
      type: 'boolean',
    },
  ),
  logLevel: param('log_level', 'minimum level of log lines on stderr', { choices: logLevels, default: 'info' }),
  logFormat: param('log_format', 'format of log lines; text on a terminal, else json', { choices: logFormats }),
  drainSecs: param(
    'drain_secs',
    'seconds for running work to finish after SIGTERM; a second SIGTERM exits immediately',
    { type: 'number', default: limits.drain.secs },
  ),
  metrics: param('metrics', 'address (HOST:PORT) that serves only GET /metrics and /readyz, without a key'),
  profileKeyFile: param('profile_key_file', 'file with the secret that encrypts saved profiles (BAX_PROFILE_KEY)'),
  ...allowanceParams,
  ...scalerParams,
}

/** Returns the limits that are set by flags. @throws BaxError `invalid_request` */
export function readAllowance(flags: ValuesOf<typeof allowanceParams>): Partial<Allowance> {
  const names = Object.keys(allowanceParams) as (keyof Allowance)[]
  const given = names.map((name) => {
    const value = flags[name]
    const least = name === 'burst' ? 1 : 0
    if (value === undefined || value >= least) return [name, value]
    const flag = `--${allowanceParams[name].name.replaceAll('_', '-')}`
    throw new BaxError('invalid_request', `${flag} must be at least ${least}, not ${value}`)
  })
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}
