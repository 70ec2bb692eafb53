/** `bax doctor`: checks the requirements of bax on this machine, and prints how to fix missing ones. */
import { resolve } from 'node:path'
import { asBaxError, BaxError, exits } from '../../../core/errors/errors.ts'
import { version } from '../../../core/version.ts'
import type { Context } from '../../context.ts'
import {
  checkBrowser,
  checkDisplay,
  checkDocker,
  checkLauncher,
  checkNode,
  checkProxies,
  checkSandbox,
  checkSearch,
  checkStateDir,
  checkStateFiles,
  checkVault,
  type Check,
} from '../../checks.ts'
import { checkedFleetUrl, fleetCaParam, fleetParam, secretFileParam } from '../../fleet/address.ts'
import { checkFleet } from '../../fleet/checks.ts'
import { addParam } from '../../../lines/flags.ts'
import { assertFleetFlags } from '../../serve/fleet.ts'
import { readParams } from '../../../lines/typed.ts'
import { engineName, withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { runningEngine } from '../../engine/need.ts'
import { type Style, styleFor } from '../../output/style.ts'

export const command: TerminalCommand = {
  cli: 'doctor',
  summary: 'Check this machine for missing requirements',
  example: [
    'bax doctor',
    'bax doctor --json',
    'bax doctor --fleet redis://10.0.0.5:6379',
    'bax doctor --fleet redis://10.0.0.5:6379 --fleet-ca ca.pem',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      addParam(command, fleetParam)
      addParam(command, fleetCaParam)
      addParam(command, secretFileParam)
    })
    const { io, settings } = context
    const params = { url: fleetParam, secretFile: secretFileParam, caFile: fleetCaParam }
    const flags = readParams(params, typed.flags, io.cwd)
    assertFleetFlags(flags)
    const pathOf = (file: string | undefined) => (file === undefined ? undefined : resolve(io.cwd, file))
    const fleet =
      flags.url === undefined
        ? undefined
        : {
            url: checkedFleetUrl(flags.url),
            secretFile: pathOf(flags.secretFile ?? (io.env['BAX_SECRET_FILE'] || undefined)),
            caFile: pathOf(flags.caFile),
          }
    const [fleetChecks, ...machineChecks] = await Promise.all([
      fleet === undefined ? [] : checkFleet(fleet),
      checkNode(io),
      checkBrowser(settings, { headless: true, stealth: false }),
      checkBrowser(settings, { headless: true, stealth: true }),
      checkSandbox(settings, io),
      checkDisplay(io),
      checkStateDir(settings),
      checkStateFiles(settings),
      checkVault(settings),
      checkEngine(context),
      checkLauncher(io),
      checkDocker(settings),
      checkSearch(settings),
      checkProxies(settings),
    ])
    const checks = [...machineChecks, ...fleetChecks]
    const ready = checks.every(({ ok, needed }) => ok || !needed)
    if (settings.json) print(io, JSON.stringify({ success: ready, version, checks }))
    else for (const line of linesOf(checks, await styleFor(io, io.stdout))) print(io, line)
    return ready ? exits.done : exits.unreachable
  },
}

/** Formats the checks; failed ones are followed by the inspected places and the fix. */
export function linesOf(checks: readonly Check[], { green, red, yellow, cyan, dim }: Style): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length))
  const indent = ' '.repeat(width + 4)
  return checks.flatMap(({ name, ok, needed, found, mend, looked = [], serves = [] }) => {
    const mark = ok ? green('✓') : needed ? red('✗') : yellow('-')
    const head = `${mark} ${name.padEnd(width)}  ${found}`
    const uses = serves.length > 0 ? [indent + dim(`used for ${serves.join(', ')}`)] : []
    if (ok) return [head, ...uses]
    const places = looked.map((place) => indent + dim(`checked ${place}`))
    return [head, ...uses, ...places, ...(mend?.split('\n').map((line) => indent + cyan(line)) ?? [])]
  })
}

/** Checks the engine that commands would use now. A local engine that is not running is fine: commands start it. */
async function checkEngine(context: Context): Promise<Check> {
  const { settings, io } = context
  const named = settings.server !== undefined
  const head = { name: named ? 'server' : 'local engine', needed: named }
  // An invalid --server is a usage error, not a failed check.
  engineName(context)
  try {
    const status = await withEngine(context, runningEngine, ({ ask }) =>
      ask('getEngineStatus', {}, { signal: io.signal }),
    )
    const same = status.version === version
    const hung = status.browsers.filter(({ responsive }) => responsive === false)
    const unresponsive = hung.length > 0 ? `, ${hung.length} unresponsive browsers` : ''
    const found = `bax ${status.version}, pid ${status.pid}, ${status.sessions} sessions${unresponsive}`
    return { ...head, ok: same, found, ...(!same && { mend: `run "bax engine stop": this is bax ${version}` }) }
  } catch (thrown) {
    const error = asBaxError(thrown)
    if (!named && error.code === 'engine_unreachable' && !(error.cause instanceof BaxError))
      return { ...head, ok: true, found: 'not running; commands start it when needed' }
    return { ...head, needed: true, ok: false, found: error.message, ...(error.hint && { mend: error.hint }) }
  }
}
