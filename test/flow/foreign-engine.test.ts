/** Engines that other users could pretend to be. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { localFiles } from '../../src/core/state/local-files.ts'
import { writeState } from '../../src/core/state/state-file.ts'
import { version } from '../../src/core/version.ts'
import { bax } from '../support/cli.ts'
import { tied } from '../support/tied.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'bax-foreign-'))))
afterEach(() => rm(folder, { recursive: true }))

/** Listens like an engine, as another user or as this one; `called` when a client connects. */
async function listening(uid: number | undefined) {
  const socket = join(folder, 'engine.sock')
  const program = `require('net').createServer((s) => { console.log('called'); s.destroy() }).listen('${socket}', () => console.log('up'))`
  const child = spawn(...tied(process.execPath, ['-e', program]), {
    ...(uid && { uid }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout!.on('data', (chunk) => (text += String(chunk)))
  await once(child.stdout!, 'data')
  await writeState(localFiles(folder).state, { pid: child.pid, version, started_at: new Date().toISOString(), socket })
  return {
    text: () => text,
    end: async () => {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}

const commands = [
  ['session', 'list'],
  ['session', 'create'],
  ['do', 'get-title'],
  ['engine', 'stop'],
  ['relay', 'list'],
]

describe.skipIf(process.platform === 'win32')('a local engine', () => {
  test.skipIf(process.getuid?.() !== 0)('of another user is not called', async () => {
    await chmod(folder, 0o777)
    const other = await listening(65_534)
    try {
      for (const argv of commands)
        expect(await bax(argv, { env: { BAX_STATE_DIR: folder } }), argv.join(' ')).toMatchObject({
          code: 3,
          stderr: expect.stringContaining(
            `the local engine is not trusted: ${folder}/engine.sock belongs to another user`,
          ),
        })
      const { stdout } = await bax(['complete', 'bash', '--', 'bax', 'session', 'close', ''], {
        env: { BAX_STATE_DIR: folder },
      })
      expect(stdout).not.toContain('ses_')
    } finally {
      await other.end()
    }
    expect(other.text()).toBe('up\n')
  })

  test('in a folder behind a link is called', async () => {
    const own = await listening(undefined)
    const link = `${folder}-link`
    try {
      await symlink(folder, link)
      await bax(['session', 'list'], { env: { BAX_STATE_DIR: link } })
    } finally {
      await rm(link, { force: true })
      await own.end()
    }
    expect(own.text()).toBe('up\ncalled\n')
  })

  test('in a folder that others can write to is not called', async () => {
    const own = await listening(undefined)
    await chmod(folder, 0o777)
    try {
      expect(await bax(['session', 'list'], { env: { BAX_STATE_DIR: folder } })).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`the local engine is not trusted: other users can write to ${folder}`),
      })
      await chmod(folder, 0o755)
      await bax(['session', 'list'], { env: { BAX_STATE_DIR: folder } })
    } finally {
      await own.end()
    }
    expect(own.text()).toBe('up\ncalled\n')
  })
})
