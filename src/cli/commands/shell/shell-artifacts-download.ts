/** `bax shell artifacts download`: downloads files of an artifact. */
import { resolve } from 'node:path'
import { Argument } from 'commander'
import { call, download } from '../../../client/client.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { operationNamed } from '../../context.ts'
import { note, print } from '../../io.ts'
import { artifactsOf, saveArtifacts, saveBytes, type Saved, targetOf } from '../../shell/save-files.ts'
import { writeThrough } from '../../shell/write-through.ts'
import { BaxError, exits } from '../../../core/errors/errors.ts'
import type { Artifact } from '../../../core/shapes/shell/artifacts.ts'
import type { Transport } from '../../../client/transport.ts'
import type { Context } from '../../context.ts'

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    command.addArgument(new Argument('<artifact-id>', 'ID of an artifact, or of a session for all its artifacts'))
    command.addArgument(new Argument('[file-name]', 'name in "bax shell artifacts list"; by default all files'))
    command.option('-o, --output <file|folder>', 'file or folder to write to; - for standard output')
  })
  const [id, name] = typed.words as [string, string | undefined]
  const output = typed.flags['output'] as string | undefined
  return withEngine(context, { when: 'ask' }, async (engine) => {
    const { paths, failed } = id.startsWith('sh_')
      ? await fromSession(context, engine.transport, id, name, output)
      : await fromArtifact(context, engine.transport, { id, name, output })
    const { io, settings } = context
    if (settings.json) print(io, JSON.stringify({ paths, ...(failed.length > 0 && { failed }) }))
    else for (const path of paths) print(io, path)
    for (const { error } of failed) note(io, `not saved: ${error}`)
    return failed.length > 0 ? exits.failed : exits.done
  })
}

async function fromSession(
  { io }: Context,
  transport: Transport,
  id: string,
  name: string | undefined,
  output = '.',
): Promise<Saved> {
  const artifacts = await artifactsOf(transport, id, io.signal)
  const selected = artifacts.map((artifact) => ({
    ...artifact,
    files: artifact.files.filter((file) => name === undefined || file.name === name),
  }))
  const saved = await saveArtifacts(transport, selected, resolve(io.cwd, output), io.signal)
  if (name !== undefined && saved.paths.length + saved.failed.length === 0)
    throw new BaxError('artifact_not_found', `no artifact of ${id} has a file ${JSON.stringify(name)}`)
  return saved
}

interface ArtifactRequest {
  readonly id: string
  readonly name: string | undefined
  readonly output: string | undefined
}

async function fromArtifact(
  { io, manifest }: Context,
  transport: Transport,
  { id, name, output }: ArtifactRequest,
): Promise<Saved> {
  if (name === undefined) {
    const http = 'GET /shell/artifacts/{artifact_id}'
    const artifact = (await call(transport, http, { artifact_id: id }, { signal: io.signal })) as Artifact
    return saveArtifacts(transport, [artifact], resolve(io.cwd, output ?? '.'), io.signal)
  }
  const { http } = operationNamed(manifest, 'downloadArtifact')
  const { bytes } = await download(transport, http, { artifact_id: id, file_name: name }, { signal: io.signal })
  if (output === '-') {
    for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
    return { paths: [], failed: [] }
  }
  const path = targetOf(io.cwd, output, name.slice(name.lastIndexOf('/') + 1))
  await saveBytes(path, bytes)
  return { paths: [path], failed: [] }
}
