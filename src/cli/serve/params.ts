/** The flags of `bax serve`. */
import { logFormats, logLevels } from '../../core/config/log-format.ts'
import { limits } from '../../core/limits/limits.ts'
import type { Param } from '../../core/operation/params.ts'
import { allowanceParams } from './allowance.ts'

const optional = { type: 'string', required: false } as const

export const serveParams = {
  host: {
    ...optional,
    name: 'host',
    description: 'address to listen on; others than loopback need a key',
    default: '127.0.0.1',
  },
  port: {
    ...optional,
    name: 'port',
    type: 'integer',
    description: 'port; 0 takes a free one',
    default: 4100,
  },
  allowHost: {
    ...optional,
    name: 'allow_host',
    type: 'string[]',
    description: 'further host names that requests may be addressed to while there is no key',
  },
  allowOrigin: {
    ...optional,
    name: 'allow_origin',
    type: 'string[]',
    description: 'web origins whose pages may call, as https://app.example.com; none by default',
  },
  allowPrivate: {
    ...optional,
    name: 'allow_private',
    type: 'string[]',
    description: 'range of private addresses that pages may reach, as 10.0.0.0/8; may be given several times',
  },
  logLevel: {
    ...optional,
    name: 'log_level',
    choices: logLevels,
    description: 'least that is worth a line on stderr',
    default: 'info',
  },
  logFormat: {
    ...optional,
    name: 'log_format',
    choices: logFormats,
    description: 'a JSON object a line, or text; text on a terminal, else json',
  },
  drainSecs: {
    ...optional,
    name: 'drain_secs',
    type: 'number',
    description: 'time for what runs to finish after SIGTERM; a second one ends at once',
    default: limits.drain.secs,
  },
  metrics: {
    ...optional,
    name: 'metrics',
    description: 'address (HOST:PORT) that answers GET /metrics without a key, and nothing else',
  },
  profileKeyFile: {
    ...optional,
    name: 'profile_key_file',
    description: 'file with the secret that saved profiles are encrypted with (or BAX_PROFILE_KEY)',
  },
  ...allowanceParams,
} as const satisfies Record<string, Param>
