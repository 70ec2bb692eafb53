/** Actions that wait for a person, in the terminal and for agents. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ApprovalRecord } from '../../src/core/access/approvals.ts'
import { buildBax, type BuiltBax, processEnv } from '../support/cli.ts'
import { callTool } from '../support/mcp.ts'
import { serveSite, type Site } from '../support/site.ts'

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

const bax = (...argv: string[]) => built.run(argv, { env })
afterEach(() => bax('close', '--all'))

const waiting = async (): Promise<ApprovalRecord[]> => {
  const { stdout } = await bax('approve', '--json')
  return stdout === '' ? [] : (JSON.parse(stdout) as { approvals: ApprovalRecord[] }).approvals
}

/** Returns the ID of the only action that waits. */
async function asked(): Promise<string> {
  await expect.poll(async () => (await waiting()).length).toBe(1)
  return (await waiting())[0]!.approval_id
}

test('a command waits, names the approval, and goes on when it is given', async () => {
  await bax('open', site.url, '--confirm', 'eval')
  const running = built.start(['eval', 'document.title'], { env })
  let stderr = ''
  running.child.stderr!.on('data', (chunk) => (stderr += String(chunk)))
  const id = await asked()
  await expect.poll(() => stderr).toContain(`bax approve ${id}`)
  expect((await bax('approve')).stdout).toMatch(
    new RegExp(`^${id}  eval by evaluate in session default, on ${site.url}/\n    document.title\n$`),
  )
  expect(await bax('approve', id)).toMatchObject({ code: 0, stderr: `approved: eval ${id}\n` })
  expect(await running.ended).toMatchObject({ code: 0, stdout: 'Home\n' })
  expect((await bax('approve')).stderr).toBe('nothing waits for approval\n')
})

test('a rejected command fails', async () => {
  const running = built.start(['do', '--new-session', '--confirm', 'eval', 'evaluate', '6 * 7'], { env })
  const id = await asked()
  expect(await bax('approve', id, '--reject')).toMatchObject({ code: 0, stderr: `rejected: eval ${id}\n` })
  expect(await running.ended).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('a person rejected eval [rejected]'),
  })
  expect(await bax('approve', id)).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('nothing waits for approval'),
  })
})

test('nothing is left of a command that is interrupted', async () => {
  await bax('open', site.url, '--confirm', 'eval')
  const running = built.start(['eval', 'document.title = "changed"'], { env })
  await asked()
  running.child.kill('SIGINT')
  expect((await running.ended).code).toBe(130)
  await expect.poll(waiting).toEqual([])
  expect((await bax('get', 'title')).stdout).toBe('Home\n')
})

test('an existing session without it is refused', async () => {
  const { stdout } = await bax('session', 'create', site.url)
  const refused = await bax('do', '-s', stdout.trim(), '--confirm', 'eval', 'get-title')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('without confirm eval') })
  expect(await bax('do', '--embedded', '--confirm', 'eval', 'get-title')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nobody can approve'),
  })
})

test('scripts wait, too', async () => {
  const script = join(env['BAX_STATE_DIR']!, 'script.yaml')
  await writeFile(script, 'steps:\n  - evaluate: 6 * 7\n    expect: { equals: 42 }\n')
  const running = built.start(['run', script, '--confirm', 'eval'], { env })
  expect((await bax('approve', await asked())).code).toBe(0)
  expect((await running.ended).code).toBe(0)
})

test('tools of agents wait and say so, and no tool approves', async () => {
  const args = [built.program, 'mcp', '--confirm', 'eval']
  const transport = new StdioClientTransport({ command: process.execPath, args, env })
  const client = new Client({ name: 'test', version: '1' })
  const notices: unknown[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void notices.push(params.data))
  await client.connect(transport)
  const { tools } = await client.listTools()
  expect(tools.filter(({ name, description }) => /approv/.test(`${name} ${description}`))).toEqual([])
  await callTool(client, 'browser_open', { url: site.url })
  const running = callTool(client, 'browser_act', { commands: ['eval document.title'] })
  const id = await asked()
  await expect.poll(() => notices).toContain(`waiting for a person to approve eval of evaluate (${id})`)
  expect((await bax('approve', '--all')).code).toBe(0)
  expect((await running).text).toContain('Home')
  const rejected = callTool(client, 'browser_act', { commands: ['eval document.title'] })
  await bax('approve', await asked(), '--reject')
  expect(await rejected).toMatchObject({ isError: true, text: expect.stringContaining('[rejected]') })
  const script = callTool(client, 'browser_script', { script: 'steps:\n  - evaluate: 6 * 7\n' })
  const ofScript = await asked()
  await expect.poll(() => notices).toContain(`waiting for a person to approve eval of evaluate (${ofScript})`)
  await bax('approve', ofScript)
  expect((await script).text).toContain('1 passed')
  const code = `return [await bax.evaluate('6 * 7'), await bax.scrape({ url: 'https://example.com' })]`
  const ofCode = callTool(client, 'browser_code', { code })
  await bax('approve', await asked())
  expect((await ofCode).text).toContain('bax has no function "scrape"')
  await client.close()
})

test('text of pages is enclosed in markers, new with every command', async () => {
  await bax('open', site.url)
  const marker = /^<(page-[0-9a-f]{8})>\nHome\n<\/\1>\n$/
  const first = (await bax('get', 'title', '--content-boundaries')).stdout
  expect(first).toMatch(marker)
  const second = await built.run(['get', 'title'], { env: { ...env, BAX_CONTENT_BOUNDARIES: 'on' } })
  expect(second.stdout).toMatch(marker)
  expect(second.stdout).not.toBe(first)
  expect((await bax('observe', '--content-boundaries')).stdout).toMatch(/^<(page-\w+)>\n[^]*Home[^]*\n<\/\1>\n$/)
  expect((await bax('get', 'title')).stdout).toBe('Home\n')
  expect(await bax('get', 'title', '--content-boundaries', '--json')).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('"code":"invalid_request"'),
  })
  const json = await built.run(['get', 'title', '--json'], { env: { ...env, BAX_CONTENT_BOUNDARIES: 'on' } })
  expect(JSON.parse(json.stdout)).toMatchObject({ success: true })
})
