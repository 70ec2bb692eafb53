/** `bax shell artifacts download`: downloads files of an artifact. */
import { requiredWord, textFlag, textWord } from '../../../lines/typed.ts'
import { resolve } from 'node:path'
import { Argument } from 'commander'
import type { Calls } from '../../../client/calls.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import type { Context } from '../../context.ts'
import { note, print } from '../../io.ts'
import {
  artifactsOf,
  isStdout,
  noteSkipped,
  saveArtifacts,
  saveBytes,
  type Saved,
  targetOf,
} from '../../shell/save-files.ts'
import { writeThrough } from '../../shell/write-through.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'

export const command: TerminalCommand = {
  cli: 'shell artifacts download <artifact-id> [file-name]',
  summary: 'Download the output files of commands',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<artifact-id>', 'ID of an artifact, or of a session for all its artifacts'))
      command.addArgument(new Argument('[file-name]', 'name in "bax shell artifacts list"; by default all files'))
      command.option('-o, --output <file|folder>', 'file or folder to write to; - for standard output')
    })
    const id = requiredWord(typed.words, 0)
    const name = textWord(typed.words, 1)
    const output = textFlag(typed.flags, 'output')
    const { io, settings } = context
    return withEngine(context, { when: 'ask' }, async (engine) => {
      const { paths, failed } = await save({ io, engine, id, name, output })
      if (settings.json) print(io, JSON.stringify({ paths, ...(failed.length > 0 && { failed }) }))
      else for (const path of paths) print(io, path)
      for (const { error } of failed) note(io, `not saved: ${error}`)
      if (failed.some(({ code }) => code !== 'invalid_request')) return exits.internal
      return failed.length > 0 ? exits.failed : exits.done
    })
  },
}

interface ArtifactRequest extends Pick<Context, 'io'> {
  readonly engine: Calls
  readonly id: string
  readonly name: string | undefined
  readonly output: string | undefined
}

async function save(request: ArtifactRequest): Promise<Saved> {
  const { io, engine, id, name, output = '.' } = request
  const folder = resolve(io.cwd, output)
  if (id.startsWith('sh_')) {
    const artifacts = await artifactsOf(engine, id, io.signal)
    const selected = artifacts.map((artifact) => ({
      ...artifact,
      files: artifact.files.filter((file) => name === undefined || file.name === name),
    }))
    const saved = await saveArtifacts(engine, selected, folder, io.signal)
    if (name === undefined) noteSkipped(io, artifacts)
    else if (saved.paths.length + saved.failed.length === 0)
      throw new BaxError('artifact_not_found', `no artifact of ${id} has a file ${JSON.stringify(name)}`)
    return saved
  }
  if (name !== undefined) return saveFile(request, name)
  const artifact = await engine.ask('getArtifact', { artifact_id: id }, { signal: io.signal })
  const saved = await saveArtifacts(engine, [artifact], folder, io.signal)
  noteSkipped(io, [artifact])
  return saved
}

async function saveFile(request: ArtifactRequest, file_name: string): Promise<Saved> {
  const { io, engine, id, output } = request
  const file = { artifact_id: id, file_name }
  const { bytes } = await engine.download('downloadArtifact', file, { signal: io.signal })
  if (isStdout(output)) {
    for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
    return { paths: [], failed: [] }
  }
  const path = await targetOf(io.cwd, output, file_name.split('/').at(-1)!)
  await saveBytes(path, bytes)
  return { paths: [path], failed: [] }
}
