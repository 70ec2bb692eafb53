/** Resources that programs can exhaust: the process limit and folders. */
import { expect, test } from 'vitest'
import type { ListOutput, TreeOutput, SearchOutput } from '../../src/core/shapes/shell/files.ts'
import { failureOf } from '../support/session-steps.ts'
import { debian, inEveryShell } from '../support/shell.ts'

const python = (code: string) => ({ language: 'python', argv: ['python3', '-c', code] })
const bombs: Record<string, object> = {
  'forks in a session of its own': python(
    'import os\nif os.fork(): os._exit(0)\nos.setsid()\nwhile 1:\n  try: os.fork()\n  except OSError: pass',
  ),
  'is made of shell functions': { command: 'f() { f | f & }; f' },
  'ends every process as soon as it has forked': python(
    'import os\nif os.fork(): os._exit(0)\nwhile 1:\n  try:\n    if os.fork(): os._exit(0)\n  except OSError: pass',
  ),
  'kills everything around it': python(
    'import os\nif os.fork(): os._exit(0)\nwhile 1:\n  try:\n    if os.fork() == 0: os.kill(-1, 9)\n  except OSError: pass',
  ),
  'has lost the first thread of each process': python(
    'import ctypes, os, threading\nif os.fork(): os._exit(0)\ndef f():\n  while 1:\n    try: os.fork()\n    except OSError: pass\n' +
      'threading.Thread(target=f).start()\nctypes.CDLL(None).pthread_exit(0)',
  ),
}

inEveryShell(
  (given) => {
    const exec = (body: object) =>
      given.client().shellExec({ session_id: given.id(), ...body } as never) as ReturnType<typeof given.sh>
    const kill = (session_id = given.id()) => given.client().killShell({ session_id })

    test.each(Object.entries(bombs))('a fork bomb that %s does not block the next commands', async (_, bomb) => {
      for (let round = 0; round < 2; round++) {
        await exec({ timeout_secs: 20, ...bomb })
        expect(await given.sh('echo ok')).toMatchObject({ stdout: 'ok\n', exit_code: 0 })
      }
      await kill()
      expect(await kill()).toEqual({ killed: 0 })
    })

    test('a running fork bomb is killed for the next command, and both report it', async () => {
      const { session_id } = await given.create({ limits: { pids: 40 } })
      const frames: string[] = []
      let isFull: () => void
      const full = new Promise<void>((resolve) => (isFull = resolve))
      const code = 'import os\nwhile 1:\n  try: os.fork()\n  except OSError: os.write(1, b"full")'
      const bomb = given.stream(
        { session_id, ...python(code) },
        { onFrame: ({ type }) => (frames.push(type), type === 'stdout' && isFull()) },
      )
      await full
      const next = await given.sh('echo ok', { session_id })
      expect(next).toMatchObject({ stdout: 'ok\n', warning: expect.stringMatching(/^\d+ processes .*limits\.pids/) })
      expect((await bomb).at(-1)).toMatchObject({
        type: 'exit',
        exit_code: 137,
        signal: 'SIGKILL',
        warning: expect.stringContaining('limits.pids'),
      })
      await given.client().deleteShell({ session_id })
    })

    test('small commands are not killed for another one when the process limit is reached', async () => {
      const { session_id } = await given.create({ limits: { pids: 8 } })
      const started: string[] = []
      let refused: unknown
      while (refused === undefined) {
        const outcome = await exec({ session_id, argv: ['sleep', '1000'], background: true }).catch(
          (error: unknown) => error,
        )
        if (outcome instanceof Error) refused = outcome
        else started.push((outcome as { exec_id: string }).exec_id)
      }
      expect(refused).toMatchObject({ code: 'too_many_execs', hint: expect.stringContaining('bax shell kill') })
      const status = async (exec_id: string) => (await given.client().getShellExec({ exec_id })).status
      expect(new Set(await Promise.all(started.map(status)))).toEqual(new Set(['running']))
      expect(await kill(session_id)).toEqual({ killed: started.length })
      await given.client().deleteShell({ session_id })
    })

    test('a folder with the maximum number of files can be listed, walked, searched and deleted', async () => {
      const { session_id } = await given.create({ limits: { workspace_files: 20_000 } })
      const at = { session_id, path: 'd' }
      const client = given.client()
      // Their names together exceed the memory window of the agent.
      const name = (number: number) => String(number).padStart(250, '0')
      const fill = 'mkdir d; cd d; seq -f %0250.0f 1 21000 | xargs -n 4000 touch 2>&1 | tail -1'
      expect((await given.sh(fill, { session_id, timeout_secs: 60 })).stdout).toContain('No space left')
      const first = (await client.listShellFiles({ ...at, limit: 2 })) as ListOutput
      expect(first.entries.map((entry) => entry.name)).toEqual([name(1), name(2)])
      expect(first).toMatchObject({ total: 19_998, truncated: true })
      const second = (await client.listShellFiles({ ...at, limit: 2, cursor: first.next_cursor! })) as ListOutput
      expect(second.entries.map((entry) => entry.name)).toEqual([name(3), name(4)])
      const tree = (await client.shellFileTree({ ...at, max_entries: 100 })) as TreeOutput
      expect([tree.truncated, tree.root.children!.at(-1)!.name]).toEqual([true, name(100)])
      const found = (await client.searchShellFiles({ ...at, pattern: '*999' })) as SearchOutput
      const thousands = Array.from({ length: 19 }, (_, index) => `/workspace/d/${name(index * 1000 + 999)}`)
      expect(found).toMatchObject({ truncated: false, files_scanned: 19 })
      expect(found.matches.map(({ path }) => path)).toEqual(thousands)
      const write = client.writeShellFile({ session_id, path: 'more', content: '' })
      expect(await failureOf(write)).toMatchObject({
        code: 'no_space',
        status: 507,
        hint: expect.stringContaining('workspace_files'),
      })
      expect(await client.deleteShellFile({ ...at, recursive: true })).toMatchObject({ deleted: 19_999 })
      expect(await given.sh('echo alive', { session_id })).toMatchObject({ stdout: 'alive\n' })
      await client.deleteShell({ session_id })
    })
  },
  { image: debian, homes: ['embedded'] },
)
