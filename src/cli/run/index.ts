/** `bax run`: reads scripts, runs them when all are valid, and reports the results. */
import type { Context } from '../context.ts'
import { loadScripts } from './load.ts'
import type { RunOptions } from './options.ts'
import { runLoaded } from './run-loaded.ts'
import { makeVerbs } from './script/verbs.ts'

/** Returns the JSON Schema of scripts as text, without indentation: editors read it, and it is large. */
export async function scriptSchemaText(): Promise<string> {
  const { scriptSchema } = await import('./script/schema-document.ts')
  return JSON.stringify(scriptSchema(makeVerbs()))
}

/** Runs scripts; returns the exit code. @throws BaxError when they cannot be run. */
export async function runScripts(options: RunOptions, context: Context): Promise<number> {
  if (!options.watch) return runLoaded(await loadScripts(options, context.io), options, context)
  const { watchScripts } = await import('./watch.ts')
  return watchScripts(options, context)
}
