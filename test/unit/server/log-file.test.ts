import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { limits } from '../../../src/core/limits/limits.ts'
import { openLogFile } from '../../../src/server/process/log-file.ts'
import { openLog } from '../../../src/server/process/log.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-log-'))
  path = join(folder, 'engine.log')
})
afterEach(() => rm(folder, { recursive: true }))

describe('a log file', () => {
  test('has one line per event with time, level and facts, and is readable by its owner only', async () => {
    const log = openLogFile(path)
    log('info', 'started', { pid: 7 })
    log('debug', 'unheard')
    log('error', 'failed')
    expect(await readFile(path, 'utf8')).toMatch(/^\d{4}-\S+Z info {2}started \{"pid":7\}\n\d{4}-\S+Z error failed\n$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('is rotated at the size limit, and appended to when opened again', async () => {
    await writeFile(path, `${'x'.repeat(limits.engine.logBytes - 10)}\n`)
    openLogFile(path)('info', 'one too many')
    expect((await stat(`${path}.1`)).size).toBe(limits.engine.logBytes - 9)
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2)
  })
})

const formats = {
  'a log file': async () => ({ log: openLogFile(path), read: () => readFile(path, 'utf8') }),
  'a log in JSON': () => serverLog('json'),
  'a log in text': () => serverLog('text'),
}

async function serverLog(format: 'json' | 'text') {
  let text = ''
  const log = await openLog({ level: 'info', format, write: (line) => void (text += line) })
  return { log, read: async () => text }
}

test.each(Object.entries(formats))('%s contains no secrets', async (_, open) => {
  const { log, read } = await open()
  log('info', 'GET /stream/sse?session_id=1&token=ft_secret')
  log('info', 'headers', { authorization: 'Bearer hidden', 'x-api-key': 'hidden', cookie: 'a=hidden' })
  const text = await read()
  expect(text).not.toMatch(/ft_secret|hidden/)
  expect(text.match(/\[redacted\]/g)).toHaveLength(4)
})
