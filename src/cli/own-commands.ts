/** Where the commands that are written by hand are loaded from, by their words. */
import type { TerminalCommand } from './invocation.ts'

/** Each is loaded when it is called; `words.ts` has what the help says of it. */
export const ownCommands: Readonly<Record<string, () => Promise<{ command: TerminalCommand }>>> = {
  do: () => import('./commands/do.ts'),
  run: () => import('./commands/run.ts'),
  scrape: () => import('./commands/scrape.ts'),
  extract: () => import('./commands/extract.ts'),
  search: () => import('./commands/search.ts'),
  crawl: () => import('./commands/crawl.ts'),
  map: () => import('./commands/map.ts'),
  observe: () => import('./commands/observe.ts'),
  step: () => import('./commands/step.ts'),
  'session watch': () => import('./commands/session-watch.ts'),
  'session create': () => import('./commands/session-create.ts'),
  'session use': () => import('./commands/session-use.ts'),
  'engine stop': () => import('./commands/engine-stop.ts'),
  'engine logs': () => import('./commands/engine-logs.ts'),
  'engine run': () => import('./commands/engine-run.ts'),
  serve: () => import('./commands/serve.ts'),
  api: () => import('./commands/api.ts'),
  openapi: () => import('./commands/openapi.ts'),
  doctor: () => import('./commands/doctor.ts'),
  setup: () => import('./commands/setup.ts'),
}
