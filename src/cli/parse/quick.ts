/**
 * Fast path for `bax --help`, simple `bax scrape`, and simple `bax do` while the local engine runs: one small file
 * without commander and node:http. Everything else is left to the full program.
 */
import { overQuickSocket } from '../../client/quick-socket.ts'
import { readEngineState } from '../../core/state/local-files.ts'
import { version } from '../../core/version.ts'
import { rootHelp } from '../output/help.ts'
import type { LocatedEngine } from '../engine/locate-engine.ts'
import { isUnreachable } from '../engine/unreachable.ts'
import type { Io } from '../io.ts'
import { builtManifest } from './manifest.ts'
import { quickBatch } from './quick-batch.ts'
import { sendBatch } from '../send-batch.ts'
import { readSettings, sameBrowser } from '../settings.ts'
import { globalFlags } from './values.ts'
import { commandTable } from './command-table.ts'

/** Returns the exit code; undefined, without side effects, if the full program has to run. */
export async function quick(argv: readonly string[], io: Io): Promise<number | undefined> {
  const isRootHelp = argv.length === 0 || (argv.length === 1 && /^(--help|-h|help)$/.test(argv[0]!))
  if (!isRootHelp && argv[0] !== 'do' && argv[0] !== 'scrape') return undefined
  const manifest = builtManifest(io)
  if (manifest && isRootHelp) {
    io.stdout.write(rootHelp(commandTable(manifest)))
    return 0
  }
  if (manifest && argv[0] === 'scrape') {
    const { quickScrape } = await import('./quick-scrape.ts')
    return quickScrape(argv.slice(1), io, manifest)
  }
  const batch = manifest && quickBatch(argv.slice(1), manifest, io.cwd)
  if (!batch) return undefined
  const settings = readSettings(globalFlags(batch.flags), io)
  const state = readEngineState(settings.stateDir)
  if (settings.embedded || settings.server || state?.version !== version) return undefined
  if (!sameBrowser(settings, state)) return undefined
  const engine: LocatedEngine = { kind: 'local', name: 'local', transport: overQuickSocket(state.socket) }
  try {
    return await sendBatch({ io, manifest, settings }, { batch, engineName: 'local', openEngine: () => engine })
  } catch (error) {
    if (isUnreachable(error)) return undefined
    throw error
  }
}
