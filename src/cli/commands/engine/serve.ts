/** `bax serve`: serves an engine over HTTP until a signal. */
import { resolve } from 'node:path'
import { parseRange } from '../../../core/net/address-range.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { limits } from '../../../core/limits/limits.ts'
import type { LogFormat, LogLevel } from '../../../core/config/config.ts'
import type { Keys } from '../../../core/access/keys.ts'
import { allowancesOf } from '../../../core/access/quota.ts'
import { openStateDir } from '../../../core/state/state-dir.ts'
import { engineConfig } from '../../engine/engine-config.ts'
import { serviceExit } from '../../output/errors.ts'
import { addParam } from '../../parse/flags.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { readAllowance, serveParams } from '../../serve/params.ts'
import { checkedProfileKey } from '../../settings.ts'
import { fileText, flagValue } from '../../parse/values.ts'

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    for (const param of Object.values(serveParams)) addParam(command, param)
  })
  const { io, settings } = context
  const read = (name: keyof typeof serveParams) =>
    flagValue(serveParams[name], typed.flags, io.cwd) ?? serveParams[name].default
  const address = { host: bareHost(read('host') as string), port: portNumber(read('port') as number, '--port') }
  const metrics = metricsAddress(read('metrics') as string | undefined)
  const allowances = allowancesOf(readAllowance(read))
  const drainMs = drainTime(read('drainSecs') as number)
  const allowPrivate = (read('allowPrivate') as string[] | undefined) ?? []
  for (const range of allowPrivate) parseRange(range, '--allow-private')
  const profileKey = profileKeyOf(read('profileKeyFile') as string | undefined, io.cwd)
  await openStateDir(settings.stateDir)
  const [{ serve }, { openLog }, { loopbackHosts }, { guardFolder }, { createEngine }] = await Promise.all([
    import('../../../server/process/serve.ts'),
    import('../../../server/process/log.ts'),
    import('../../../server/access/gate.ts'),
    import('../../../server/process/folder-checks.ts'),
    import('../../../engine/index.ts'),
  ])
  const log = await openLog({
    level: read('logLevel') as LogLevel,
    format: (read('logFormat') as LogFormat | undefined) ?? (io.stderr.isTTY ? 'text' : 'json'),
    write: (line) => void io.stderr.write(line),
  })
  const engine = createEngine({
    ...engineConfig(settings, io),
    ...(profileKey !== undefined && { profileKey }),
    allowPrivate,
    writeAnywhere: false,
    home: 'server',
    allowances,
    log,
    listensOn: `http://${urlHost(address.host)}:${address.port}`,
  })
  const named = ((read('allowHost') as string[] | undefined) ?? []).map((name) => name.toLowerCase())
  const folder = guardFolder(settings.stateDir, log)
  const gate = {
    checkReady: folder.check,
    hosts: new Set([...loopbackHosts, ...named, urlHost(address.host)]),
    origins: originsOf((read('allowOrigin') as string[] | undefined) ?? []),
    keys: engine.keys,
  }
  try {
    await assertGuarded(address.host, engine.keys)
    const { signal, host } = io
    const more = { ...(metrics && { metrics }), ...(host.faults && { faults: host.faults }) }
    await serve({ engine, gate, allowances, address, log, drainMs, signal, ...more })
  } finally {
    folder.stop()
    await engine.close()
  }
  return serviceExit(io)
}

function portNumber(port: number, flag: string): number {
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

const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)

/** Returns a host without the brackets of an IPv6 address. */
const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** @throws BaxError `invalid_request` if other machines can connect and there is no active API key */
async function assertGuarded(host: string, keys: Keys): Promise<void> {
  if (isLoopback(host) || (await keys.list()).some(({ status }) => status === 'active')) return
  throw new BaxError(
    'invalid_request',
    `serving on ${host} needs an API key: without one only loopback addresses are allowed`,
    {
      hint: 'run "bax key create NAME" first',
    },
  )
}

/** Parses origins. @throws BaxError `invalid_request` for other values, such as a URL with a path */
function originsOf(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.map((text) => {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url && url.origin !== 'null' && /^https?:$/.test(url.protocol) && text.replace(/\/$/, '').toLowerCase() === url.origin) return url.origin // prettier-ignore
      throw new BaxError('invalid_request', `--allow-origin must be an origin, not ${JSON.stringify(text)}`, {
        hint: 'pass only scheme, host and port: --allow-origin https://app.example.com',
      })
    }),
  )
}
