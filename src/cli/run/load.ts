/** Finds, reads and checks the scripts of a run. */
import { randomBytes } from 'node:crypto'
import { didYouMean } from '../../core/errors/suggest.ts'
import { limits } from '../../core/limits/limits.ts'
import { readRegularFile } from '../../core/state/outside-files.ts'
import type { Io } from '../io.ts'
import { findScripts, shardOf } from './files.ts'
import type { RunOptions } from './options.ts'
import type { Plan } from './script/plan.ts'
import { readScripts, type ReadScripts } from './script/script.ts'
import type { ScriptError } from './script/document.ts'
import { makeMask, type Mask } from '../../core/access/mask.ts'
import { makeVerbs } from './script/verbs.ts'
import { readStreams } from './streams.ts'

/** The scripts of a run; they can run if there are no errors. */
export interface LoadedScripts extends Pick<ReadScripts, 'sources'> {
  readonly runId: string
  readonly plans: readonly Plan[]
  /** All errors of all scripts, and of the command line. */
  readonly errors: readonly ScriptError[]
  readonly mask: Mask
}

/**
 * Loads the scripts that the options name.
 * @throws BaxError `invalid_request` when none is found, or one from a stream cannot be used
 */
export async function loadScripts(options: RunOptions, io: Io): Promise<LoadedScripts> {
  const { cwd, env } = io
  const found = await findScripts(options.files, cwd)
  const files = options.shard ? shardOf(found.files, options.shard) : found.files
  const streams = await readStreams(files, options, io)
  const runId = `run_${randomBytes(9).toString('base64url')}`
  const { plans, errors, variables, sources } = readScripts(files, {
    cwd,
    given: { env, runId },
    overrides: options.vars,
    verbs: makeVerbs(),
    strict: options.strict ?? false,
    checkOnly: options.check ?? false,
    readFile: (path) => streams.get(path) ?? readRegularFile(path, limits.scriptBytes).toString(),
  })
  const unknown = Object.keys(options.vars).filter((name) => files.length > 0 && !variables.has(name))
  const ofCommandLine = [
    ...found.problems,
    ...unknown.map(
      (name) => `--var ${name}: no script has a variable ${JSON.stringify(name)}${didYouMean(name, variables)}`,
    ),
  ]
  return {
    runId,
    plans,
    errors: [...ofCommandLine.map((message) => ({ message })), ...errors],
    mask: makeMask(plans.flatMap(({ secrets }) => secrets)),
    sources,
  }
}
