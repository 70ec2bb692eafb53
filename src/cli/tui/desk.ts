/** What `bax tui` gives the UI: this terminal, its home, and the tools of the command line. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { localFiles, readEngineState } from '../../core/state/local-home.ts'
import type { Desk } from '../../tui/desk.ts'
import type { Context } from '../context.ts'
import { type Home, openHome } from '../engine/locate-engine.ts'
import type { Io } from '../io.ts'
import { runningEngine } from '../engine/need.ts'
import type { Settings } from '../settings.ts'
import { readLine } from './line.ts'
import { writeScript } from './script.ts'

/** `home` starts an engine where none runs; what it opened is closed by whoever opened it. */
export function openDesk(context: Context, home: Home): Desk {
  const { io, manifest, settings } = context
  const isLocal = home.kind === 'local'
  return {
    terminal: { stdin: io.stdin as never, stdout: io.stdout as never, env: io.env },
    ...(io.host.job && { job: io.host.job }),
    signal: io.signal,
    manifest,
    home: { kind: home.kind, name: home.name },
    begin: home.transport,
    join: isLocal ? openHome(context, runningEngine).transport : home.transport,
    fate: isLocal ? () => fateOf(settings) : () => 'lost',
    cwd: io.cwd,
    historyFile: join(settings.stateDir, 'tui-history'),
    parse: (words) => readLine(words, context, home),
    script: (commands, facts) => writeScript(commands, facts, manifest),
    child: home.kind === 'embedded' ? null : (argv) => runChild(argv, io, settings),
    logFile: isLocal ? localFiles(settings.stateDir).log : null,
  }
}

function fateOf({ stateDir }: Settings): ReturnType<Desk['fate']> {
  const state = readEngineState(stateDir)
  // It takes its file along when it ends as it should.
  if (!state) return 'stopped'
  try {
    process.kill(state.pid, 0)
    return 'ending'
  } catch {
    return 'lost'
  }
}

/** Runs bax once more in this terminal, against the same home. */
function runChild(argv: readonly string[], { host, env }: Io, { server, stateDir, apiKey }: Settings): Promise<number> {
  const [program, ...leading] = host.self
  const where = server === undefined ? ['--state-dir', stateDir] : ['--server', server]
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...leading, ...where, ...argv], {
      stdio: 'inherit',
      env: { ...env, ...(apiKey && { BAX_API_KEY: apiKey }) },
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
