/** Recordings of a session: HAR, trace and video. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { download } from '../../src/client/client.ts'
import { bax } from '../support/cli.ts'
import { inUsualHomes } from '../support/commands.ts'
import { serveSite, type Site } from '../support/site.ts'

const pages = {
  '/': '<!doctype html><title>Home</title><body style="background:#0a0"><h1>Home</h1>',
  '/data': '{"answer":42}',
  '/blue': '<!doctype html><title>Blue</title><body style="background:#00f"><h1>Blue</h1>',
}

interface Har {
  readonly log: {
    readonly entries: readonly {
      request: { url: string; method: string; postData?: { text: string } }
      response: { status: number; content: { text?: string } }
    }[]
  }
}

let folder: string
let elsewhere: Site
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-recording-'))
  elsewhere = await serveSite({ '/secret': '<title>Secret</title>' })
})
afterAll(async () => {
  await elsewhere?.close()
  await rm(folder, { recursive: true, force: true })
})

inUsualHomes(pages, (given) => {
  beforeEach(given.restart)

  const cli = (...argv: string[]) =>
    bax([...argv, '--server', given.homes().baseUrl], { cwd: folder, env: { BAX_SESSION: given.sessionId() } })
  const read = async (name: unknown) => {
    const http = 'GET /sessions/{session_id}/files/{name}'
    const chunks: Uint8Array[] = []
    const { bytes } = await download(given.transport(), http, { session_id: given.sessionId(), name })
    for await (const chunk of bytes) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
  /** Opens a page in another session of the same browser. */
  const visitElsewhere = async () => {
    const commands = [{ command: 'navigate_to', data: { url: `${elsewhere.url}/secret` } }]
    const { session_id, success } = await given.client().runCommands({ commands })
    expect(success).toBe(true)
    await given.client().closeSession({ session_id })
  }

  describe('a HAR', () => {
    test('has the requests of the session between start and stop, and of no other session', async () => {
      await given.open('/blue')
      await given.do('start_har')
      await visitElsewhere()
      await given.open('/')
      await given.evaluate('fetch("/data", { method: "POST", body: "sent" }).then((answer) => answer.text())')
      const { name, size, entries } = await given.do('stop_har')
      expect([name, entries]).toEqual(['network.har', 2])
      const bytes = await read(name)
      expect(bytes.length).toBe(size)
      const { log } = JSON.parse(bytes.toString()) as Har
      expect(log.entries.map(({ request, response }) => [request.method, request.url, response.status])).toEqual([
        ['GET', given.url('/'), 200],
        ['POST', given.url('/data'), 200],
      ])
      expect(log.entries[0]!.response.content.text).toContain('<h1>Home</h1>')
      expect(log.entries[1]!.request.postData!.text).toBe('sent')
      expect(log.entries[1]!.response.content.text).toBe('{"answer":42}')
    })

    test('leaves out what exceeds its limits, and says so', async () => {
      await given.open('/')
      await given.do('start_har')
      const urls = `Array.from({ length: 18 }, (_, at) => '/data?' + at + '-' + 'a'.repeat(1.9e6))`
      const fetchAll = `${urls}.reduce((done, url) => done.then(() => fetch(url)).catch(() => {}), Promise.resolve())`
      await given.do('evaluate', { expression: `${fetchAll}.then(() => 1)`, timeout_ms: 90_000 })
      const { entries, truncated } = await given.do('stop_har', { name: 'long.har' })
      expect([entries, truncated]).toEqual([17, '1 requests beyond the first 17 are missing'])
    })

    test('is fetched by the command line, and can leave out bodies', async () => {
      expect((await cli('start-har', '--no-bodies')).code).toBe(0)
      await given.open('/')
      expect(await cli('stop-har', '-o', 'out.har')).toMatchObject({ code: 0, stdout: '' })
      const { log } = JSON.parse(await readFile(join(folder, 'out.har'), 'utf8')) as Har
      expect(log.entries).toHaveLength(1)
      expect(log.entries[0]!.response.content.text).toBeUndefined()
    })

    test('is refused when one is, or is not, being recorded', async () => {
      expect(await given.fails('stop_har')).toMatchObject({ code: 'conflict' })
      await given.do('start_har')
      expect(await given.fails('start_har')).toMatchObject({ code: 'conflict' })
      expect((await given.do('stop_har', { name: 'own.har' }))['name']).toBe('own.har')
    })
  })

  test('a trace has the pages of the session, and shares its state with POST /diagnostics', async () => {
    await given.do('start_trace')
    const session_id = given.sessionId()
    await expect(given.client().traceSession({ session_id, action: 'start' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await visitElsewhere()
    await given.open('/')
    const { name, size } = await given.do('stop_trace')
    const bytes = await read(name)
    expect([name, bytes.length]).toEqual(['trace.zip', size])
    const entries = unzipSync(bytes)
    const network = Buffer.from(entries['trace.network']!).toString()
    expect(network).toContain(given.url('/'))
    expect(network).not.toContain('/secret')
    expect(await given.fails('stop_trace')).toMatchObject({ code: 'conflict' })
  })

  describe('a video', () => {
    test('shows the tab, and plays in a browser', async () => {
      await given.open('/')
      const { browsers } = await given.homes().engine.status()
      await given.do('start_video')
      const before = (await given.client().observe({ session_id: given.sessionId(), include: ['tabs'] })).tabs
      // The page of the encoder does not belong to the session.
      expect(before).toHaveLength(1)
      await given.evaluate('new Promise((done) => setTimeout(done, 700))')
      await given.open('/blue')
      await given.evaluate('new Promise((done) => setTimeout(done, 700))')
      const stopped = await given.do('stop_video')
      expect(stopped).toMatchObject({ name: 'video.webm', width: 1280, height: 720 })
      const duration = stopped['duration_ms'] as number
      expect(duration).toBeGreaterThan(1400)
      const bytes = await read('video.webm')
      expect(bytes.length).toBe(stopped['size'])
      const played = await given.evaluate(`(async () => {
        const video = document.createElement('video')
        const bytes = Uint8Array.from(atob(${JSON.stringify(bytes.toString('base64'))}), (letter) => letter.charCodeAt(0))
        video.src = window.URL.createObjectURL(new Blob([bytes], { type: 'video/webm' }))
        await new Promise((done, fail) => { video.onloadeddata = done; video.onerror = () => fail(new Error(video.error.message)) })
        const colorAt = async (time, expected) => {
          video.currentTime = time
          await new Promise((done) => { video.onseeked = done })
          const context = new OffscreenCanvas(1, 1).getContext('2d')
          // A frame can be drawn some time after its video was sought.
          for (let tries = 1; ; tries++) {
            context.drawImage(video, 640, 600, 1, 1, 0, 0, 1, 1)
            const color = [...context.getImageData(0, 0, 1, 1).data].map((value) => Math.round(value / 64))
            if (String(color) === String(expected) || tries === 50) return color
            await new Promise((done) => setTimeout(done, 100))
          }
        }
        return [video.duration, video.videoWidth, video.videoHeight, await colorAt(0.2, [0, 3, 0, 4]), await colorAt(video.duration - 0.1, [0, 0, 4, 4])]
      })()`)
      expect(played).toEqual([duration / 1000, 1280, 720, [0, 3, 0, 4], [0, 0, 4, 4]])
      expect((await given.homes().engine.status()).browsers.length).toBe(browsers.length)
    })

    test('ends with its session', async () => {
      const { session_id } = await given.client().createSession({})
      const run = (command: string) => given.client().runCommands({ session_id: session_id!, commands: [{ command }] })
      expect(await run('start_video')).toMatchObject({ success: true })
      await given.client().closeSession({ session_id: session_id! })
      await given.do('start_video')
      expect(await given.do('stop_video', { name: 'second.webm' })).toMatchObject({ name: 'second.webm' })
    })
  })
})
