/** Limits of the files of a session. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { FileStore, uploadFolder } from '../../../src/engine/browser/files/file-store.ts'

let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'bax-files-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

async function* bytes(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}
const { signal } = new AbortController()

test('uploads that get a number count towards the number of files, also at the same time', async () => {
  const store = new FileStore(folder, 1000)
  const full = limits.session.files
  for (let number = 1; number < full; number++) store.add(`${number}`, { path: folder, size: 0, source: 'download' })
  const upload = (text: string) => store.receive('a.txt', bytes(text), { overwrite: false, signal })
  const outcomes = await Promise.allSettled(['one', 'two', 'three'].map(upload))
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  await expect(upload('four')).rejects.toMatchObject({ code: 'no_space' })
  expect(store.list()).toHaveLength(full)
  expect(await readdir(join(folder, uploadFolder))).toHaveLength(1)
})

test('an upload ends with its signal, even if no more of it arrives', async () => {
  const store = new FileStore(folder, 1000)
  const ended = new AbortController()
  async function* stalled() {
    yield Buffer.from('begun')
    await new Promise((_, reject) => ended.signal.addEventListener('abort', reject))
  }
  const upload = store.receive('a.txt', stalled(), { overwrite: true, signal: ended.signal })
  ended.abort(new Error('the session has ended'))
  await expect(upload).rejects.toThrow('the session has ended')
  expect(store.list()).toEqual([])
  expect(await readdir(join(folder, uploadFolder))).toEqual([])
})

test('running downloads count towards the quota until they end', async () => {
  const store = new FileStore(folder, 10)
  store.countRunning('one', 6)
  await expect(store.receive('a.txt', bytes('12345'), { overwrite: true, signal })).rejects.toMatchObject({
    code: 'no_space',
  })
  store.countRunning('one', undefined)
  expect(await store.receive('a.txt', bytes('12345'), { overwrite: true, signal })).toMatchObject({ size: 5 })
})
