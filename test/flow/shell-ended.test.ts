/** Uploads, downloads and commands whose shell session or container ends meanwhile. */
import { describe, expect, test } from 'vitest'
import { download } from '../../src/client/client.ts'
import { labels } from '../../src/engine/shell/docker/engine-identity.ts'
import { otherClient } from '../support/docker.ts'
import { type ConnectionInParts, connectInParts } from '../support/in-parts.ts'
import { failureOf } from '../support/session-steps.ts'
import { inEveryShell } from '../support/shell.ts'
import { waitUntil } from '../support/wait.ts'

inEveryShell((given) => {
  const create = async () => (await given.create()).session_id
  const remove = (id: string) => given.client().deleteShell({ session_id: id })
  /** Kills the container of a session, as an operator can. */
  async function kill(id: string): Promise<void> {
    const docker = await otherClient()
    const [found] = await docker.listContainers({ filters: JSON.stringify({ label: [`${labels.session}=${id}`] }) })
    await docker.getContainer(found!.Id).kill()
  }
  const ends = [
    ['its session is deleted', remove, 410, 'session_closed'],
    ['its container is killed', kill, 503, 'session_lost'],
  ] as const

  describe('an upload whose client pauses', () => {
    /** Begins an upload; resolves once its first bytes are in the container. */
    async function uploadHalf(id: string): Promise<ConnectionInParts> {
      const uploading = await connectInParts(given.homes().baseUrl)
      const line = `PUT /shell/fs/raw?session_id=${id}&path=half.bin`
      await uploading.begin(line, { 'content-length': 1_000_000 }, Buffer.alloc(100_000))
      await waitUntil(async () => Number((await given.sh('cat .[!.]* * | wc -c', { session_id: id })).stdout) > 0)
      return uploading
    }

    test.each(ends)('fails when %s', async (_, end, status, code) => {
      const id = await create()
      const uploading = await uploadHalf(id)
      await end(id)
      expect(await uploading.receive()).toMatchObject({ status, body: { code } })
      // The rest is discarded, and the connection serves the next request.
      await uploading.send(Buffer.alloc(900_000))
      await uploading.begin('GET /healthz')
      expect(await uploading.receive()).toMatchObject({ status: 200 })
      uploading.socket.destroy()
    })

    test('leaves nothing in the container when its client disconnects', async () => {
      const id = await create()
      const uploading = await uploadHalf(id)
      uploading.socket.destroy()
      await waitUntil(async () => (await given.sh('ls -A', { session_id: id })).stdout === '')
      await remove(id)
    })
  })

  test.each(ends)('a download does not look complete when %s', async (_, end) => {
    const id = await create()
    await given.sh('dd if=/dev/zero of=large bs=1M count=64', { session_id: id })
    const { bytes } = await download(given.transport(), 'GET /shell/fs/raw', { session_id: id, path: 'large' })
    const reading = async () => {
      let isFirst = true
      for await (const _ of bytes) {
        if (isFirst) await end(id)
        isFirst = false
      }
    }
    expect(await failureOf(reading())).toMatchObject({
      code: 'engine_unreachable',
      message: 'the transfer was interrupted',
    })
  })

  test.each([
    ['its session is deleted', remove, { type: 'exit', signal: 'SIGTERM' }],
    ['its container is killed', kill, { type: 'error', code: 'session_lost' }],
  ] as const)('a stream of output ends with the reason when %s', async (_, end, last) => {
    const id = await create()
    let ended: Promise<unknown> | undefined
    const onFrame = ({ type }: { readonly type: string }) => void (type === 'stdout' && (ended ??= end(id)))
    const frames = await given.stream({ session_id: id, command: 'echo begun; exec sleep 5555' }, { onFrame })
    expect(frames.at(-1)).toMatchObject(last)
    await ended
  })

  test.each([
    ['its session is deleted', remove, 'conflict'],
    ['its container is killed', kill, 'session_lost'],
  ] as const)('input that its program does not read fails when %s', async (_, end, code) => {
    const id = await create()
    const started = await given
      .client()
      .shellExec({ session_id: id, command: 'exec sleep 5555', keep_stdin: true, background: true } as never)
    const { exec_id } = started as { exec_id: string }
    const data = 'x'.repeat(4 * 1024 * 1024)
    const write = () => given.client().writeShellExec({ exec_id, data })
    const writing = [failureOf(write()), failureOf(write())]
    // The second one waits for the first.
    await given.client().getShellExec({ exec_id })
    await end(id)
    for (const failure of await Promise.all(writing)) expect(failure).toMatchObject({ code })
  })
})
