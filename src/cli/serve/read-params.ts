/** Reads flags that `bax serve` and `bax worker` share. */
import { resolve } from 'node:path'
import type { LogFormat, LogLevel } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { parseRange } from '../../core/net/address-range.ts'
import type { Io } from '../io.ts'
import { fileText } from '../../lines/values.ts'
import { checkedProfileKey } from '../../core/config/settings.ts'

/** Flags of both commands. */
interface SharedFlags {
  readonly allowPrivate: readonly string[] | undefined
  readonly drainSecs: number
  readonly logFormat: LogFormat | undefined
  readonly logLevel: LogLevel
  readonly metrics: string | undefined
  readonly profileKeyFile: string | undefined
  readonly verifyTls: boolean | undefined
}

/** Reads and checks them. @throws BaxError `invalid_request` */
export function readShared(flags: SharedFlags, io: Io) {
  const allowPrivate = flags.allowPrivate ?? []
  for (const range of allowPrivate) parseRange(range, '--allow-private')
  const profileKey = profileKeyOf(flags.profileKeyFile, io.cwd)
  return {
    allowPrivate,
    metrics: metricsAddress(flags.metrics),
    drainMs: drainTime(flags.drainSecs),
    ...(profileKey !== undefined && { profileKey }),
    ...(flags.verifyTls !== undefined && { verifyTls: flags.verifyTls }),
  }
}

/** Opens the log on stderr. */
export async function openServerLog(flags: SharedFlags, io: Io) {
  const { openLog } = await import('../../server/process/log.ts')
  return openLog({
    level: flags.logLevel,
    format: flags.logFormat ?? (io.stderr.isTTY ? 'text' : 'json'),
    write: (line) => void io.stderr.write(line),
  })
}

/** @throws BaxError `invalid_request` */
export function portNumber(given: number | string, flag: string): number {
  const port = Number(given)
  if (/^\d+$/.test(`${given}`) && port <= 65_535) return port
  throw new BaxError('invalid_request', `${flag} must be 0 to 65535, not ${given}`)
}

function metricsAddress(text: string | undefined): { host: string; port: number } | undefined {
  if (text === undefined) return undefined
  const [, host, port] = /^(.+):(\d+)$/.exec(text) ?? []
  if (host === undefined) {
    throw new BaxError('invalid_request', `--metrics must be HOST:PORT, not ${JSON.stringify(text)}`, {
      hint: 'pass for example --metrics 127.0.0.1:9464',
    })
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: portNumber(port!, 'the port of --metrics') }
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
