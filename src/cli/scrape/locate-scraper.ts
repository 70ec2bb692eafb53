/** The engine that scrapes: the running one, else one within the process. */
import { textFlag } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import type { Context } from '../context.ts'
import { locateEngine, type LocatedEngine, type Need } from '../engine/locate-engine.ts'
import { noEngineFor } from '../session/chosen-session.ts'

/** Returns the engine of a scrape with these flags: a session exists only where an engine runs. */
export function locateScraper(context: Context, flags: TypedArguments['flags']): LocatedEngine {
  const open = async () => (await import('../engine/embedded-scraper.ts')).openScraper(context)
  const session = textFlag(flags, 'session')
  const need: Need = session === undefined ? { when: 'ask' } : { when: 'running', absent: noEngineFor(session) }
  return locateEngine(context, need, open)
}
