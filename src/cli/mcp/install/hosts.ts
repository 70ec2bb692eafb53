/** Programs that start MCP servers, with the files in which they keep them. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '../../io.ts'

/** Folders of a user. */
export interface UserFolders {
  readonly home: string
  /** Folder of settings of applications: `~/.config`, `~/Library/Application Support` or `%APPDATA%`. */
  readonly settings: string
}

export function foldersOf({ env, host: { platform } }: Pick<Io, 'env' | 'host'>): UserFolders {
  const home = env['HOME'] || homedir()
  if (platform === 'win32') return { home, settings: env['APPDATA'] || join(home, 'AppData', 'Roaming') }
  if (platform === 'darwin') return { home, settings: join(home, 'Library', 'Application Support') }
  return { home, settings: env['XDG_CONFIG_HOME'] || join(home, '.config') }
}

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

export interface McpHost {
  readonly title: string
  /** File with the servers. */
  readonly file: (folders: UserFolders) => string
  /** Exists where the program is installed; by default the folder of the file. */
  readonly sign?: (folders: UserFolders) => string
  readonly format: 'json' | 'toml'
  /** Field that contains the servers by name. */
  readonly field: string
  /** Entry of a server, if it is not the command and its arguments. */
  readonly entry?: (server: ServerCommand) => object
}

const inHome =
  (...parts: string[]) =>
  ({ home }: UserFolders) =>
    join(home, ...parts)
const inSettings =
  (...parts: string[]) =>
  ({ settings }: UserFolders) =>
    join(settings, ...parts)

const withType = (server: ServerCommand) => ({ type: 'stdio', ...server })

/** Returns the path of the copy of a settings file as it was before bax changed it. */
export const backupOf = (file: string): string => `${file}.before-bax`

/** By the names of `--host`. */
export const mcpHosts: Readonly<Record<string, McpHost>> = {
  // https://code.claude.com/docs/en/mcp
  'claude-code': {
    title: 'Claude Code',
    file: inHome('.claude.json'),
    sign: inHome('.claude'),
    format: 'json',
    field: 'mcpServers',
    entry: withType,
  },
  // https://modelcontextprotocol.io/docs/develop/connect-local-servers
  'claude-desktop': {
    title: 'Claude Desktop',
    file: inSettings('Claude', 'claude_desktop_config.json'),
    format: 'json',
    field: 'mcpServers',
  },
  // https://learn.chatgpt.com/docs/extend/mcp
  codex: { title: 'Codex', file: inHome('.codex', 'config.toml'), format: 'toml', field: 'mcp_servers' },
  // https://cursor.com/docs/context/mcp
  cursor: { title: 'Cursor', file: inHome('.cursor', 'mcp.json'), format: 'json', field: 'mcpServers' },
  // https://geminicli.com/docs/tools/mcp-server/
  gemini: { title: 'Gemini CLI', file: inHome('.gemini', 'settings.json'), format: 'json', field: 'mcpServers' },
  // https://opencode.ai/docs/mcp-servers/
  opencode: {
    title: 'opencode',
    file: inHome('.config', 'opencode', 'opencode.json'),
    format: 'json',
    field: 'mcp',
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
  vscode: {
    title: 'VS Code',
    file: inSettings('Code', 'User', 'mcp.json'),
    format: 'json',
    field: 'servers',
    entry: withType,
  },
  // https://docs.windsurf.com/windsurf/cascade/mcp
  windsurf: {
    title: 'Windsurf',
    file: inHome('.codeium', 'windsurf', 'mcp_config.json'),
    format: 'json',
    field: 'mcpServers',
  },
}
