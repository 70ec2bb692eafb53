/** `bax run --watch`: runs scripts again when their files, or files that they include, change. */
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Context } from '../context.ts'
import { type Io, note } from '../io.ts'
import { interruptedExit, printFailure } from '../output/errors.ts'
import { shownPath } from './files.ts'
import { FolderWatcher } from './folder-watcher.ts'
import type { RunOptions } from './options.ts'
import { loadScripts, type LoadedScripts } from './load.ts'
import { runLoaded } from './run-loaded.ts'

type Sources = LoadedScripts['sources']

/**
 * Runs scripts, and again those that change, until the command is interrupted; returns its exit code.
 * @throws BaxError when the scripts cannot be found or run at the start
 */
export async function watchScripts(options: RunOptions, context: Context): Promise<number> {
  const { io } = context
  const watcher = new FolderWatcher()
  let folders: readonly string[] = []
  let known: Sources | undefined
  try {
    while (!io.signal.aborted) {
      // Watch before reading: a change in between then causes another round.
      watcher.watch(folders)
      const loaded: LoadedScripts | undefined = await orPrinted(known, context, () => loadScripts(options, io))
      if (loaded) {
        await runChanged(loaded, known, options, context)
        known = loaded.sources
        const needed = foldersOf(loaded.sources, options, io)
        if (needed.join('\0') !== folders.join('\0')) {
          folders = needed
          continue
        }
      }
      await watcher.changed(io.signal)
    }
    return interruptedExit(io)
  } finally {
    watcher.close()
  }
}

/** Returns the result of `work`. Once scripts have run, prints its errors instead of ending the command. */
async function orPrinted<T>(
  known: Sources | undefined,
  { io, settings }: Context,
  work: () => Promise<T>,
): Promise<T | undefined> {
  if (!known) return work()
  try {
    return await work()
  } catch (error) {
    await printFailure(error, io, settings.json)
    return undefined
  }
}

/** Runs the scripts that have changed since the last run, or prints their errors. */
async function runChanged(
  loaded: LoadedScripts,
  known: Sources | undefined,
  options: RunOptions,
  context: Context,
): Promise<void> {
  const { io } = context
  const changes = new Map(
    [...loaded.sources].map(([script, texts]) => [script, changedFiles(texts, known?.get(script))]),
  )
  const scripts = new Set([...changes].flatMap(([script, files]) => (files.length > 0 ? [script] : [])))
  if (scripts.size === 0) return
  if (known) {
    const files = [...new Set([...changes.values()].flat())].map((path) => shownPath(path, io.cwd))
    note(io, `\nchanged: ${files.join(', ')}`)
  }
  await orPrinted(known, context, async () => runLoaded(only(scripts, loaded, io), options, context))
  if (!io.signal.aborted) note(io, 'waiting for changes of the scripts; press ^C to end')
}

/** Returns the files of a script that have changed; all of a new script. */
const changedFiles = (
  texts: ReadonlyMap<string, string | null>,
  before: ReadonlyMap<string, string | null> | undefined,
): string[] => [...texts].flatMap(([path, text]) => (before?.has(path) && before.get(path) === text ? [] : [path]))

/** Returns some of the scripts, and the errors of their files. */
function only(scripts: ReadonlySet<string>, loaded: LoadedScripts, { cwd }: Io): LoadedScripts {
  const paths = new Set([...scripts].flatMap((script) => [...(loaded.sources.get(script)?.keys() ?? [])]))
  return {
    ...loaded,
    plans: loaded.plans.filter(({ file }) => scripts.has(file)),
    errors: loaded.errors.filter(({ position }) => !position || paths.has(resolve(cwd, position.file))),
  }
}

/** Returns the folders of all files, and those on the command line, where new scripts may appear. */
function foldersOf(sources: Sources, { files }: RunOptions, { cwd }: Io): string[] {
  const given = files.map((text) => resolve(cwd, text))
  const folders = given.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
  const ofScripts = [...sources.values()].flatMap((texts) => [...texts.keys()].map((path) => dirname(path)))
  return [...new Set([...folders, ...ofScripts])].toSorted()
}
