import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { queryLock, acquireLock, lockName, waitForRelease } from '../../../src/core/process/process-lock.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

let count = 0
const fresh = () => `test-${process.pid}-${count++}`
const kinds = {
  'a name of the kernel': () => lockName(fresh(), folder, 'linux', 'v20.20.0'),
  'a socket file': () => lockName(fresh(), folder, 'darwin', 'v20.20.0'),
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('a lock that is %s', (kind) => {
  test('has at most one holder, however many try at once', async () => {
    const name = kinds[kind]()
    const locks = await Promise.all(Array.from({ length: 6 }, () => acquireLock(name)))
    const held = locks.filter((lock) => lock !== undefined)
    expect(held).toHaveLength(1)
    await held[0]!.release()
    const next = await acquireLock(name)
    expect(next).toBeDefined()
    await next!.release()
  })

  test('answers processes that asked before and after the answer was set', async () => {
    const name = kinds[kind]()
    expect(await queryLock(name)).toEqual({ held: false })
    const lock = (await acquireLock(name))!
    const early = queryLock(name)
    lock.publish('ready')
    expect(await early).toEqual({ held: true, line: 'ready' })
    expect(await queryLock(name)).toEqual({ held: true, line: 'ready' })
    await lock.release()
  })

  test('notifies waiting processes when it is released', async () => {
    const name = kinds[kind]()
    await waitForRelease(name)
    const lock = (await acquireLock(name))!
    lock.publish('ready')
    const released = waitForRelease(name)
    await queryLock(name)
    await lock.release()
    await released
    expect(await queryLock(name)).toEqual({ held: false })
  })

  test('aborts a wait', async () => {
    const name = kinds[kind]()
    const lock = (await acquireLock(name))!
    const reason = new Error('enough')
    await expect(queryLock(name, AbortSignal.abort(reason))).rejects.toBe(reason)
    const later = new AbortController()
    const asked = queryLock(name, later.signal)
    later.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await lock.release()
  })

  test('is free again after its process is killed', async () => {
    const name = kinds[kind]()
    const path = 'path' in name ? name.path : `${name.filesFrom}.killed.lock`
    const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('held'))`
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    expect(await acquireLock(name)).toBeUndefined()
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
    // Such a recent file could belong to a process that is about to listen.
    if ('filesFrom' in name) await utimes(path, 0, 0)
    const locks = await Promise.all(Array.from({ length: 4 }, () => acquireLock(name)))
    const held = locks.filter((lock) => lock !== undefined)
    expect(held).toHaveLength(1)
    await held[0]!.release()
    expect(await readdir(folder)).toEqual([])
  })
})

test('uses a name in the kernel where possible', () => {
  expect(lockName('x', '/s', 'linux', 'v20.8.0')).toEqual({ path: '\0bax-x' })
  expect(lockName('x', '/s', 'linux', 'v22.1.0')).toEqual({ path: '\0bax-x' })
  expect(lockName('x', '/s', 'linux', 'v20.7.0')).toEqual({ filesFrom: '/s/x' })
  expect(lockName('x', '/s', 'win32', 'v20.0.0')).toEqual({ path: '\\\\.\\pipe\\bax-lock-x' })
  expect(lockName('x', '/s', 'darwin', 'v24.0.0')).toEqual({ filesFrom: '/s/x' })
})
