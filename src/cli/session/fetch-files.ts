/** Fetches the files that commands have stored in the session, such as recordings. */
import { resolve } from 'node:path'
import type { Calls } from '../../client/calls.ts'
import type { CommandsResult } from '../../core/shapes/commands.ts'
import type { Context } from '../context.ts'
import { findEntry, type TypedCommand } from '../../lines/batch.ts'
import { saveBytes } from '../shell/save-files.ts'
import { writeThrough } from '../shell/write-through.ts'

/** Writes each stored file to the --output of its command. */
export async function fetchStored(
  { io, manifest }: Context,
  { download }: Calls,
  { results, session_id }: CommandsResult,
  typed: readonly TypedCommand[],
): Promise<void> {
  for (const { command, index, success, data } of results) {
    const output = typed[index]?.output
    const field = findEntry(command, manifest)?.stores
    if (!success || output === undefined || field === undefined) continue
    const name = String(data?.[field] ?? '')
    const { bytes } = await download('downloadSessionFile', { session_id, name }, { signal: io.signal })
    if (output === '-') for await (const chunk of bytes) await writeThrough(io.stdout, chunk)
    else await saveBytes(resolve(io.cwd, output), bytes)
  }
}
