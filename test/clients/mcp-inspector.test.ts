/** The command line of the MCP inspector, over standard input and output and over HTTP. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageFolder } from '../support/packages.ts'
import { type Served, serveBax, servedWithinMs } from '../support/served.ts'
import { serveSite, type Site } from '../support/site.ts'

let served: Served
let site: Site
let stateDir: string
/** The inspector needs a newer Node than bax: the program and its first arguments. */
let inspector: readonly [string, string]

beforeAll(async () => {
  site = await serveSite({ '/': '<!doctype html><title>Home</title><main><h1>Home</h1><p>Welcome</p></main>' })
  served = await serveBax()
  stateDir = await served.built.stateDir()
  const [node, folder] = await Promise.all([
    packageFolder(`node-${process.platform}-${process.arch}`, '22.23.3'),
    packageFolder('@modelcontextprotocol/inspector', '2.12.0'),
  ])
  inspector = [
    fileURLToPath(new URL('bin/node', node)),
    fileURLToPath(new URL('clients/launcher/build/index.js', folder)),
  ]
}, servedWithinMs)
afterAll(async () => {
  await served?.close()
  await site?.close()
})

async function inspect(target: readonly string[], ...args: string[]): Promise<unknown> {
  const [node, program] = inspector
  const env = { ...process.env, BAX_STATE_DIR: stateDir }
  const { stdout } = await promisify(execFile)(node, [program, '--cli', ...target, ...args], { env })
  return JSON.parse(stdout)
}

const targets = {
  // It passes few variables of its environment on.
  'bax mcp': () => [process.execPath, served.built.program, 'mcp', '--embedded', '-e', `BAX_STATE_DIR=${stateDir}`],
  '/mcp': () => [`${served.url}/mcp`, '--transport', 'http', '--header', `x-api-key: ${served.key}`],
}

test.each(Object.entries(targets))(
  '%s lists its tools, calls them and lists its prompts',
  { timeout: 120_000 },
  async (_, target) => {
    expect(await inspect(target(), '--method', 'tools/list')).toMatchObject({
      tools: expect.arrayContaining([
        expect.objectContaining({ name: 'browser_open', annotations: { readOnlyHint: true } }),
      ]),
    })
    const opened = await inspect(
      target(),
      '--method',
      'tools/call',
      '--tool-name',
      'browser_open',
      '--tool-arg',
      `url=${site.url}`,
    )
    expect(opened).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('heading "Home"') }] })
    const mapped = await inspect(
      target(),
      '--method',
      'tools/call',
      '--tool-name',
      'web_map',
      '--tool-arg',
      `url=${site.url}`,
    )
    expect(mapped).toMatchObject({ structuredContent: { links: [`${site.url}/`] } })
    expect(await inspect(target(), '--method', 'prompts/list')).toMatchObject({
      prompts: [{ name: 'use_application' }, {}, {}],
    })
  },
)
