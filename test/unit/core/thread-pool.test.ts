import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ThreadPool } from '../../../src/core/process/thread-pool.ts'

/** A task of these tests; the result contains the ID of the thread. */
interface Task {
  readonly say: string
  /** Crashes the thread: always, or only if this file does not exist yet. */
  readonly breaks?: true | string
  readonly throws?: true
  /** Throws an error that the program does not catch. */
  readonly raises?: true
  readonly fills?: true
  /** Adds this many megabytes to what the thread keeps in its heap. */
  readonly keepsMb?: number
  /** Never finishes. */
  readonly hangs?: true
  /** Finishes when this file exists. */
  readonly until?: string
}
interface Said {
  readonly said: string
  readonly thread: number
}

/** `serveTasks` as plain JavaScript, which Node runs without a build. */
const program = `
const { parentPort, threadId } = require('node:worker_threads')
const { existsSync, writeFileSync } = require('node:fs')
const { getHeapStatistics } = require('node:v8')
const kept = []
parentPort.on('message', ({ say, breaks, throws, raises, fills, keepsMb = 0, hangs, until }) => {
  for (let mb = 0; mb < keepsMb; mb += 1) kept.push(new Array(2 ** 17).fill(0.5))
  if (raises) throw new Error('not caught')
  if (breaks === true) process.exit(1)
  if (breaks && !existsSync(breaks)) {
    writeFileSync(breaks, '')
    process.exit(1)
  }
  while (hangs);
  while (until && !existsSync(until));
  const all = []
  while (fills) all.push(new Array(1e6).fill(0.5))
  if (throws) parentPort.postMessage({ fault: new Error('no ' + say) })
  else parentPort.postMessage({ result: { said: say, thread: threadId }, heap: getHeapStatistics().total_heap_size })
})
`
let folder: string
let path: string
const open = new Set<ThreadPool<Task, Said>>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-threads-'))
  path = join(folder, 'program.cjs')
  await writeFile(path, program)
})
afterEach(async () => {
  await Promise.all([...open].map((pool) => pool.close()))
  open.clear()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function poolOf(
  threads: number,
  more: {
    idleMs?: number
    heapMb?: number
    grown?: { heapMb: number; idleMs: number }
    longestMs?: number
    graceMs?: number
    patienceMs?: number
    tasksPerThread?: number
    reserve?: number
  } = {},
): ThreadPool<Task, Said> {
  const pool = new ThreadPool<Task, Said>({ program: path, threads, heapMb: 256, ...more })
  open.add(pool)
  return pool
}
const words = (count: number) => Array.from({ length: count }, (_, at) => `word ${at}`)

test('starts threads on demand, up to the maximum', async () => {
  const pool = poolOf(2)
  expect(pool.size).toBe(0)
  const answers = await Promise.all(words(40).map((say) => pool.run({ say })))
  expect(answers.map(({ said }) => said)).toEqual(words(40))
  const used = new Set(answers.map(({ thread }) => thread))
  expect(used.size).toBe(2)
  expect(used.has(threadId)).toBe(false)
  expect([pool.size, pool.waiting]).toEqual([2, 0])
})

test('leaves the last thread out while the others finish their tasks in time', async () => {
  const pool = poolOf(2, { patienceMs: 60_000 })
  const answers = await Promise.all(words(40).map((say) => pool.run({ say })))
  expect(new Set(answers.map(({ thread }) => thread)).size).toBe(1)
})

test('starts the last thread when tasks wait while the main thread is idle', async () => {
  const pool = poolOf(2, { patienceMs: 20 })
  const until = join(folder, 'last-thread')
  const [first, second, third] = ['one', 'two', 'three'].map((say) =>
    pool.run({ say, ...(say === 'one' && { until }) }),
  )
  const last = await third!
  expect(pool.size).toBe(2)
  await writeFile(until, '')
  expect((await first!).thread).not.toBe(last.thread)
  expect((await second!).said).toBe('two')
})

test.each([
  ['that is idle', {}],
  ['that starts for it', { patienceMs: 60_000 }],
])('moves a task from behind a long one to a thread %s', async (_, more) => {
  const pool = poolOf(2, more)
  const until = join(folder, `long-task-${Object.keys(more).length}`)
  const long = pool.run({ say: 'long', until })
  const others = words(3).map((say) => pool.run({ say }))
  expect((await Promise.all(others)).map(({ said }) => said)).toEqual(words(3))
  await writeFile(until, '')
  expect((await long).said).toBe('long')
  expect((await pool.run({ say: 'after' })).said).toBe('after')
})

test('queues unassigned tasks in order', async () => {
  const pool = poolOf(1)
  const done: string[] = []
  const all = words(5).map((say) => pool.run({ say }).then(({ said }) => done.push(said)))
  expect(pool.waiting).toBe(3)
  await Promise.all(all)
  expect(done).toEqual(words(5))
})

test('rejects only the task for which the program throws', async () => {
  const pool = poolOf(1)
  const [first, second, third] = await Promise.allSettled([
    pool.run({ say: 'a' }),
    pool.run({ say: 'b', throws: true }),
    pool.run({ say: 'c' }),
  ])
  expect(first).toMatchObject({ value: { said: 'a' } })
  expect(second).toMatchObject({ reason: { message: 'no b' } })
  expect(third).toMatchObject({ value: { said: 'c' } })
})

test('retries a task on another thread after a crash', async () => {
  const pool = poolOf(1)
  const all = [{ say: 'a' }, { say: 'b', breaks: join(folder, 'broken-once') }, { say: 'c' }].map((task) =>
    pool.run(task),
  )
  const answers = await Promise.all(all)
  expect(answers.map(({ said }) => said)).toEqual(['a', 'b', 'c'])
  expect(answers[1]!.thread).not.toBe(answers[0]!.thread)
})

test.each([
  ['thread was ended', { breaks: true }, 'worker_lost'],
  ['program crashed', { raises: true }, 'internal_error'],
] as const)('rejects a task after its %s twice, and completes the tasks behind it', async (_, task, code) => {
  const pool = poolOf(1)
  const [bad, ...good] = await Promise.allSettled([
    pool.run({ say: 'a', ...task }),
    ...words(4).map((say) => pool.run({ say })),
  ])
  expect(bad).toMatchObject({ status: 'rejected', reason: { code } })
  expect(good.map((settled) => settled.status === 'fulfilled' && settled.value.said)).toEqual(words(4))
})

test('rejects only the task that exceeds the heap limit', async () => {
  const pool = poolOf(1, { heapMb: 32 })
  await expect(pool.run({ say: 'a', fills: true })).rejects.toMatchObject({
    code: 'content_too_large',
    cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
  })
  expect(await pool.run({ say: 'b' })).toMatchObject({ said: 'b' })
})

test('ends idle threads early when the heap of one has grown', async () => {
  const grown = { heapMb: 64, idleMs: 1 }
  const [small, large] = [poolOf(1, { grown }), poolOf(1, { grown })]
  const { thread } = await small.run({ say: 'small' })
  await large.run({ say: 'large', keepsMb: 80 })
  await expect.poll(() => large.size).toBe(0)
  expect(small.size).toBe(1)
  expect((await small.run({ say: 'again' })).thread).toBe(thread)
  expect((await large.run({ say: 'small' })).said).toBe('small')
})

test('ends idle threads, and starts new ones for further tasks', async () => {
  const pool = poolOf(2, { idleMs: 1 })
  const { thread } = await pool.run({ say: 'a' })
  await expect.poll(() => pool.size).toBe(0)
  const again = await pool.run({ say: 'b' })
  expect(again.said).toBe('b')
  expect(again.thread).not.toBe(thread)
})

test('rejects pending and new tasks when closed', async () => {
  const pool = poolOf(1)
  const all = words(4).map((say) => pool.run({ say }))
  const settled = Promise.allSettled(all)
  await pool.close()
  for (const one of await settled) expect(one).toMatchObject({ reason: { code: 'shutting_down' } })
  await expect(pool.run({ say: 'late' })).rejects.toMatchObject({ code: 'shutting_down' })
  expect(pool.size).toBe(0)
})

test('terminates the thread of an aborted task, and completes the tasks behind it', async () => {
  const pool = poolOf(1)
  const patience = new AbortController()
  const hung = pool.run({ say: 'never', hangs: true }, { signal: patience.signal })
  const behind = words(4).map((say) => pool.run({ say }))
  const reason = new Error('long enough')
  patience.abort(reason)
  await expect(hung).rejects.toBe(reason)
  expect((await Promise.all(behind)).map(({ said }) => said)).toEqual(words(4))
})

test('keeps the thread of an aborted task that finishes in time', async () => {
  const pool = poolOf(1, { graceMs: 60_000 })
  const { thread } = await pool.run({ say: 'a' })
  const until = join(folder, 'finished')
  const patience = new AbortController()
  const aborted = pool.run({ say: 'b', until }, { signal: patience.signal })
  const behind = pool.run({ say: 'c' })
  patience.abort(new Error('long enough'))
  await expect(aborted).rejects.toThrow('long enough')
  await writeFile(until, '')
  expect(await behind).toEqual({ said: 'c', thread })
})

test('terminates the thread of an aborted task that does not finish in time', async () => {
  const pool = poolOf(1, { graceMs: 1 })
  const { thread } = await pool.run({ say: 'a' })
  const patience = new AbortController()
  const hung = pool.run({ say: 'never', hangs: true }, { signal: patience.signal })
  const behind = pool.run({ say: 'b' })
  patience.abort(new Error('long enough'))
  await expect(hung).rejects.toThrow('long enough')
  const answer = await behind
  expect(answer.said).toBe('b')
  expect(answer.thread).not.toBe(thread)
})

test('replaces several threads that crash, hang and exceed their heap, each with its own error', async () => {
  const pool = poolOf(3, { heapMb: 32 })
  const patience = new AbortController()
  const bad = [
    pool.run({ say: 'x', breaks: true }),
    pool.run({ say: 'y', hangs: true }, { signal: patience.signal }),
    pool.run({ say: 'z', fills: true }),
  ]
  const good = words(9).map((say) => pool.run({ say }))
  patience.abort(new Error('long enough'))
  expect(await Promise.allSettled(bad)).toMatchObject([
    { reason: { code: 'worker_lost' } },
    { reason: { message: 'long enough' } },
    { reason: { code: 'content_too_large' } },
  ])
  expect((await Promise.all(good)).map(({ said }) => said)).toEqual(words(9))
  expect(pool.size).toBeLessThanOrEqual(3)
})

test('is ready when a thread has responded', async () => {
  const pool = poolOf(1)
  pool.start()
  expect(pool.isReady).toBe(false)
  await pool.run({ say: 'a' })
  expect(pool.isReady).toBe(true)
})

test('rejects an aborted task immediately while it is queued or assigned', async () => {
  const pool = poolOf(1)
  const patience = new AbortController()
  const hung = pool.run({ say: 'never', hangs: true }, { signal: patience.signal })
  const [next, later] = [new AbortController(), new AbortController()]
  const [inHand, waiting] = [
    pool.run({ say: 'in hand', hangs: true }, { signal: next.signal }),
    pool.run({ say: 'waits', hangs: true }, { signal: later.signal }),
  ]
  const last = pool.run({ say: 'last' })
  next.abort(new Error('not now'))
  later.abort(new Error('nor this'))
  await expect(inHand).rejects.toThrow('not now')
  await expect(waiting).rejects.toThrow('nor this')
  patience.abort(new Error('enough'))
  await expect(hung).rejects.toThrow('enough')
  expect(await last).toMatchObject({ said: 'last' })
  await expect(pool.run({ say: 'no' }, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
})

test('aborts a task that exceeds the timeout, which counts from its own start', async () => {
  const pool = poolOf(1, { longestMs: 3000 })
  const hung = [1, 2].map(() => pool.run({ say: 'never', hangs: true }))
  const last = pool.run({ say: 'last' })
  for (const one of hung) await expect(one).rejects.toMatchObject({ code: 'timeout' })
  expect(await last).toMatchObject({ said: 'last' })
})

test('serves origins in turn, so that one with many tasks does not delay others', async () => {
  const pool = poolOf(1)
  const done: string[] = []
  const ask = (say: string, from: string) => pool.run({ say }, { from }).then(() => done.push(say))
  const all = [...words(6).map((say) => ask(say, 'greedy')), ask('mine', 'modest')]
  await Promise.all(all)
  // Two tasks of the busy origin were assigned before the other one arrived.
  expect(done.indexOf('mine')).toBe(2)
  expect(done.filter((say) => say !== 'mine')).toEqual(words(6))
})

test('has a thread for an origin that has none, while another one has all others', async () => {
  const pool = poolOf(2, { tasksPerThread: 1, reserve: 1 })
  const until = join(folder, 'not-greedy')
  const greedy = words(6).map((say) => pool.run({ say, until }, { from: 'greedy' }))
  expect(await pool.run({ say: 'mine' }, { from: 'modest' })).toMatchObject({ said: 'mine' })
  expect([pool.size, pool.waiting]).toEqual([3, 4])
  await writeFile(until, '')
  expect((await Promise.all(greedy)).map(({ said }) => said)).toEqual(words(6))
})

test('reports when a thread gets a task', async () => {
  const pool = poolOf(1, { tasksPerThread: 1 })
  const until = join(folder, 'reported')
  const started: string[] = []
  const ask = (say: string) => pool.run({ say, until }, { onStart: () => started.push(say) })
  const both = [ask('a'), ask('b')]
  expect(started).toEqual(['a'])
  await writeFile(until, '')
  await Promise.all(both)
  expect(started).toEqual(['a', 'b'])
})

test('rejects a task that cannot be cloned, without mixing up other results', async () => {
  const pool = poolOf(1)
  const refused = pool.run({ say: (() => {}) as unknown as string })
  const after = pool.run({ say: 'after' })
  await expect(refused).rejects.toThrow(/could not be cloned/)
  expect(await after).toMatchObject({ said: 'after' })
})
