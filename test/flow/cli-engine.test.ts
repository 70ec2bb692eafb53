/** The local engine, as the processes of separate commands. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { serveSite, type Site } from '../support/site.ts'

let built: BuiltBax
let site: Site
beforeAll(async () => {
  ;[built, site] = await Promise.all([
    buildBax(),
    serveSite({ '/': '<title>Shop</title><button onclick="document.title = `Bought`">Buy</button>' }),
  ])
})
afterAll(async () => {
  await built.close()
  await site.close()
})

test('the first command starts it; later ones use its sessions, and `engine stop` ends it', async () => {
  const stateDir = await built.stateDir()
  const run = (...argv: string[]) => built.run(argv, { env: { BAX_STATE_DIR: stateDir } })
  expect(await run('open', site.url)).toMatchObject({ code: 0, stderr: '' })
  expect(await run('click', 'text=Buy')).toMatchObject({ code: 0, stderr: '' })
  expect(await run('get-title')).toMatchObject({ code: 0, stdout: 'Bought\n' })
  const status = JSON.parse((await run('engine', 'status', '--json')).stdout)
  expect(status).toMatchObject({ sessions: 1, pid: expect.any(Number) })
  expect((await run('engine', 'logs')).stdout).toContain(` started {"pid":${status.pid}`)
  expect(await run('engine', 'stop')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect((await run('engine', 'logs', '--lines', '1')).stdout).toContain(` ended {"pid":${status.pid}}`)
})
