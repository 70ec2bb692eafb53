/** Commands that follow something end when nobody reads their output any more, as in `bax session watch | head -1`. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher as native } from '../../scripts/native.js'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { noConfig } from '../support/no-config.ts'
import { titled } from '../support/needs.ts'
import { type Site, serveSite } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let built: BuiltBax
let site: Site
let folder: string
let env: Record<string, string>
const held = new Set<ServerResponse>()

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({
    '/': '<title>Start</title><h1>Start</h1><a href="/held">next</a>',
    '/held': (_, response) => void held.add(response),
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-closed-'))
  env = { PATH: process.env['PATH']!, HOME: folder, BAX_CONFIG: noConfig, BAX_STATE_DIR: await built.stateDir() }
  expect(await built.run(['session', 'create', '--name', 'shop'], { env })).toMatchObject({ code: 0 })
})
afterAll(async () => {
  for (const response of held) response.destroy()
  await built?.close()
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs a command in a pipe to `head -1`; resolves with its exit code and the first line when both have ended. */
async function intoHead(argv: readonly string[]): Promise<{ code: string; line: string }> {
  const script = `{ '${process.execPath}' '${built.program}' "$@"; echo $? > code; } | head -1`
  const child = spawn('sh', ['-c', script, 'sh', ...argv], { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let line = ''
  child.stdout.on('data', (chunk) => (line += String(chunk)))
  await new Promise((resolve) => child.on('close', resolve))
  return { code: (await readFile(join(folder, 'code'), 'utf8')).trim(), line: line.trim() }
}

const noLauncher =
  process.platform === 'linux' && (await native.compile([process.arch])).length === 0
    ? null
    : 'there is no C compiler for the launcher'

describe.skipIf(noLauncher !== null)(titled('while nothing more happens', noLauncher), () => {
  test.each([
    [['session', 'watch', 'shop', '--replay', 'all'], 'session.status'],
    [['session', 'watch', '-s', 'shop', '--replay', 'all', '--json'], '"type":"session.status"'],
    [['api', 'GET', '/stream/sse?session_id=shop&replay=all'], 'retry: '],
  ])('`bax %j` ends with 0', async (argv, text) => {
    expect(await intoHead(argv)).toEqual({ code: '0', line: expect.stringContaining(text) })
  })

  test('`bax crawl` ends with 0 and cancels the crawl', async () => {
    const { code, line } = await intoHead(['crawl', site.url, '--render', 'http', '--ndjson'])
    expect([code, JSON.parse(line)]).toEqual([
      '0',
      expect.objectContaining({ markdown: expect.stringContaining('Start') }),
    ])
    const { stdout } = await built.run(['crawl', 'list', '--json'], { env })
    expect(JSON.parse(stdout).crawls).toMatchObject([{ status: 'cancelled' }])
  })
})

test('without the launcher, a command ends at the next event', async () => {
  const launcher = await readFile(built.launcher).catch(() => null)
  await rm(built.launcher, { force: true })
  try {
    let hasEnded = false
    const ended = intoHead(['session', 'watch', 'shop', '--replay', 'all']).finally(() => (hasEnded = true))
    await waitUntil(async () => {
      await built.run(['do', '-s', 'shop', 'evaluate', 'console.log(1)'], { env })
      return hasEnded
    })
    expect(await ended).toEqual({ code: '0', line: expect.stringContaining('session.status') })
  } finally {
    if (launcher) await writeFile(built.launcher, launcher, { mode: 0o755 })
  }
})
