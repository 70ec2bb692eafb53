/** Tools that run programs and use files in a container. */
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { printable } from '../../core/shapes/fields.ts'
import type { ExecResult } from '../../core/shapes/shell/exec.ts'
import { operations } from '../../operations/index.ts'
import type { Connection } from '../connection.ts'
import { artifactUri } from '../resources.ts'
import { defineTool, type ToolCall } from '../tool.ts'

const shell = printable(limits.input.nameChars).min(1).optional().describe('')

const { command, code, language, stdin, cwd } = operations.shellExec.input.shape
const { timeout_secs } = operations.shellExec.input.shape

export const shellExec = defineTool({
  name: 'shell_exec',
  description:
    'Run a command or program in a container without network. Files in /workspace stay; /output becomes resources.',
  uses: [operations.shellExec, operations.createShell],
  effect: 'destroy',
  closed: true,
  input: z.object({
    command: command.describe(''),
    code: code.describe('Program instead of a command'),
    language: language.describe(''),
    stdin: stdin.describe(''),
    cwd: cwd.describe(''),
    timeout_secs: timeout_secs.describe(''),
    shell: shell.describe('Name of another container'),
  }),
  async run({ connection, signal }, { shell: name, ...input }) {
    const session_id = await connection.openShell(name)
    const request = { ...input, session_id, max_output_bytes: limits.observe.chars }
    const result = (await connection.ask('shellExec', request, signal)) as ExecResult
    const { stdout, stderr, exit_code: exit, stdout_encoding: encoding } = result
    const notes = [
      ...(exit === 0 ? [] : [result.timed_out ? 'timed out' : `exit code ${exit}`]),
      ...(encoding === 'base64' ? ['stdout is base64'] : []),
      ...(result.warning ? [result.warning] : []),
    ]
    const links = result.artifact_id === null ? [] : await outputs(connection, result.artifact_id, signal)
    const output = [stdout.trimEnd(), ...(stderr ? [`stderr:\n${stderr.trimEnd()}`] : [])].join('\n')
    const silent = notes.length === 0 && output === '' ? ['no output'] : notes
    return { text: silent.join('\n'), page: output, links, failed: exit !== 0 }
  },
})

async function outputs(connection: Connection, artifact_id: string, signal: AbortSignal) {
  const { files } = await connection.ask('getArtifact', { artifact_id }, signal)
  return files.map(({ name, content_type: mimeType }) => ({ uri: artifactUri(artifact_id, name), name, mimeType }))
}

const { path } = operations.readShellFile.input.shape
const { content } = operations.writeShellFile.input.shape
const { query } = operations.searchShellFiles.input.shape

/** Actions of the tool on a path, by name. */
const actions = {
  async list({ connection, signal }: ToolCall, target: Target) {
    const { entries, truncated } = await connection.ask('listShellFiles', target, signal)
    const lines = entries.map(({ name, type, size }) => (type === 'directory' ? `${name}/` : `${name} ${size}`))
    if (lines.length === 0) return { text: 'the folder is empty' }
    return { ...(truncated && { text: 'the list is not complete' }), page: lines.join('\n') }
  },
  async read({ connection, signal }: ToolCall, target: Target) {
    const request = { ...target, length: limits.observe.chars }
    const { content: text, encoding, eof, size } = await connection.ask('readShellFile', request, signal)
    const notes = [
      ...(encoding === 'base64' ? ['base64'] : []),
      ...(eof ? [] : [`the first ${limits.observe.chars} of ${size} bytes`]),
    ]
    return { text: notes.join('\n'), page: text }
  },
  async write({ connection, signal }: ToolCall, target: Target, { content: text }: Fields) {
    if (text === undefined) throw new BaxError('invalid_request', 'content is required')
    const { size } = await connection.ask('writeShellFile', { ...target, content: text }, signal)
    return { text: `${size} bytes written` }
  },
  async search({ connection, signal }: ToolCall, target: Target, { query: words }: Fields) {
    if (words === undefined) throw new BaxError('invalid_request', 'query is required')
    const { matches, truncated } = await connection.ask('searchShellFiles', { ...target, query: words }, signal)
    const lines = matches.map(({ path: file, line, text }) => `${file}:${line}: ${text}`)
    return { text: `${matches.length} matches${truncated ? ', and more' : ''}`, page: lines.join('\n') }
  },
  async delete({ connection, signal }: ToolCall, target: Target) {
    const { deleted } = await connection.ask('deleteShellFile', { ...target, recursive: true }, signal)
    return { text: `${deleted} deleted` }
  },
}

type Target = { readonly session_id: string; readonly path?: string }
type Fields = { readonly content?: string | undefined; readonly query?: string | undefined }

export const shellFiles = defineTool({
  name: 'shell_files',
  description: 'List, read, write, search or delete files of the container.',
  uses: [
    operations.listShellFiles,
    operations.readShellFile,
    operations.writeShellFile,
    operations.searchShellFiles,
    operations.deleteShellFile,
  ],
  effect: 'destroy',
  closed: true,
  input: z.object({
    action: z.enum(Object.keys(actions) as (keyof typeof actions)[]).describe(''),
    path: path.describe('In /workspace'),
    content: content.optional().describe(''),
    query: query.describe(''),
    shell,
  }),
  async run(call, { action, path: at, shell: name, ...fields }) {
    const session_id = await call.connection.openShell(name)
    return actions[action](call, { session_id, ...(at !== undefined && { path: at }) }, fields)
  },
})
