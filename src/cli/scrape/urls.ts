/** URLs on a command line: words, lines of a file, or lines of standard input. */
import { BaxError } from '../../core/errors/errors.ts'
import { type Io, readStdin } from '../io.ts'
import { fileText, type TypedArguments } from '../parse/values.ts'

/** Returns the URLs. @throws BaxError `invalid_request` if there are none */
export async function urlsOf(io: Io, typed: TypedArguments): Promise<string[]> {
  const words = (typed.words[0] ?? []) as string[]
  const file = typed.flags['file'] as string | undefined
  const named: string[] = []
  for (const word of words) {
    if (word === '-') named.push(...linesOf(await readStdin(io)))
    else named.push(word)
  }
  if (file === '-') named.push(...linesOf(await readStdin(io)))
  else if (file !== undefined) named.push(...linesOf(fileText(`@${file}`, '--file', io.cwd)))
  if (named.length > 0) return named
  throw new BaxError('invalid_request', '<url> is missing', {
    hint: 'run "bax scrape <url…>", or pass a list of URLs with --file or on standard input (-)',
  })
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
