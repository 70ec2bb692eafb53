import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { until } from '../support/session-steps.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim()

const { version } = JSON.parse(await readFile(`${root}/package.json`, 'utf8')) as { version: string }
const image = `bax:${version}`
const absent = await docker('image', 'inspect', image).then(
  () => null,
  () => `skipped, there is no image ${image}; npm run image makes it`,
)

/** As in the README. */
const confined = [
  '--security-opt',
  `seccomp=${root}/scripts/image/seccomp.json`,
  '--security-opt',
  'no-new-privileges',
  '--cap-drop',
  'ALL',
  '--read-only',
  '--tmpfs',
  '/tmp',
]

test.skipIf(absent !== null)(
  `the server in its image: a key, a page through a sandboxed browser, and an end in peace (${absent ?? image})`,
  async () => {
    const name = `bax-test-${randomBytes(6).toString('hex')}`
    const volume = ['-v', `${name}:/var/lib/bax`]
    await docker('volume', 'create', name)
    try {
      const key = await docker('run', '--rm', ...confined, ...volume, image, 'key', 'create', 'ops', '--embedded')
      await docker('run', '-d', '--name', name, ...confined, ...volume, '-p', '127.0.0.1::4100', image)
      const url = `http://${await docker('port', name, '4100/tcp')}`
      const ask = (path: string, init: RequestInit = {}) =>
        fetch(`${url}${path}`, { ...init, headers: { 'x-api-key': key, 'content-type': 'application/json' } })
      // Docker takes connections before the server does, and may leave the first ones without an answer.
      const ready = () => ask('/readyz', { signal: AbortSignal.timeout(5000) })
      await until(() => ready().then(({ ok }) => ok, () => false), 40_000) // prettier-ignore
      expect((await fetch(`${url}/sessions`)).status).toBe(401)
      const made = (await (await ask('/sessions', { method: 'POST', body: '{}' })).json()) as { session_id: string }
      const evaluate = { command: 'evaluate', data: { expression: 'document.title = "in the image"' } }
      const body = JSON.stringify({ session_id: made.session_id, commands: [evaluate, { command: 'get_title' }] })
      const answer = (await (await ask('/commands', { method: 'POST', body })).json()) as { success: boolean }
      expect(answer).toMatchObject({ success: true })
      const processes = await docker('top', name, '-eo', 'user,pid,args')
      expect(processes).not.toMatch(/^root/m)
      expect(processes).not.toContain('--no-sandbox')
      expect(processes).not.toContain('defunct')

      await docker('stop', '--time', '30', name)
      expect(await docker('inspect', '--format', '{{.State.ExitCode}}', name)).toBe('0')
    } finally {
      await docker('rm', '-f', name).catch(() => {})
      await docker('volume', 'rm', name)
    }
  },
)
