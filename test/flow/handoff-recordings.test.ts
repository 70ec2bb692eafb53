/** Recordings and other viewers show nothing of a person's actions during a handoff. */
import { unzipSync } from 'fflate'
import type { Page } from 'playwright'
import { expect, test } from 'vitest'
import { download, follow } from '../../src/client/client.ts'
import { failureOf, valueOf } from '../support/session-steps.ts'
import { viewedSessions } from '../support/viewed-sessions.ts'
import { clickAt, takeOver, waitForFrame } from '../support/views.ts'

const page = (title: string, color: string, body = '') =>
  `<!doctype html><title>${title}</title><style>* { margin: 0; font: 20px monospace } body { background: ${color} } input { width: 400px; height: 40px }</style>${body}`

const given = viewedSessions({
  '/': page('Green', '#0f0', '<form action="/done"><input name="who" aria-label="User"></form>'),
  '/blue': page('Blue', '#00f'),
  '/done': page('Done', '#0f0', '<p>Done</p>'),
})
const { create } = given
const run = async (session_id: string, command: string, data = {}) => {
  const { results, error } = await given.homes.clients.http.runCommands({ session_id, commands: [{ command, data }] })
  expect(error).toBeUndefined()
  return results[0]!.data!
}
const read = async (session_id: string, name: unknown) => {
  const http = 'GET /sessions/{session_id}/files/{name}'
  const chunks: Uint8Array[] = []
  const { bytes } = await download(given.homes.transports.http, http, { session_id, name })
  for await (const chunk of bytes) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Asks a person, opens their view and takes control. */
async function begin(session_id: string): Promise<Page> {
  const { control_url } = await given.homes.clients.http.requestHandoff({ session_id, reason: 'log in' })
  const view = await given.views.open(control_url!)
  await waitForFrame(view)
  await takeOver(view)
  return view
}

async function finish(session_id: string, view: Page): Promise<void> {
  await view.getByRole('button', { name: 'Done' }).click()
  await view.getByText('Thank you.').waitFor()
  // Commands wait until the handoff has ended.
  await valueOf(given.homes.clients.http, session_id, '1')
}

const typeSecret = async (view: Page) => {
  await clickAt(view, 100, 20)
  await view.keyboard.type('ada.lovelace')
  await view.keyboard.press('Enter')
  await view.waitForFunction(() => document.querySelector<HTMLInputElement>('#address')!.value.includes('/done'))
}

const goTo = async (view: Page, path: string) => {
  await view.getByLabel('Address').fill(`${given.site.url}${path}`)
  await view.keyboard.press('Enter')
}

/** Waits until the canvas of a view has a color. */
const untilShown = (view: Page, color: readonly number[]) =>
  view.waitForFunction((wanted) => {
    const context = document.querySelector('canvas')!.getContext('2d')!
    return Array.from(context.getImageData(1000, 600, 1, 1).data.slice(0, 3)).every(
      (at, i) => Math.abs(at - wanted[i]!) < 60,
    )
  }, color)
const [green, blue] = [
  [0, 255, 0],
  [0, 0, 255],
]

test('a HAR lacks the requests of the person, and what they typed in later ones', async () => {
  const session_id = await create()
  await run(session_id, 'start_har')
  const view = await begin(session_id)
  await typeSecret(view)
  await finish(session_id, view)
  await run(session_id, 'refresh')
  const { name, truncated } = await run(session_id, 'stop_har')
  expect(truncated).toMatch(/^\d+ requests during a handoff are missing$/)
  const text = (await read(session_id, name)).toString()
  expect(text).toContain('/done?who=[redacted]')
  expect(text).not.toContain('lovelace')
})

test.each(['command', 'diagnostics'])(
  'a trace of a %s ends before the person gets control, and says so',
  async (by) => {
    const session_id = await create()
    const client = given.homes.clients.http
    if (by === 'command') await run(session_id, 'start_trace')
    else await client.traceSession({ session_id, action: 'start' })
    await run(session_id, 'click', { selector: 'body' })
    const view = await begin(session_id)
    expect(await failureOf(client.traceSession({ session_id, action: 'start' }))).toMatchObject({ code: 'conflict' })
    await typeSecret(view)
    await finish(session_id, view)
    const end = async () => {
      if (by !== 'command') return client.traceSession({ session_id, action: 'stop' })
      const stopped = await run(session_id, 'stop_trace')
      const trace = (await read(session_id, stopped['name'])).toString('base64')
      return { trace, truncated: stopped['truncated'] }
    }
    const { trace, truncated } = await end()
    expect(truncated).toBe('it ended when a person took control for a handoff')
    const texts = Object.values(unzipSync(Buffer.from(trace!, 'base64'))).map((bytes) => Buffer.from(bytes).toString())
    expect(texts.join('')).toContain(`"frameUrl":"${given.site.url}/"`)
    expect(texts.join('')).not.toContain('lovelace')
    await client.traceSession({ session_id, action: 'start' })
    await client.traceSession({ session_id, action: 'discard' })
  },
)

test('a video and other viewers do not show what the person sees', async () => {
  const session_id = await create()
  const { live_view_url } = await given.homes.clients.http.linkLiveView({ session_id, control: true })
  const other = await given.views.open(live_view_url)
  await untilShown(other, green!)
  await run(session_id, 'start_video')
  const view = await begin(session_id)
  const frames: string[] = []
  const stream = follow(given.homes.transports.http, 'GET /stream/sse', { session_id, types: 'frame,handoff.returned' })
  const reading = (async () => {
    for await (const frame of stream) {
      frames.push((frame as { type: string }).type)
      if (frames.at(-1) === 'handoff.returned') return
    }
  })()
  await goTo(view, '/blue')
  await untilShown(view, blue!)
  expect(
    await other.evaluate(
      () => [...document.querySelector('canvas')!.getContext('2d')!.getImageData(1000, 600, 1, 1).data][2],
    ),
  ).toBeLessThan(60)
  await goTo(view, '/done')
  await untilShown(view, green!)
  await finish(session_id, view)
  await reading
  expect(frames).toEqual(['handoff.returned'])
  const { name } = await run(session_id, 'stop_video')
  const video = (await read(session_id, name)).toString('base64')
  const player = await given.views.newPage()
  const colors = await player.evaluate(async (data) => {
    const video = document.createElement('video')
    video.src = URL.createObjectURL(await (await fetch(`data:video/webm;base64,${data}`)).blob())
    await new Promise((done) => video.addEventListener('loadeddata', done, { once: true }))
    const context = new OffscreenCanvas(1, 1).getContext('2d')!
    const seen: string[] = []
    for (let time = 0; time < video.duration; time += 0.05) {
      const sought = new Promise((done) => video.addEventListener('seeked', done, { once: true }))
      video.currentTime = time
      await sought
      // Right after a seek, there may be no frame to draw yet.
      let color: number[]
      do {
        await new Promise(requestAnimationFrame)
        context.drawImage(video, 1000, 600, 1, 1, 0, 0, 1, 1)
        color = [...context.getImageData(0, 0, 1, 1).data].map((value) => Math.round(value / 128))
      } while (color[3] === 0)
      seen.push(String(color))
    }
    return seen
  }, video)
  expect(new Set(colors)).toEqual(new Set(['0,2,0,2']))
  // Others see the page again.
  await given.homes.clients.http.runCommands({
    session_id,
    commands: [{ command: 'navigate_to', data: { url: `${given.site.url}/blue` } }],
  })
  await untilShown(other, blue!)
})

test('a recorded script has no step of the person, and says so', async () => {
  const session_id = await create()
  const client = given.homes.clients.http
  await client.recordSession({ session_id, action: 'start' })
  const view = await begin(session_id)
  await typeSecret(view)
  await view.getByRole('button', { name: /^Recording/ }).waitFor()
  await finish(session_id, view)
  const { steps } = await client.recordSession({ session_id, action: 'stop' })
  expect(JSON.stringify(steps)).not.toContain('lovelace')
  expect(steps.map(({ command }) => command)).not.toContain('press_key')
  await client.runCommands({ session_id, commands: [{ command: 'go_back' }, { command: 'go_forward' }] })
  for (const from of [1, 2, 3])
    expect((await client.getSessionScript({ session_id, from })).script).not.toContain('lovelace')
  const { events } = await client.getSessionLog({ session_id })
  const notes = events.filter(({ type }) => type === 'error').map(({ data }) => data['message'])
  expect(notes).toEqual(['what a person did for a handoff is not recorded'])
  const again = await begin(session_id)
  expect(await failureOf(client.recordSession({ session_id, action: 'start' }))).toMatchObject({ code: 'conflict' })
  await finish(session_id, again)
})
