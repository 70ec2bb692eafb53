/** Which actions `retry` of a script repeats. */
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

let folder: ScriptFolder
let site: Site
beforeAll(async () => {
  const blockPage = `let request = new XMLHttpRequest(); request.open('GET', '/wait', false); request.send()`
  ;[folder, site] = await Promise.all([
    scriptFolder(),
    serveSite({
      '/': `<script>window.count = 0</script><button id=b onclick="count++; this.remove(); ${blockPage}">Buy</button>
        <button id=c onclick="count++">Count</button>`,
      '/wait': (_request, response) => void setTimeout(() => response.end(), 5100),
    }),
  ])
})
afterAll(() => Promise.all([folder.close(), site.close()]))

interface Step {
  readonly status: string
  readonly tries: number
  readonly code?: string
  readonly error?: string
  readonly value?: unknown
}

async function steps(text: string, ...argv: string[]): Promise<Step[]> {
  await folder.write('script.yaml', `session: {start_url: "${site.url}"}\nsteps:\n${text}`)
  const { stdout, stderr } = await folder.run(['script.yaml', '--reporter', 'json', ...argv])
  if (!stdout) throw new Error(stderr)
  return (JSON.parse(stdout) as { scripts: { steps: Step[] }[] }).scripts[0]!.steps
}

const counted = '  - evaluate: window.count\n    save: n\n'

describe('retry', () => {
  test('does not repeat a click that was delivered', async () => {
    const click = '  - click: {selector: "#b", timeout_ms: 5000}\n    retry: 3\n    continue_on_error: true\n'
    expect(await steps(click + counted)).toMatchObject([
      {
        status: 'failed',
        tries: 1,
        code: 'timeout',
        error: expect.stringMatching(/^the click was delivered, but the page did not settle in time/) as string,
      },
      { value: 1 },
    ])
  })

  test('repeats a delivered click with repeat_delivered', async () => {
    const retry = '    retry: {count: 1, repeat_delivered: true}\n    continue_on_error: true\n'
    const click = `  - click: {selector: "#b", timeout_ms: 5000}\n${retry}`
    expect(await steps(click)).toMatchObject([{ status: 'failed', tries: 2, code: 'element_not_found' }])
  })

  test('repeats a click that was not delivered', async () => {
    const click = '  - click: {selector: "#late", timeout_ms: 700}\n    retry: 2\n'
    expect(await steps(click)).toMatchObject([{ status: 'failed', tries: 3, code: 'element_not_found' }])
  })

  test('repeats the expectation after an action, but not the action', async () => {
    const click = '  - click: "#c"\n    expect: {exists: true}\n    retry: 2\n    continue_on_error: true\n'
    expect(await steps(click + counted)).toMatchObject([{ status: 'failed', tries: 3 }, { value: 1 }])
  })

  test('does not repeat an action whose response was lost', async () => {
    const lost = await losingServer()
    const script = (step: string) => `session: ses_x\nsteps:\n  - ${step}\n    retry: 2\n`
    const tries = async (step: string) => {
      await folder.write('lost.yaml', script(step))
      const { stdout, stderr } = await folder.run(['lost.yaml', '--reporter', 'json', '--server', lost.url])
      if (!stdout) throw new Error(stderr)
      return (JSON.parse(stdout) as { scripts: { steps: Step[] }[] }).scripts[0]!.steps[0]
    }
    try {
      expect(await tries('click: "#b"')).toMatchObject({ tries: 1, code: 'engine_unreachable' })
      expect(await tries('get_title:')).toMatchObject({ tries: 3, code: 'engine_unreachable' })
    } finally {
      lost.server.close()
    }
  })
})

/** A server with one session that closes the connection on every command. */
async function losingServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      if (bytes.toString().startsWith('POST /commands')) return socket.destroy()
      const body = '{"session_id":"ses_x","status":"ready"}'
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
      )
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}
