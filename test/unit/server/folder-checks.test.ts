import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../../src/engine/index.ts'
import { createApp } from '../../../src/server/app.ts'
import { loopbackHosts } from '../../../src/server/access/gate.ts'
import { guardFolder } from '../../../src/server/process/folder-checks.ts'

test('a server rejects every request while its state folder is renamed or replaced', async () => {
  const above = await mkdtemp(join(tmpdir(), 'bax-folder-'))
  const stateDir = join(above, 'state')
  await mkdir(stateDir)
  const engine = createEngine({
    home: 'server',
    stateDir,
    cacheDir: above,
    display: false,
    writeAnywhere: false,
    log: () => {},
  })
  const folder = guardFolder(stateDir, () => {})
  const gate = { checkReady: folder.check, hosts: loopbackHosts, origins: new Set<string>(), keys: engine.keys }
  const app = createApp({ engine, gate })
  const ask = async (path: string) =>
    (await app.fetch(new Request(`http://localhost${path}`, { headers: { host: 'localhost' } }))).status
  try {
    expect(await ask('/profiles')).toBe(200)
    await rename(stateDir, `${stateDir}-moved`)
    expect([await ask('/profiles'), await ask('/healthz')]).toEqual([503, 200])
    await mkdir(stateDir)
    expect(await ask('/profiles')).toBe(503)
    await rm(stateDir, { recursive: true })
    await rename(`${stateDir}-moved`, stateDir)
    expect(await ask('/profiles')).toBe(200)
  } finally {
    folder.stop()
    await engine.close()
    await rm(above, { recursive: true })
  }
})
