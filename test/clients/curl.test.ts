/** Runs the curl examples of the guide unchanged. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { missingPrograms, testUnless } from '../support/needs.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { busybox } from '../support/shell.ts'
import { serveSite, type Site } from '../support/site.ts'

const curlTest = testUnless(missingPrograms('bash', 'curl'))
const shellTest = testUnless(missingPrograms('bash', 'curl') ?? busybox.absent)

let served: Served
let site: Site
let folder: string
let examples: string[]

beforeAll(async () => {
  const page = await readFile(new URL('../../src/guide/clients.md', import.meta.url), 'utf8')
  const [, section] = /\n## curl\n([\s\S]*?)\n## /.exec(page)!
  site = await serveSite({ '/': '<!doctype html><title>Home</title><h1>Home</h1>' })
  const DOCKER_HOST = process.env['DOCKER_HOST']
  served = await serveBax({ ...(DOCKER_HOST && { DOCKER_HOST }) })
  examples = [...section!.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) =>
    text!
      .replaceAll('https://example.com', site.url)
      // The image built for tests.
      .replace("/shell/sessions -d '{}'", `/shell/sessions -d '{"image": "${busybox.image}"}'`),
  )
}, servedWithinMs)
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-curl-'))
})
afterEach(() => rm(folder, { recursive: true }))
afterAll(async () => {
  await served.close()
  await site.close()
})

/** Returns the output of each example, all run in one shell. */
function type(...numbers: number[]): Promise<{ code: number; out: string[]; errors: string }> {
  const script = ['set -e', ...numbers.flatMap((at) => ['echo; echo "--"', examples[at]!])].join('\n')
  const env = { PATH: process.env['PATH'], BAX_SERVER: served.url, BAX_API_KEY: served.key }
  return new Promise((resolve) => {
    execFile('bash', ['--norc', '-c', script], { cwd: folder, env }, (error, out, errors) =>
      resolve({
        code: (error?.code as number | undefined) ?? 0,
        out: out.split('--\n').slice(1),
        errors,
      }),
    )
  })
}

curlTest('scrapes a page, runs commands on a session and follows its events until it ends', async () => {
  const { code, out, errors } = await type(0, 1)
  expect([code, errors]).toEqual([0, ''])
  expect(out[0]).toContain('"markdown":"# Home')
  expect(out[0]).toMatch(/"command":"get_title".*"value":"Home"/)
  const frames = out[1]!.split('\n').filter((line) => line.startsWith('data: '))
  const types = frames.map((line) => (JSON.parse(line.slice('data: '.length)) as { type: string }).type)
  expect(types).toEqual(['page.loaded', 'session.closed'])
})

shellTest('moves files to a shell session and back', async () => {
  const { code, errors } = await type(0, 1, 2)
  expect([code, errors]).toEqual([0, ''])
  const events = await readFile(join(folder, 'events.txt'))
  expect((await readFile(join(folder, 'size.txt'), 'utf8')).trim()).toBe(String(events.length))
})

curlTest('ends with 22 at a refusal, and prints it', async () => {
  const { out } = await type(0, 3)
  expect(out[1]).toMatch(/"code":"url_blocked"[\s\S]*curl ended with 22/)
})
