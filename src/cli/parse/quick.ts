/**
 * The shortest way through `bax --help`, through a plain `bax scrape`, and through a plain `bax do` while the local
 * engine runs: no commander, no node:http, one small file to load. It gives up before anything has happened when there is
 * more to do, and the whole program takes over.
 */
import { overQuickSocket } from '../../client/quick-socket.ts'
import { readEngineState } from '../../core/state/local-home.ts'
import { version } from '../../core/version.ts'
import { rootHelp } from '../output/help.ts'
import type { Home } from '../engine/locate-engine.ts'
import { isAbsent } from '../engine/unreachable.ts'
import type { Io } from '../io.ts'
import { builtManifest } from './manifest.ts'
import { quickBatch } from './quick-batch.ts'
import { sendBatch } from '../send-batch.ts'
import { readSettings, sameBrowser } from '../settings.ts'
import { globalFlags } from './values.ts'
import { allWords } from './command-table.ts'

/** The exit code; undefined when this is not for the short way. */
export async function quick(argv: readonly string[], io: Io): Promise<number | undefined> {
  const asksAll = argv.length === 0 || (argv.length === 1 && /^(--help|-h|help)$/.test(argv[0]!))
  if (!asksAll && argv[0] !== 'do' && argv[0] !== 'scrape') return undefined
  const manifest = builtManifest(io)
  if (manifest && asksAll) {
    io.stdout.write(rootHelp(allWords(manifest)))
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
  const home: Home = { kind: 'local', name: 'local', transport: overQuickSocket(state.socket) }
  try {
    return await sendBatch({ io, manifest, settings }, { batch, homeName: 'local', openHome: () => home })
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
