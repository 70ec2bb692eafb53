/** `bax mcp install`: what is written to the settings of hosts, which start bax with it. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BuiltBax, buildBax } from '../support/cli.ts'

let built: BuiltBax
beforeAll(async () => {
  built = await buildBax()
})
afterAll(() => built.close())

/** A home folder with files, and `bax mcp install` in it. */
function homeWith(files: Record<string, string>) {
  const home = mkdtempSync(join(tmpdir(), 'bax-mcp-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const path = (name: string) => join(home, name)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), text)
  }
  const env = { HOME: home, XDG_CONFIG_HOME: '', BAX_STATE_DIR: join(home, 'state') }
  return {
    path,
    read: (name: string) => readFileSync(path(name), 'utf8'),
    install: (...argv: string[]) => built.run(['mcp', 'install', ...argv], { env, cwd: home }),
  }
}

const vscode = '.config/Code/User/mcp.json'
const cursor = '.cursor/mcp.json'
const codex = '.codex/config.toml'

describe('bax mcp install', () => {
  test('adds an entry that starts bax with the same flags', async () => {
    const { install, read, path } = homeWith({ [cursor]: '' })
    const { code, stdout } = await install('--tools', 'scrape', '--read-only', '--state-dir', 'own')
    expect([code, stdout]).toEqual([0, `Cursor: added in ${path(cursor)} (before: ${path(cursor)}.before-bax)\n`])
    const { command, args } = (JSON.parse(read(cursor)) as { mcpServers: { bax: { command: string; args: string[] } } })
      .mcpServers.bax
    expect(args.slice(-4)).toEqual(['mcp', '--tools=scrape', '--read-only', `--state-dir=${path('own')}`])
    const client = new Client({ name: 'host', version: '1' })
    await client.connect(new StdioClientTransport({ command, args, env: { PATH: '/usr/bin:/bin' } }))
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('web_scrape')
    await client.close()
  })

  test('starts a single file by its own name: it unpacks each version into another folder', async () => {
    const kind = join(dirname(dirname(built.program)), 'installation')
    writeFileSync(kind, 'single file\n')
    onTestFinished(() => rmSync(kind))
    const { install } = homeWith({})
    const { stdout } = await install('--host', 'cursor', '--print', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ hosts: [{ entry: { command: process.execPath, args: ['mcp'] } }] })
  })

  test('keeps comments, other servers, fields of a person, permissions and links', async () => {
    const before = '// mine\n{\n\t"servers": {\n\t\t"x": { "command": "y" }, // keep\n\t},\n}\n'
    const { install, read, path } = homeWith({ 'dotfiles/mcp.json': before, '.config/Code/User/keep': '' })
    symlinkSync(path('dotfiles/mcp.json'), path(vscode))
    chmodSync(path('dotfiles/mcp.json'), 0o640)
    expect((await install()).code).toBe(0)
    expect(read(vscode)).toMatch(
      /^\/\/ mine\n\{\n\t"servers": \{\n\t\t"bax": \{[^]*\t\t"x": \{ "command": "y" \}, \/\/ keep\n\t\},\n\}\n$/,
    )
    expect([lstatSync(path(vscode)).isSymbolicLink(), statSync(path(vscode)).mode & 0o777]).toEqual([true, 0o640])
    expect(read(`${vscode}.before-bax`)).toBe(before)
    writeFileSync(path(vscode), read(vscode).replace('"type": "stdio"', '"env": {"A": "b"}, "type": "stdio"'))
    expect((await install('--read-only')).code).toBe(0)
    expect(read(vscode)).toMatch(/"env": \{\s*"A": "b"\s*\}[^]*"--read-only"/)
    const again = await install('--read-only', '--json')
    expect(JSON.parse(again.stdout)).toEqual({ hosts: [{ host: 'vscode', file: path(vscode), status: 'unchanged' }] })
  })

  test('adds and replaces a table in TOML', async () => {
    const { install, read, path } = homeWith({ [codex]: 'model = "m" # mine\n\n[mcp_servers.other]\ncommand = "o"\n' })
    expect((await install()).code).toBe(0)
    writeFileSync(path(codex), `${read(codex)}\n[mcp_servers.bax.env]\nA = "b"\n\n[last]\nx = 1\n`)
    expect((await install('--read-only')).code).toBe(0)
    expect(read(codex)).toContain('model = "m" # mine\n')
    expect(parse(read(codex))).toMatchObject({
      mcp_servers: {
        other: { command: 'o' },
        bax: { args: expect.arrayContaining(['--read-only']) as string[], env: { A: 'b' } },
      },
      last: { x: 1 },
    })
  })

  test('shows the entries with --print, and writes nothing', async () => {
    const { install, read } = homeWith({ [cursor]: 'not read', [codex]: '' })
    const { code, stdout } = await install('--print')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Codex: [^]*\[mcp_servers\.bax\]\ncommand = [^]*Cursor: [^]*"mcpServers": \{/)
    expect([read(cursor), read(codex)]).toEqual(['not read', ''])
  })

  test.each([
    ['no JSON', cursor, '{"mcpServers": ', /cannot be added to .*mcp\.json: it is no valid JSON object/],
    ['servers that are a list', cursor, '{"mcpServers": []}', /mcpServers is no object/],
    ['no TOML', codex, 'a = ', /cannot be added to .*config\.toml/],
    ['an inline table', codex, 'mcp_servers = { a = { command = "b" } }\n', /cannot be added to .*config\.toml/],
  ])('writes nothing when a file has %s', async (_, name, text, reason) => {
    const { install, read } = homeWith({ [name]: text, [vscode]: '{}' })
    const { code, stderr } = await install()
    expect(code).toBe(2)
    expect(stderr).toMatch(reason)
    expect([read(name), read(vscode)]).toEqual([text, '{}'])
  })

  test('rejects unknown programs and flags that bax mcp rejects', async () => {
    const { install } = homeWith({ [vscode]: '{}' })
    expect((await install('--host', 'emacs')).stderr).toMatch(
      /--host: unknown program "emacs"[^]*use some of claude-code/,
    )
    expect((await install('--tools', 'nothing')).stderr).toMatch(/tools/)
    expect((await homeWith({}).install()).stderr).toMatch(/no program that starts MCP servers was found[^]*--host/)
  })
})
