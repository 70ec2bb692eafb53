/** `--prompt` and `--schema`: the short way to ask for the json format. */
import { BaxError } from '../../core/errors/errors.ts'
import { fileText } from '../parse/values.ts'

type Input = Record<string, unknown>

/** The input with what the two flags say in `json_options`. */
export function withJsonWishes(input: Input, flags: Readonly<Input>, cwd: string): Input {
  const prompt = flags['prompt'] as string | undefined
  const schema = flags['schema'] === undefined ? undefined : readSchema(String(flags['schema']), cwd)
  if (prompt === undefined && schema === undefined) return input
  const options = input['json_options'] as Input | undefined
  const formats = (input['formats'] as string[] | undefined) ?? ['json']
  return {
    ...input,
    formats: formats.includes('json') ? formats : [...formats, 'json'],
    json_options: { ...options, ...(prompt !== undefined && { prompt }), ...(schema !== undefined && { schema }) },
  }
}

function readSchema(text: string, cwd: string): unknown {
  const json = text.startsWith('@') ? fileText(text, '--schema', cwd) : text
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new BaxError('invalid_request', '--schema must be JSON, or @ and the name of a file', { cause })
  }
}
