/** One build of the program for a whole run of tests: made by the first file that asks, in a folder that goes with the run. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from '../../scripts/build.js'
import { until } from './session-steps.ts'

/** Tells the processes of the tests where the build is. */
const variable = 'BAX_TEST_BUILD'
/** For one build on a machine that is busy with others. */
const withinMs = 180_000

/** Runs before all tests, in the process that starts theirs. */
export async function setup(): Promise<void> {
  // Inside the checkout, so that its packages are found.
  const parent = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
  await mkdir(parent, { recursive: true })
  process.env[variable] = await mkdtemp(join(parent, 'bax-built-'))
}

export async function teardown(): Promise<void> {
  await rm(process.env[variable]!, { recursive: true, force: true })
}

/** The folder of the built program; it is everybody's: who changes anything copies it first. */
export async function builtOnce(): Promise<string> {
  const folder = process.env[variable]!
  const [dist, done] = [join(folder, 'dist'), join(folder, 'done')]
  try {
    await mkdir(join(folder, 'building'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await until(() => existsSync(done), withinMs)
    return dist
  }
  await build(dist)
  await writeFile(done, '')
  return dist
}
