/** `bax session upload`: uploads a file, or a folder file by file, to a browser session. */
import { requiredWord, textFlag, textWord } from '../../../lines/typed.ts'
import { Argument } from 'commander'
import { asBaxError, BaxError } from '../../../core/errors/errors.ts'
import type { SessionFile } from '../../../core/shapes/session-files.ts'
import { print } from '../../io.ts'
import { type LocalFile, localFiles } from '../../../client/local-file.ts'
import { fileReader } from '../../output/progress.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session upload <file> [name]',
  summary: 'Upload a file or folder to a session',
  example: ['bax session upload photo.png', 'bax session upload photos album'],
  operation: 'uploadSessionFile',
  without: ['name'],
  flags: (command) => {
    command.addArgument(new Argument('<file>', 'file or folder to upload'))
    command.addArgument(new Argument('[name]', 'name in the session; by default that of the file or folder'))
  },
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, engine, options }) => {
  const name = textWord(typed.words, 1)
  if (name === '') throw new BaxError('invalid_request', '[name] must not be empty')
  const folder = textFlag(typed.flags, 'folder')
  const locals = localFiles(io.cwd, requiredWord(typed.words, 0))
  const files: SessionFile[] = []
  for (const local of locals) {
    const where = { ...input, ...placeOf(local, name, folder) }
    const uploading = engine.upload('uploadSessionFile', where, fileReader(io)(local), options)
    const stored = await uploading.catch((error: unknown) => {
      throw withStored(error, files)
    })
    files.push(stored)
    if (!settings.json) print(io, stored.name)
  }
  if (settings.json) print(io, JSON.stringify(locals[0]?.folder === undefined ? files[0] : { files }))
})

/** Adds to an error the names of the files that were stored before it. */
function withStored(thrown: unknown, files: readonly SessionFile[]): unknown {
  if (files.length === 0) return thrown
  const { code, message, hint, details } = asBaxError(thrown)
  const stored = files.map(({ name }) => name)
  return new BaxError(code, message, {
    ...(hint && { hint }),
    details: { ...(Array.isArray(details) ? { errors: details } : details), stored },
    cause: thrown,
  })
}

/** Returns where a file is stored: `name` replaces that of the file, or of the uploaded folder that it is in. */
function placeOf(local: LocalFile, name: string | undefined, folder: string | undefined) {
  const [root, ...inner] = local.folder?.split('/') ?? []
  const path = [folder, root && (name ?? root), ...inner].filter(Boolean).join('/')
  return { name: root === undefined ? (name ?? local.name) : local.name, ...(path && { folder: path }) }
}
