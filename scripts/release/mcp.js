// Builds the bundle for programs that install MCP servers from a file (https://github.com/modelcontextprotocol/mcpb), and
// `server.json`, which describes the server to registries of MCP servers.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** The tool that checks the manifest and packs the bundle. */
const packer = '@anthropic-ai/mcpb@2.1.2'

/** Packs the program without its native parts: the host starts it with a Node of its own, on every system. */
export async function buildMcpb({ program, output, description }) {
  const folder = await mkdtemp(join(tmpdir(), 'bax-mcpb-'))
  try {
    const app = join(folder, 'bax')
    await cp(program, app, { recursive: true, filter: (path) => !/^(?:launcher-|agent$)/.test(basename(path)) })
    await writeFile(join(app, 'manifest.json'), JSON.stringify(manifest(description), null, 2))
    const file = join(output, `bax-${description.version}.mcpb`)
    const mcpb = ['exec', '--yes', `--package=${packer}`, '--', 'mcpb']
    await run('npm', [...mcpb, 'validate', join(app, 'manifest.json')])
    await run('npm', [...mcpb, 'pack', app, file])
    return file
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const manifest = ({ version, description, license, keywords, engines }) => ({
  manifest_version: '0.3',
  name: 'bax',
  display_name: 'bax',
  version,
  description,
  author: { name: 'the bax authors' },
  license,
  keywords,
  server: {
    type: 'node',
    entry_point: 'bin/bax.js',
    mcp_config: { command: 'node', args: ['${__dirname}/bin/bax.js', 'mcp'] },
  },
  tools_generated: true,
  compatibility: { runtimes: { node: engines.node } },
})

/** Writes `server.json`; its name is that of the owner of the repository, which only a release knows. */
export async function buildServerJson({ output, description: { mcpName, version, description } }) {
  if (mcpName === undefined)
    return { left: 'package.json has no mcpName; set it with "npm pkg set mcpName=io.github.OWNER/bax"' }
  const file = join(output, 'server.json')
  const server = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'bax',
    description,
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: 'bax',
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
      },
    ],
  }
  await writeFile(file, `${JSON.stringify(server, null, 2)}\n`)
  return file
}
