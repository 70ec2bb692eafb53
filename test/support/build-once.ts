/** One build of the program per test run: created by the first file that needs it, and removed after the run. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { proxyVariables } from '../../src/core/config/proxy-settings.ts'
import { build } from '../../scripts/build.js'
import { waitUntil } from './wait.ts'

/** Passes the folder of the build to the test processes. */
const variable = 'BAX_TEST_BUILD'

/** Runs before all tests, in the parent of their processes; once more for each project. Returns what ends the run. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (buildFolder()) return undefined
  // The proxies of the person who runs the tests.
  for (const name of Object.keys(process.env)) if (proxyVariables.test(name)) delete process.env[name]
  // Inside the checkout, so that its packages are found.
  const parent = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
  await mkdir(parent, { recursive: true })
  // In place of the data of this person; most tests have a state folder of their own.
  const data = await mkdtemp(join(tmpdir(), 'bax-data-'))
  const built = await mkdtemp(join(parent, 'bax-built-'))
  Object.assign(process.env, { XDG_DATA_HOME: data, [variable]: built })
  return async () => {
    for (const folder of [data, built]) await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the folder of this run, for what its processes share. */
export const buildFolder = (): string => process.env[variable]!

/** Returns the folder of the built program. It is shared: copy it before changing it. */
export async function builtOnce(): Promise<string> {
  const folder = buildFolder()
  const [dist, done] = [join(folder, 'dist'), join(folder, 'done')]
  try {
    await mkdir(join(folder, 'building'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await waitUntil(() => existsSync(done))
    return dist
  }
  await build(dist)
  await writeFile(done, '')
  return dist
}
