/** A fixed program as an agent, over MCP and `bax serve`, and the search for secrets in all results of its sessions. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright'
import { expect } from 'vitest'
import { buildBax } from './cli.ts'
import { connectMcp } from './mcp.ts'
import { serve, stop } from './server.ts'
import { openViews, takeOver, waitForFrame } from './views.ts'

export type ScriptedAgent = Awaited<ReturnType<typeof startAgent>>

/** `secrets` are those that may appear nowhere; it is called for each search. */
export async function startAgent(secrets: () => readonly (string | RegExp)[]) {
  const built = await buildBax()
  const views = await openViews()
  const stateDir = await built.stateDir()
  const server = await serve(built, ['--log-level', 'debug', '--allow-private', '::1'], { stateDir })
  const env = { BAX_STATE_DIR: await built.stateDir() }
  const mcp = await connectMcp(['--caps', 'recording'], { env }, ['--server', server.url])

  const isIn = (text: string) => (secret: string | RegExp) =>
    typeof secret === 'string' ? text.includes(secret) : secret.test(text)
  const expectNoSecret = (texts: readonly string[]) => {
    for (const text of texts) {
      expect(secrets().filter(isIn(text))).toEqual([])
      // One-time codes, as forms send them.
      expect(text).not.toMatch(/\b(?:code|otp)=\d{6}\b/)
    }
  }
  let session = ''
  /** Calls a tool, which must succeed; returns its text. */
  const call = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { isError, text } = await mcp.call(name, { session, ...args })
    expect({ isError, text }).toEqual({ isError: undefined, text })
    return text
  }
  const act = (...commands: string[]) => call('browser_act', { commands })
  const read = async (path: string) => (await server.request('GET', path)).body

  /** Stops the recordings of the session; returns their texts, and those of the session's responses. */
  const traces = async (): Promise<string[]> => {
    await act('stop-har', 'stop-trace', 'stop-video')
    const paths = ['/sessions', `/sessions/${session}`, `/sessions/${session}/script`, '/credentials']
    paths.push(`/diagnostics/${session}/log`)
    const texts = (await Promise.all(paths.map(read))).map((body) => JSON.stringify(body))
    const { files } = (await read(`/sessions/${session}/files`)) as { files: { name: string }[] }
    expect(files).toHaveLength(3)
    for (const { name } of files) {
      const bytes = new Uint8Array(await (await fetch(`${server.url}/sessions/${session}/files/${name}`)).arrayBuffer())
      const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b
      const parts = isZip ? Object.values(unzipSync(bytes)) : [bytes]
      texts.push(...parts.map((part) => Buffer.from(part).toString('latin1')))
    }
    return texts
  }

  return {
    views,
    call,
    act,
    /** Stores a credential, which agents cannot do. */
    async store(credential: Record<string, unknown>): Promise<void> {
      const { status, body } = await server.request('POST', '/credentials', credential)
      expect({ status, body }).toMatchObject({ status: 200 })
    },
    /** Calls a tool, which must fail; returns its text. */
    async fails(name: string, args: Record<string, unknown>): Promise<string> {
      const { isError, text } = await mcp.call(name, { session, ...args })
      expect({ isError, text }).toEqual({ isError: true, text })
      return text
    },
    /** Opens a page, and records everything that happens. */
    async open(url: string): Promise<void> {
      session = (await server.request('POST', '/sessions', { headless: true, replay: true })).body.session_id
      await call('browser_open', { url })
      await act('start-har', 'start-trace', 'start-video')
    },
    /** Hands over to a person, who takes control in the live view; returns the result after Done, or after `until`. */
    async handOver(reason: string, person: (view: Page) => Promise<void>, until?: string): Promise<string> {
      const asked = await call('browser_handoff', { reason, until })
      const [, url, handoff_id] = /^give this URL to the user: (\S+)\nthen .* (hnd_\S+) to wait$/.exec(asked)!
      const view = await views.open(url!)
      await waitForFrame(view)
      await takeOver(view)
      await person(view)
      if (!until) await view.getByRole('button', { name: 'Done' }).click()
      return call('browser_handoff', { handoff_id })
    },
    /** Searches the recordings and responses of the session for secrets, and closes it. `part` must appear in them. */
    async finish(part: string): Promise<void> {
      await views.clear()
      const texts = await traces()
      expect(texts.filter((text) => text.includes(part)).length).toBeGreaterThan(3)
      const replay = await (await fetch(`${server.url}/diagnostics/${session}/replay`)).text()
      const pages = gunzipSync(Buffer.from(/id="pages">([^<]+)/.exec(replay)![1]!, 'base64')).toString()
      expect(pages).toContain('<html')
      expectNoSecret([...texts, replay, pages, mcp.output.join('')])
      await server.request('DELETE', `/sessions/${session}`)
    },
    /** Ends everything after a search of the server's output and of its stored files. */
    async close(credentials: number): Promise<void> {
      await mcp.close()
      expect(await stop(server)).toBe(0)
      const { stdout, stderr } = await server.ended
      expect(stderr).toContain('/sessions/')
      expectNoSecret([stdout, stderr])
      const stored = await readdir(stateDir, { recursive: true, withFileTypes: true })
      const files = stored.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      expect(files.filter((file) => file.includes('/credentials/'))).toHaveLength(credentials)
      expectNoSecret(await Promise.all(files.map((file) => readFile(file, 'latin1'))))
      await views.close()
      await built.close()
    },
  }
}
