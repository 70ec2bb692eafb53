/** `bax demo tour`. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltBax, buildBax, type Running } from '../support/cli.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'
import { descendants, isRunning } from '../support/processes.ts'
import { waitUntil } from '../support/wait.ts'

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
  'runs all workflows, and leaves only the files that it was asked for',
  async () => {
    const folder = join(env.TMPDIR, 'tour')
    const { code, stdout, stderr } = await built.run(['demo', 'tour', '-o', folder], { env })
    expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: '' })
    const [, count] = /^1 of (\d+): /m.exec(stdout)!
    expect(stdout.match(/^done {5}.*$/gm)).toHaveLength(Number(count))
    expect(stdout).toMatch(/\$ bax get-text \.price -s tour-\w+\n {2}€114\.00/)
    expect((await readdir(folder)).toSorted()).toEqual(['basket.png', 'manual', 'order.yaml'])
    expect((await readFile(join(folder, 'basket.png'))).subarray(1, 4).toString()).toBe('PNG')
    expect(await sessions()).toMatchObject({ sessions: [] })
  },
)

const noDocker = { DOCKER_HOST: 'unix:///nonexistent.sock' }

test('a workflow whose requirements are missing is listed as such, with the reason; global flags apply', async () => {
  const stateDir = await built.stateDir()
  const flags = ['--browser', '/nonexistent', '--state-dir', stateDir]
  const { code, stdout } = await built.run(['demo', 'tour', ...flags], { env: { TMPDIR: env.TMPDIR, ...noDocker } })
  expect(stdout).toMatch(/^missing {2}Open a page and act on it: /m)
  expect(stdout).toMatch(/^done {5}Read pages and a whole site$/m)
  expect(stdout).toMatch(/^missing {2}Run a script, as in CI: the configured browser cannot be used: does not exist/m)
  expect(stdout).toMatch(/^missing {2}Run code in a container: /m)
  expect(code).toBe(0)
  expect(await readdir(stateDir)).toContain('engine.json')
})

test('a workflow that fails is listed as such, and gives its exit code', async () => {
  const broken = { ...env, ...noDocker, BAX_BROWSER: '/bin/false', BAX_STATE_DIR: await built.stateDir() }
  const { code, stdout } = await built.run(['demo', 'tour'], { env: broken })
  expect(stdout).toMatch(/^failed {3}Open a page and act on it: /m)
  expect(stdout).toMatch(/^failed {3}Use your own browser: /m)
  expect(stdout).toMatch(/^missing {2}Run code in a container: /m)
  expect(code).toBe(3)
})

/** Starts the tour; resolves once it has printed a command. */
async function tourUntil(command: string): Promise<Running> {
  const running = built.start(['demo', 'tour'], { env })
  let shown = ''
  await new Promise<void>((resolve) =>
    running.child.stdout!.on('data', (text) => (shown += text).includes(`$ bax ${command}`) && resolve()),
  )
  return running
}

test('ends its session and removes its files when it is interrupted', async () => {
  const running = await tourUntil('get-text .price')
  running.child.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
  expect(await sessions()).toMatchObject({ sessions: [] })
  expect((await readdir(env.TMPDIR)).filter((name) => name.startsWith('bax-tour-'))).toEqual([])
})

test.each(['SIGINT', 'SIGKILL'] as const)('ends the browser of its relay workflow on %s', async (signal) => {
  // The engine is no child of the tour.
  await sessions()
  const running = await tourUntil('navigate-to')
  const browser = await descendants(running.child.pid!)
  expect(browser).not.toEqual([])
  running.child.kill(signal)
  await running.ended
  await waitUntil(async () => !(await Promise.all(browser.map(isRunning))).includes(true))
})
