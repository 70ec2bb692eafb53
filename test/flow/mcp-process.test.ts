/** `bax mcp` as a process of a host: its sessions end when the host is gone, however it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildBax, type BuiltBax, processEnv } from '../support/cli.ts'
import { callTool } from '../support/mcp.ts'
import { request, serve, stop } from '../support/server.ts'
import { serveSite, type Site } from '../support/site.ts'
import { tied } from '../support/tied.ts'

let built: BuiltBax
let site: Site
let env: Record<string, string>

beforeAll(async () => {
  built = await buildBax()
  site = await serveSite({ '/': '<!doctype html><title>Home</title><h1>Home</h1>' })
  env = { ...processEnv, BAX_STATE_DIR: await built.stateDir() }
})
afterAll(async () => {
  await site?.close()
  await built?.close()
})

/** Returns the number of live sessions of the local engine, whose sessions every command uses. */
async function sessions(): Promise<number> {
  const { stdout } = await built.run(['session', 'list', '--json'], { env })
  return (JSON.parse(stdout) as { sessions: unknown[] }).sessions.length
}

test('the sessions of a client are in the local engine, and end when it closes', async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [built.program, 'mcp'], env })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  expect((await callTool(client, 'browser_open', { url: site.url })).text).toContain('heading "Home"')
  await callTool(client, 'browser_open', { url: site.url, session: 'second' })
  expect(await sessions()).toBe(2)
  await client.close()
  await expect.poll(sessions).toBe(0)
})

test.each(['the local engine', 'a server'])('a crawl on %s is cancelled when its client closes', async (location) => {
  const endless = await serveSite({ '/': '<a href=/slow>slow</a>', '/slow': () => {} })
  const server = location === 'a server' ? await serve(built, [], { stateDir: await built.stateDir() }) : undefined
  const target = server ? ['--server', server.url] : []
  try {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [built.program, 'mcp', ...target],
      env,
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    const call = callTool(client, 'web_crawl', { url: endless.url })
    const failed = expect(call).rejects.toThrow()
    await expect.poll(() => endless.requests).toContain('/slow')
    await client.close()
    await failed
    // The client ends a command that does not end soon, and the engine then notices that its caller is gone.
    await expect
      .poll(async () => JSON.parse((await built.run(['crawl', 'list', '--json', ...target], { env })).stdout))
      .toMatchObject({ crawls: [{ start_url: endless.url, status: 'cancelled' }] })
  } finally {
    await endless.close()
    if (server) await stop(server)
  }
})

/** A host that opens a page, reports the response, and then hangs. */
const host = `
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, [process.argv[1], 'mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'host', version: '1' } } })
send({ method: 'notifications/initialized' })
send({ id: 2, method: 'tools/call', params: { name: 'browser_open', arguments: { url: process.argv[2] } } })
child.stdout.on('data', (chunk) => process.stdout.write(chunk))
`

test('the sessions end when the host is killed', async () => {
  const command = tied(process.execPath, ['-e', host, built.program, site.url])
  const parent = spawn(...command, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  parent.stdout.on('data', (chunk) => (output += String(chunk)))
  await expect.poll(() => output).toContain('heading \\"Home\\"')
  expect(await sessions()).toBe(1)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  await expect.poll(sessions).toBe(0)
})

test('a signal ends the command and its sessions', async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [built.program, 'mcp'], env })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  await callTool(client, 'browser_open', { url: site.url })
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  const closed = new Promise<void>((resolve) => (client.onclose = resolve))
  process.kill(transport.pid!, 'SIGTERM')
  await closed
  await expect.poll(sessions).toBe(0)
})

test('the sessions end when the command is killed', async () => {
  const transport = new StdioClientTransport({ command: process.execPath, args: [built.program, 'mcp'], env })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  await callTool(client, 'browser_open', { url: site.url })
  await callTool(client, 'browser_open', { url: site.url, session: 'second' })
  expect(await sessions()).toBe(2)
  process.kill(transport.pid!, 'SIGKILL')
  await expect.poll(sessions).toBe(0)
  await client.close()
})

test('the sessions on a server end when the command is killed', async () => {
  const server = await serve(built, [], { stateDir: await built.stateDir() })
  const live = async () => ((await request(server.url, 'GET', '/sessions')).body.sessions as unknown[]).length
  try {
    const args = [built.program, 'mcp', '--server', server.url]
    const transport = new StdioClientTransport({ command: process.execPath, args, env })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport)
    await callTool(client, 'browser_open', { url: site.url })
    expect(await live()).toBe(1)
    process.kill(transport.pid!, 'SIGKILL')
    await expect.poll(live).toBe(0)
    await client.close()
  } finally {
    await stop(server)
  }
})
