import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HelperProcess } from '../../src/core/process/helper-process.ts'
import { makeHostProgram } from '../support/host-process.ts'
import { waitUntil } from '../support/wait.ts'

interface Task {
  readonly say?: string
  readonly refuses?: true
  readonly throws?: true
  readonly ends?: true
  /** Never finishes, unless it is aborted. */
  readonly waits?: true
}
interface Said {
  readonly said: string
  readonly from: string | null
  readonly pid: number
  /** Number of tasks that were aborted in the process. */
  readonly aborted: number
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = `
import { serveHelper } from './src/core/process/helper-tasks.ts'
import { BaxError } from './src/core/errors/errors.ts'
let aborted = 0
setInterval(() => {}, 1e6)
serveHelper(async ({ say = '', refuses, throws, ends, waits }, { from, signal }) => {
  signal.addEventListener('abort', () => aborted++)
  if (refuses) throw new BaxError('content_too_large', 'too large', { hint: 'a smaller one', details: { most: 1 } })
  if (throws) throw new Error('failed')
  if (ends) process.kill(process.pid, 'SIGKILL')
  if (waits) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  return { said: say, from, pid: process.pid, aborted }
})`

let folder: string
let program: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-helper-'))
  program = join(folder, 'helper.mjs')
  await esbuild.build({
    stdin: { contents: source, resolveDir: root, loader: 'ts' },
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const open = (more: { idleMs?: number; tasks?: number } = {}) =>
  new HelperProcess<Task, Said>({ name: 'the test process', program, idleMs: 60_000, tasks: 1000, ...more })

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('runs tasks in one other process, with their origins', async () => {
  const helper = open()
  const [first, second] = await Promise.all([helper.run({ say: 'a' }, { from: 'ann' }), helper.run({ say: 'b' })])
  expect(first).toMatchObject({ said: 'a', from: 'ann' })
  expect(second).toEqual({ said: 'b', from: null, pid: first.pid, aborted: 0 })
  expect(first.pid).not.toBe(process.pid)
})

test('rejects with the errors of the work', async () => {
  const helper = open()
  await expect(helper.run({ refuses: true })).rejects.toMatchObject({
    code: 'content_too_large',
    message: 'too large',
    hint: 'a smaller one',
    details: { most: 1 },
  })
  await expect(helper.run({ throws: true })).rejects.toThrow('failed')
})

test('aborts a task there, too', async () => {
  const helper = open()
  const leaving = new AbortController()
  const waiting = helper.run({ waits: true }, { signal: leaving.signal })
  const { pid } = await helper.run({})
  const left = new Error('left')
  leaving.abort(left)
  await expect(waiting).rejects.toBe(left)
  expect(await helper.run({})).toMatchObject({ pid, aborted: 1 })
  await expect(helper.run({}, { signal: leaving.signal })).rejects.toBe(left)
})

test('rejects the tasks of a process that ends, and starts another one', async () => {
  const helper = open()
  const { pid } = await helper.run({})
  const [ended, waiting] = await Promise.allSettled([helper.run({ ends: true }), helper.run({ waits: true })])
  for (const one of [ended, waiting]) expect(one).toMatchObject({ reason: { code: 'worker_lost' } })
  expect((await helper.run({})).pid).not.toBe(pid)
})

test('rejects tasks whose process does not start', async () => {
  const helper = new HelperProcess({
    name: 'the test process',
    program: join(folder, 'missing.mjs'),
    idleMs: 1,
    tasks: 10,
  })
  await expect(helper.run({})).rejects.toMatchObject({ code: 'worker_lost', hint: 'repeat the request' })
})

test('ends the process when it is idle', async () => {
  const { pid } = await open({ idleMs: 1 }).run({})
  await waitUntil(() => !isRunning(pid))
})

test('replaces the process after a number of tasks, when those are done', async () => {
  const helper = open({ tasks: 2 })
  const leaving = new AbortController()
  const waiting = helper.run({ waits: true }, { signal: leaving.signal })
  const { pid } = await helper.run({})
  const next = await helper.run({})
  expect([next.pid === pid, isRunning(pid)]).toEqual([false, true])
  leaving.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
  await waitUntil(() => !isRunning(pid))
})

test('the process ends with the one that started it, however that ends', async () => {
  const host = await makeHostProgram(`
    import { HelperProcess } from './src/core/process/helper-process.ts'
    const helper = new HelperProcess({ program: ${JSON.stringify(program)}, idleMs: 60_000, tasks: 10 })
    const { pid } = await helper.run({})
    helper.run({ waits: true })
    process.send(pid)`)
  try {
    const { process: parent, message: pid } = await host.start<number>()
    expect(isRunning(pid)).toBe(true)
    parent.kill('SIGKILL')
    await waitUntil(() => !isRunning(pid))
  } finally {
    await host.close()
  }
})
