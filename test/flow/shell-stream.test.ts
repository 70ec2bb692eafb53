import { expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import { execFrame } from '../../src/core/shapes/shell/exec.ts'
import { failureOf } from '../support/session-steps.ts'
import { homeNames } from '../support/homes.ts'
import { type AnyFrame, bytesOf, inEveryShell } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

const types = (frames: readonly AnyFrame[]) => frames.map(({ type }) => type)

inEveryShell(
  (given) => {
    const { stream, sh } = given

    test('frames are numbered, have their documented shapes, and end with exactly one exit', async () => {
      // Commands of other tests may still end, and the scan after them would take the file.
      const { session_id } = await given.create()
      const frames = await stream({ session_id, command: 'echo out; echo err >&2; echo kept > /output/file; exit 4' })
      expect(types(frames).toSorted()).toEqual(['artifact', 'exit', 'start', 'stderr', 'stdout'])
      expect(types(frames)[0]).toBe('start')
      expect(types(frames).slice(-2)).toEqual(['artifact', 'exit'])
      expect(frames.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
      for (const frame of frames) expect(execFrame.safeParse(frame).error, JSON.stringify(frame)).toBeUndefined()
      const [start] = frames
      expect(start).toMatchObject({ session_id, exec_id: expect.stringMatching(/^ex_/) })
      expect(frames.at(-1)).toMatchObject({
        exit_code: 4,
        exec_id: start!['exec_id'],
        stdout_bytes: 4,
        artifact_id: frames.at(-2)!['artifact_id'],
      })
      expect(frames.at(-1)).not.toHaveProperty('stdout')
      await given.client().deleteShell({ session_id })
    })

    test('pieces join to the exact bytes, without split characters, and as base64 if not text', async () => {
      const line = `${'ü€😀x'.repeat(5000)}\n`
      const text = await stream({ command: 'cat', stdin: line.repeat(10) })
      expect(bytesOf(text).toString()).toBe(line.repeat(10))
      const pieces = text.filter(({ type }) => type === 'stdout')
      expect(pieces.length).toBeGreaterThan(10)
      for (const { data, encoding } of pieces) {
        // On a slow machine a character may take longer than it is held back: its parts then are sent as bytes.
        if (encoding === 'base64') expect(Buffer.from(String(data), 'base64').length).toBeLessThanOrEqual(3)
        else expect(Buffer.byteLength(String(data))).toBeLessThanOrEqual(32 * 1024)
      }
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 256))
      const binary = await stream({ command: 'cat', stdin: bytes.toString('base64'), stdin_encoding: 'base64' })
      expect(bytesOf(binary).equals(bytes)).toBe(true)
      let offset = 0
      for (const frame of binary.filter(({ type }) => type === 'stdout')) {
        expect(frame['offset']).toBe(offset)
        offset += bytesOf([frame]).length
      }
    })

    test('an incomplete character is not held back forever', async () => {
      const frames: AnyFrame[] = []
      let execId = ''
      const reading = stream(
        { argv: ['sh', '-c', "printf '\\303'; read line; printf '\\274'"], keep_stdin: true },
        {
          onFrame: (frame) => void (frame.type === 'start' ? (execId = String(frame['exec_id'])) : frames.push(frame)),
        },
      )
      await waitUntil(() => frames.length > 0)
      expect(frames[0]).toMatchObject({ type: 'stdout', data: 'ww==', encoding: 'base64' })
      await given.client().writeShellExec({ exec_id: execId, data: '\n', eof: true })
      expect(bytesOf(await reading).toString()).toBe('ü')
    })

    test('accepts input while running, and streams the responses', async () => {
      const seen: string[] = []
      let execId = ''
      const reading = stream(
        { command: 'while read line; do echo "got $line"; done', keep_stdin: true, stdin: 'zero\n' },
        {
          onFrame(frame) {
            if (frame.type === 'start') execId = String(frame['exec_id'])
            if (frame.type === 'stdout') seen.push(String(frame['data']))
          },
        },
      )
      for (const [at, word] of ['zero', 'one', 'two'].entries()) {
        if (at > 0) await given.client().writeShellExec({ exec_id: execId, data: `${word}\n` })
        await waitUntil(() => seen.join('').includes(`got ${word}`))
      }
      await given.client().writeShellExec({ exec_id: execId, eof: true })
      expect((await reading).at(-1)).toMatchObject({ type: 'exit', exit_code: 0 })
    })

    test('a terminal has a size, one stream, and can be resized', async () => {
      let execId = ''
      const frames: AnyFrame[] = []
      const reading = stream(
        { command: 'test -t 0 && stty size; read line; stty size; echo err >&2', pty: { cols: 91, rows: 17 } },
        {
          onFrame: (frame) => void (frame.type === 'start' ? (execId = String(frame['exec_id'])) : frames.push(frame)),
        },
      )
      const text = () => bytesOf(frames, 'pty').toString()
      await waitUntil(() => text().includes('17 91'))
      await given.client().resizeShellExec({ exec_id: execId, cols: 100, rows: 30 })
      await given.client().writeShellExec({ exec_id: execId, data: '\n' })
      await reading
      expect(text()).toContain('30 100')
      expect(text()).toContain('err')
      expect(types(frames)).not.toContain('stdout')
      const { exec_id } = await given
        .client()
        .shellExec({ session_id: given.id(), command: 'sleep 99', background: true })
      expect(await failureOf(given.client().resizeShellExec({ exec_id, cols: 1, rows: 1 }))).toMatchObject({
        code: 'conflict',
      })
      await given.client().signalShellExec({ exec_id, signal: 'SIGKILL' })
    })

    test('a timeout is reported by the exit, with the output so far', async () => {
      const frames = await stream({ command: 'echo before; sleep 3600', timeout_secs: 2 })
      expect(bytesOf(frames).toString()).toBe('before\n')
      expect(frames.at(-1)).toMatchObject({ type: 'exit', exit_code: 124, timed_out: true, signal: 'SIGKILL' })
    })

    test('disconnecting ends the command, unless it is to continue', async () => {
      const stop = new AbortController()
      const reading = stream(
        { command: 'echo begun; sleep 8888' },
        { signal: stop.signal, onFrame: ({ type }) => void (type === 'stdout' && stop.abort()) },
      )
      await reading.catch(() => {})
      await waitUntil(async () => !(await sh('ps -o args')).stdout.includes('sleep 8888'))
    })

    test('a continuing command can be followed again after the last received frame, to the same end', async () => {
      const stop = new AbortController()
      const seen: AnyFrame[] = []
      const body = {
        command:
          'i=0; while [ $i -lt 40 ]; do echo $i; i=$((i+1)); until test -e /workspace/on || [ $i -lt 5 ]; do sleep 0.05; done; done',
        on_disconnect: 'continue',
      }
      const onFrame = (frame: AnyFrame) => {
        seen.push(frame)
        if (bytesOf(seen).toString().includes('3\n')) stop.abort()
      }
      await stream(body, { signal: stop.signal, onFrame }).catch(() => {})
      await sh('touch /workspace/on')
      const rest: AnyFrame[] = []
      const exec_id = seen[0]!['exec_id'] as string
      const last = String(seen.at(-1)!.seq)
      const answer = await given.transport().send({
        method: 'GET',
        path: `/shell/exec/${exec_id}/stream`,
        headers: { accept: 'application/x-ndjson', 'last-event-id': last },
      })
      for (const line of (await answer.text()).trim().split('\n')) rest.push(JSON.parse(line))
      const all = [...seen, ...rest]
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1))
      expect(bytesOf(all).toString()).toBe(Array.from({ length: 40 }, (_, at) => `${at}\n`).join(''))
      expect(all.at(-1)).toMatchObject({ type: 'exit', exit_code: 0 })
      const again: AnyFrame[] = []
      for await (const frame of follow(given.transport(), 'GET /shell/exec/{exec_id}/stream', { exec_id }))
        again.push(frame as AnyFrame)
      expect(again).toEqual(all)
    })

    test('a slow reader slows the program down without losing output', async () => {
      const answer = await given.transport().send({
        method: 'POST',
        path: '/shell/exec/stream',
        headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
        body: JSON.stringify({
          session_id: given.id(),
          command: 'head -c 30000000 /dev/zero; echo end > /tmp/all-written',
        }),
      })
      const frames: AnyFrame[] = []
      let rest = ''
      let inspected = false
      for await (const chunk of answer.stream()) {
        if (!inspected) {
          // Unread output stays far below thirty megabytes.
          inspected = true
          expect((await sh('test -e /tmp/all-written')).exit_code).toBe(1)
        }
        const lines = (rest + Buffer.from(chunk).toString()).split('\n')
        rest = lines.pop()!
        for (const line of lines) frames.push(JSON.parse(line))
      }
      expect(bytesOf(frames)).toHaveLength(30_000_000)
      expect(frames.at(-1)).toMatchObject({ type: 'exit', stdout_bytes: 30_000_000 })
    })

    test('failing to start is a regular error response', async () => {
      expect(await failureOf(stream({ session_id: 'sh_none', command: 'true' }))).toMatchObject({
        code: 'shell_session_not_found',
        status: 404,
      })
      expect(await failureOf(stream({ command: 'true', timeout_secs: 0 }))).toMatchObject({ code: 'invalid_request' })
      expect(await failureOf(stream({ command: 'true', cwd: '/none' }))).toMatchObject({ code: 'file_not_found' })
    })

    test('an EventSource receives IDs without event names', async () => {
      const answer = await given.transport().send({
        method: 'POST',
        path: '/shell/exec/stream',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ session_id: given.id(), command: 'echo a' }),
      })
      const blocks = (await answer.text()).split('\n\n').slice(0, -1)
      expect(blocks[0]).toMatch(/^retry: 2000\nid: 1\n/)
      for (const [at, found] of blocks.entries()) {
        const block = found.replace('retry: 2000\n', '')
        expect(block).toMatch(/^id: \d+\ndata: \{.*\}$/)
        expect(block.startsWith(`id: ${at + 1}\n`)).toBe(true)
      }
    })

    test('a deleted session ends its streams with the real exit', async () => {
      const { session_id } = await given.create()
      let started = () => {}
      const runs = new Promise<void>((resolve) => (started = resolve))
      const reading = stream(
        { session_id, command: 'echo a > /output/last; sleep 3600' },
        { onFrame: ({ type }) => void (type === 'start' && started()) },
      )
      await runs
      await waitUntil(async () => (await given.client().listShellFiles({ session_id, path: '/output' })).total === 1)
      await given.client().deleteShell({ session_id })
      expect((await reading).at(-1)).toMatchObject({ type: 'exit', exit_code: 143, signal: 'SIGTERM' })
    })
  },
  { homes: homeNames },
)
