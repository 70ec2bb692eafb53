/** Memory of worker threads, with their own side of a pool. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { ThreadPool } from '../../../src/core/process/thread-pool.ts'

const source = fileURLToPath(new URL('../../../src/core/process/thread-tasks.ts', import.meta.url))

/** Fills the heap with garbage of this size, in megabytes; the result is the size of the heap before that, in bytes. */
const contents = `
import { getHeapStatistics } from 'node:v8'
import { serveTasks } from ${JSON.stringify(source)}
serveTasks(async (mb) => {
  const { total_heap_size: before } = getHeapStatistics()
  for (let left = mb, all = []; left > 0; left -= 1) all.push(new Array(2 ** 17).fill(0.5))
  return before
})`

test('idle threads return the memory of their last tasks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-test-memory-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = join(folder, 'program.mjs')
  const stdin = { contents, resolveDir: folder }
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: program, logLevel: 'error' })
  const pool = new ThreadPool<number, number>({ program, threads: 2, heapMb: 512, tasksPerThread: 1 })
  onTestFinished(() => pool.close())
  const fill = (mb: number) => Promise.all([pool.run(mb), pool.run(mb)])
  await fill(100)
  // Threads with tasks are not idle.
  await expect.poll(async () => Math.max(...(await fill(0))), { interval: 300 }).toBeLessThan(48 * 1024 * 1024)
})
