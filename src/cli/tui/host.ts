/** Connects the terminal UI of `bax tui` to this terminal, its engine, and the command line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { localFiles, readEngineState } from '../../core/state/local-files.ts'
import type { TuiHost } from '../../tui/host.ts'
import type { Context } from '../context.ts'
import { type LocatedEngine, locateEngine } from '../engine/locate-engine.ts'
import type { Io } from '../io.ts'
import { runningEngine } from '../engine/need.ts'
import type { Settings } from '../../core/config/settings.ts'
import { readLine, writeScript } from './line.ts'

/** Returns the host of the UI. The caller closes `engine`. */
export function openTuiHost(context: Context, engine: LocatedEngine): TuiHost {
  const { io, manifest, settings } = context
  const isLocal = engine.kind === 'local'
  return {
    // `bax tui` has checked that both are terminals.
    terminal: { stdin: io.stdin as never, stdout: io.stdout as never, env: io.env },
    ...(io.host.job && { job: io.host.job }),
    signal: io.signal,
    manifest,
    home: { kind: engine.kind, name: engine.name },
    startingTransport: engine.transport,
    transport: isLocal ? locateEngine(context, runningEngine).transport : engine.transport,
    whyUnreachable: isLocal ? () => engineFate(settings) : () => 'lost',
    cwd: io.cwd,
    historyFile: join(settings.stateDir, 'tui-history'),
    parse: (words) => readLine(words, context, engine),
    script: (commands, facts) => writeScript(commands, facts, manifest),
    runBax: engine.kind === 'embedded' ? null : (argv) => runChild(argv, io, settings),
    logFile: isLocal ? localFiles(settings.stateDir).log : null,
  }
}

function engineFate({ stateDir }: Settings): ReturnType<TuiHost['whyUnreachable']> {
  const state = readEngineState(stateDir)
  // An engine that ends cleanly removes its state file.
  if (!state) return 'stopped'
  try {
    process.kill(state.pid, 0)
    return 'ending'
  } catch {
    return 'lost'
  }
}

/** Runs another bax command in this terminal, against the same engine. */
async function runChild(
  argv: readonly string[],
  { host, env }: Io,
  { server, stateDir, apiKey }: Settings,
): Promise<number> {
  const [program, ...leading] = host.self
  const where = server === undefined ? ['--state-dir', stateDir] : ['--server', server]
  const child = spawn(program, [...leading, ...where, ...argv], {
    stdio: 'inherit',
    env: { ...env, ...(apiKey && { BAX_API_KEY: apiKey }) },
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
