/** `bax demo tour`. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'

let built: BuiltBax
let env: { BAX_STATE_DIR: string; TMPDIR: string }
beforeAll(async () => {
  built = await buildBax()
  env = { BAX_STATE_DIR: await built.stateDir(), TMPDIR: await mkdtemp(join(tmpdir(), 'bax-demo-')) }
})
afterAll(async () => {
  await built.close()
  await rm(env.TMPDIR, { recursive: true })
})

const sessions = async () => JSON.parse((await built.run(['session', 'list', '--json'], { env })).stdout) as unknown

testUnless(missingPrograms('docker'))(
  'runs five workflows, and leaves only the files that it was asked for',
  async () => {
    const folder = join(env.TMPDIR, 'tour')
    const { code, stdout, stderr } = await built.run(['demo', 'tour', '-o', folder], { env })
    expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: '' })
    expect(stdout.match(/^done {5}.*$/gm)).toHaveLength(5)
    expect(stdout).toMatch(/\$ bax get-text \.price -s tour-\w+\n {2}€114\.00/)
    expect((await readdir(folder)).toSorted()).toEqual(['basket.png', 'manual', 'order.yaml'])
    expect((await readFile(join(folder, 'basket.png'))).subarray(1, 4).toString()).toBe('PNG')
    expect(await sessions()).toMatchObject({ sessions: [] })
  },
)

test('a workflow whose needs are missing is listed as such, with the reason', async () => {
  const isolated = { ...env, DOCKER_HOST: 'unix:///nonexistent.sock', BAX_BROWSER: '/nonexistent' }
  const { code, stdout } = await built.run(['demo', 'tour'], {
    env: { ...isolated, BAX_STATE_DIR: await built.stateDir() },
  })
  expect(stdout).toMatch(/^missing {2}Open a page and act on it: /m)
  expect(stdout).toMatch(/^done {5}Read pages and a whole site$/m)
  expect(stdout).toMatch(/^missing {2}Run code in a container: /m)
  expect(code).toBe(0)
})

test('ends with its children, session and files when it is interrupted', async () => {
  const running = built.start(['demo', 'tour'], { env })
  await new Promise<void>((resolve) =>
    running.child.stdout!.on('data', (text) => /get-text \.price/.test(String(text)) && resolve()),
  )
  running.child.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
  expect(await sessions()).toMatchObject({ sessions: [] })
  expect((await readdir(env.TMPDIR)).filter((name) => name.startsWith('bax-tour-'))).toEqual([])
})
