/** Removal of bax, as in the guide: `bax engine stop`, then the folders of the user. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'

let built: BuiltBax
let folder: string
beforeAll(async () => {
  built = await buildBax()
  folder = await mkdtemp(join(tmpdir(), 'bax-un-'))
})
afterAll(async () => {
  await built?.close()
  await rm(folder, { recursive: true, force: true })
})

test.skipIf(process.platform !== 'linux')('an engine that is stopped leaves only the folder of its data', async () => {
  const [home, temporary] = [join(folder, 'home'), join(folder, 'tmp')]
  await Promise.all([mkdir(home), mkdir(temporary)])
  const env = {
    HOME: home,
    TMPDIR: temporary,
    XDG_DATA_HOME: undefined,
    XDG_CACHE_HOME: undefined,
    XDG_CONFIG_HOME: undefined,
  }
  const bax = (...argv: string[]) => built.run(argv, { env })
  expect(await bax('session', 'create')).toMatchObject({ code: 0 })
  expect(await bax('do', 'get-content')).toMatchObject({ code: 0 })
  expect((await readdir(temporary)).length).toBeGreaterThan(0)
  expect(await bax('engine', 'stop')).toMatchObject({ code: 0 })
  expect(await readdir(temporary)).toEqual([])
  const data = join(home, '.local/share/bax')
  const outside = (await readdir(home, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.startsWith(`${data}/`))
  expect(outside).toEqual([])
  expect((await readdir(data)).filter((name) => name.endsWith('.sock') || name === 'engine.json')).toEqual([])
})
