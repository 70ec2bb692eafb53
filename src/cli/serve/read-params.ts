/** Reads flags that `bax serve` and `bax worker` share. */
import { resolve } from 'node:path'
import type { LogFormat, LogLevel } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { parseRange } from '../../core/net/address-range.ts'
import type { Io } from '../io.ts'
import { fileText } from '../parse/values.ts'
import { checkedProfileKey } from '../../core/config/settings.ts'

/** Returns the value of a flag by its name in a table of parameters; undefined if absent. */
export type ReadFlag = (
  name: 'allowPrivate' | 'drainSecs' | 'logFormat' | 'logLevel' | 'metrics' | 'profileKeyFile',
) => unknown

/** Reads and checks them. @throws BaxError `invalid_request` */
export function readShared(read: ReadFlag, io: Io) {
  const allowPrivate = (read('allowPrivate') as string[] | undefined) ?? []
  for (const range of allowPrivate) parseRange(range, '--allow-private')
  const profileKey = profileKeyOf(read('profileKeyFile') as string | undefined, io.cwd)
  return {
    allowPrivate,
    metrics: metricsAddress(read('metrics') as string | undefined),
    drainMs: drainTime(read('drainSecs') as number),
    ...(profileKey !== undefined && { profileKey }),
  }
}

/** Opens the log on stderr. */
export async function openServerLog(read: ReadFlag, io: Io) {
  const { openLog } = await import('../../server/process/log.ts')
  return openLog({
    level: read('logLevel') as LogLevel,
    format: (read('logFormat') as LogFormat | undefined) ?? (io.stderr.isTTY ? 'text' : 'json'),
    write: (line) => void io.stderr.write(line),
  })
}

export function portNumber(port: number, flag: string): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new BaxError('invalid_request', `${flag} must be 0 to 65535, not ${port}`)
}

function metricsAddress(text: string | undefined): { host: string; port: number } | undefined {
  if (text === undefined) return undefined
  const [, host, port] = /^(.+):(\d+)$/.exec(text) ?? []
  if (host === undefined) {
    throw new BaxError('invalid_request', `--metrics must be HOST:PORT, not ${JSON.stringify(text)}`, {
      hint: 'pass for example --metrics 127.0.0.1:9464',
    })
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: portNumber(Number(port), 'the port of --metrics') }
}

function drainTime(secs: number): number {
  if (secs >= 0 && secs <= limits.drain.maxSecs) return secs * 1000
  throw new BaxError('invalid_request', `--drain-secs must be 0 to ${limits.drain.maxSecs}, not ${secs}`)
}

function profileKeyOf(file: string | undefined, cwd: string): string | undefined {
  if (file === undefined) return undefined
  const key = fileText(`@${file}`, '--profile-key-file', cwd).trim()
  return checkedProfileKey(key, `the key in ${resolve(cwd, file)}`)
}

export const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)

/** Returns a host without the brackets of an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()
