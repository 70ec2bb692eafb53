import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax, type CliOptions } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { waitUntil } from '../support/wait.ts'

let homes: Homes
let folder: string
beforeAll(async () => {
  homes = await openHomes({ pool: { warm: 0, browsers: 1, contextsPerBrowser: 1 } })
  folder = await mkdtemp(join(tmpdir(), 'bax-cli-'))
})
afterAll(async () => {
  await homes.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (argv: string[], options: CliOptions = {}) =>
  bax(argv, { ...options, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: folder, ...options.env } })
const create = (flags: string[] = [], options?: CliOptions) =>
  run(['session', 'create', '--headless', ...flags], options)

const waiting = async () => (await homes.engine.status()).provisions

describe('`bax session create` without a free slot', () => {
  test('waits for a free slot, then prints only the ID', async () => {
    const first = (await create()).stdout.trim()
    const second = create()
    await waitUntil(async () => (await waiting()) === 1)
    await run(['session', 'close', first])
    const { code, stdout, stderr } = await second
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^ses_\S+\n$/)
    expect((await run(['do', '-s', stdout.trim(), 'evaluate', '1'])).stdout).toBe('1\n')
    await run(['session', 'close', stdout.trim()])
  })

  test('prints a provision with --no-wait, which can be queried and cancelled', async () => {
    const first = (await create()).stdout.trim()
    const provision = (await create(['--no-wait'])).stdout.trim()
    expect(provision).toMatch(/^prv_/)
    const record = JSON.parse((await run(['session', 'provision', provision, '--json'])).stdout)
    expect(record).toMatchObject({ status: 'provisioning', queue_position: 1 })
    expect((await run(['session', 'cancel', provision])).code).toBe(0)
    expect((await run(['session', 'provision', provision])).stdout).toMatch(/^status +cancelled$/m)
    await run(['session', 'close', first])
  })

  test('is cancelled by ^C', async () => {
    const first = (await create()).stdout.trim()
    const interrupt = new AbortController()
    const second = create([], { signal: interrupt.signal })
    await waitUntil(async () => (await waiting()) === 1)
    interrupt.abort('SIGINT')
    expect(await second).toMatchObject({ code: 130, stdout: '' })
    expect(await waiting()).toBe(0)
    await run(['session', 'close', first])
  })

  test('leaves no session after an interrupt', async () => {
    const before = (await homes.engine.status()).sessions
    const interrupt = new AbortController()
    const creating = create([], { signal: interrupt.signal })
    interrupt.abort('SIGINT')
    expect(await creating).toMatchObject({ code: 130, stdout: '' })
    await waitUntil(async () => (await homes.engine.status()).sessions === before)
  })

  test('prints the last answer of the engine with --json', async () => {
    const first = (await create()).stdout.trim()
    const second = create(['--json'])
    await waitUntil(async () => (await waiting()) === 1)
    await run(['session', 'close', first])
    const answer = JSON.parse((await second).stdout)
    expect(answer).toMatchObject({ status: 'ready' })
    await run(['session', 'close', answer.session_id])
  })
})
