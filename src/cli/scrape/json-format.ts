/** Flags `--prompt` and `--schema`, which request the json format. */
import { mappingOf } from '../../core/text/is-mapping.ts'
import { textFlag, textFlags } from '../../lines/typed.ts'
import type { Command } from 'commander'
import type { Unchecked } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { fileText, type TypedArguments } from '../../lines/values.ts'

/** Adds the two flags to a command. */
export const addJsonFlags = (command: Command): Command =>
  command
    .option('--prompt <text>', 'description of the data for the json format')
    .option('--schema <json|@file>', 'JSON schema of the data for the json format')

/** Adds the json format with the options of the two flags to a request. */
export function withJsonFormat(input: Unchecked, flags: TypedArguments['flags'], cwd: string): Unchecked {
  const prompt = textFlag(flags, 'prompt')
  const schema = flags['schema'] === undefined ? undefined : readSchema(String(flags['schema']), cwd)
  if (prompt === undefined && schema === undefined) return input
  const options = mappingOf(input['json_options'])
  const formats = textFlags(input, 'formats')
  return {
    ...input,
    formats: formats.includes('json') ? formats : [...formats, 'json'],
    json_options: { ...options, ...(prompt !== undefined && { prompt }), ...(schema !== undefined && { schema }) },
  }
}

export function readSchema(text: string, cwd: string): unknown {
  const json = text.startsWith('@') ? fileText(text, '--schema', cwd) : text
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new BaxError('invalid_request', '--schema must be JSON, or @ and a file name', { cause })
  }
}
