import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { noFullBrowser, testUnless } from '../support/needs.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-doctor-'))
})
afterAll(() => rm(folder, { recursive: true }))

interface Check {
  readonly name: string
  readonly ok: boolean
  readonly found: string
  readonly mend?: string
  readonly looked?: string[]
}

const doctor = async (env: Record<string, string>) => {
  const { code, stdout } = await bax(['doctor', '--json'], { env: { BAX_STATE_DIR: join(folder, 'state'), ...env } })
  const answer = JSON.parse(stdout) as { success: boolean; checks: Check[] }
  return { code, success: answer.success, check: (name: string) => answer.checks.find((check) => check.name === name) }
}

describe('`bax doctor`', () => {
  test('reports a ready machine, and where everything was found', async () => {
    const { code, stdout } = await bax(['doctor'], { env: { BAX_STATE_DIR: join(folder, 'state') } })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^✓ node +v\d+\./m)
    expect(stdout).toMatch(/^✓ browser +\/\S+ \((?:headless-shell|chromium), \w+, \d+\.[\d.]+\)$/m)
    expect(stdout).toMatch(/^ +used for headless sessions, scrape, crawl, search$/m)
    expect(stdout).toMatch(/^ +used for disable_automation_detection, browser windows$/m)
    expect(stdout).toContain(join(folder, 'state'))
    expect(stdout).toMatch(/^✓ local engine +not running; commands start it when needed$/m)
  })

  test('exits 3 if the browser is missing, with the inspected places and the fix', async () => {
    const { code, success, check } = await doctor({ BAX_BROWSER: '/nonexistent/chromium' })
    expect([code, success]).toEqual([3, false])
    expect(check('browser')).toMatchObject({ ok: false, looked: ['/nonexistent/chromium: does not exist'] })
    expect(check('browser')!.mend).toContain('BAX_BROWSER')
  })

  test('exits 3 if the browser does not start, with the reason', async () => {
    const path = join(folder, 'broken-chromium')
    await writeFile(path, '#!/bin/sh\necho "error while loading shared libraries: libnss3.so" >&2\nexit 127\n')
    await chmod(path, 0o755)
    const { code, check } = await doctor({ BAX_BROWSER: path })
    expect(code).toBe(3)
    expect(check('browser')).toMatchObject({ ok: false, found: expect.stringContaining('libnss3.so') })
  })

  test('exits 3 if the state folder cannot be used', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const { code, check } = await doctor({ BAX_STATE_DIR: file })
    expect(code).toBe(3)
    expect(check('state folder')).toMatchObject({ ok: false })
  })

  test('exits 3 if the configured server does not answer', async () => {
    const { code, check } = await doctor({ BAX_SERVER: 'http://127.0.0.1:9' })
    expect(code).toBe(3)
    expect(check('server')).toMatchObject({ ok: false })
  })

  test("reports that root's browsers run without a sandbox, and succeeds", async () => {
    const { check } = await doctor({})
    if (process.getuid?.() === 0)
      expect(check('sandbox')).toMatchObject({ ok: false, found: expect.stringContaining('--no-sandbox') })
    else expect(check('sandbox')).toMatchObject({ ok: true })
  })

  test('exits 3 if the sandbox of another user cannot start, with the reason', async () => {
    const path = join(folder, 'caged-chromium')
    const script =
      '[ "$1" = --version ] && echo Chromium 150.0.1.2 && exit\necho "[FATAL] No usable sandbox!" >&2\nexit 1\n'
    await writeFile(path, `#!/bin/sh\n${script}`)
    await chmod(path, 0o755)
    const { code, stdout } = await bax(['doctor', '--json'], {
      env: { BAX_STATE_DIR: join(folder, 'state'), BAX_BROWSER: path },
      uid: 10_001,
    })
    expect(code).toBe(3)
    expect((JSON.parse(stdout) as { checks: Check[] }).checks.find(({ name }) => name === 'sandbox')).toMatchObject({
      ok: false,
      needed: true,
      found: 'no browser starts, because this user may not create user namespaces',
    })
  })

  test('succeeds if an optional requirement is missing', async () => {
    const { code, check } = await doctor({ DOCKER_HOST: 'unix:///nonexistent/docker.sock' })
    expect(code).toBe(0)
    expect(check('docker')).toMatchObject({ ok: false })
    expect(check('docker')!.mend).toContain('Docker')
    expect(check('display')).toMatchObject({ ok: false })
    expect((await doctor({ DISPLAY: ':7' })).check('display')).toMatchObject({ ok: true })
  })
})

describe('`bax setup`', () => {
  // Run only if nothing is missing: tests must not install anything.
  const setup = (...flags: string[]) => bax(['setup', ...flags], { env: { BAX_STATE_DIR: join(folder, 'state') } })

  test('accepts the headless shell with --no-full', async () => {
    expect(await setup('--no-full')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^(\/\S+\n){1,2}$/),
      stderr: '',
    })
  })

  testUnless(noFullBrowser)('prints the paths of both installed browsers', async () => {
    expect(await setup()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(\/\S+\n){1,2}$/), stderr: '' })
    const { stdout } = await setup('--full', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ attempts: [], full: { kind: 'chromium' } })
  })
})
