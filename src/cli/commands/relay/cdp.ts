/** `bax cdp`: calls a method of the Chrome DevTools Protocol. */
import { requiredWord, textFlag, textWord } from '../../../lines/typed.ts'
import { resolve } from 'node:path'
import { Argument, Option } from 'commander'
import { uncheckedFields } from '../../../client/calls.ts'
import { BaxError, errorTable, exits, isErrorCode } from '../../../core/errors/errors.ts'
import { noEngineFor, sessionOrDefault } from '../../session/chosen-session.ts'
import { printError } from '../../output/errors.ts'
import { engineName, withSession } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { type Io, print } from '../../io.ts'
import { readJson } from '../../parse/read-json.ts'
import type { TypedArguments } from '../../../lines/values.ts'
import { writeOutput } from '../../output/write-output.ts'

export const command: TerminalCommand = {
  cli: 'cdp <method> [params]',
  summary: 'Call a Chrome DevTools Protocol method',
  example: [
    'bax cdp Browser.getVersion --target browser',
    `bax cdp Page.captureScreenshot '{"format":"png"}' --field data -o page.png`,
    'bax cdp -s laptop Performance.getMetrics',
  ],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command
        .addArgument(new Argument('<method>', 'Domain.method, such as Page.captureScreenshot'))
        .addArgument(new Argument('[params]', 'parameters as JSON; @file for a file, - for standard input'))
        .addOption(new Option('-s, --session <id|name>', 'relay or browser session (BAX_SESSION)'))
        .addOption(new Option('--target <id>', 'page, frame or worker to call; "browser" for the browser itself'))
        .addOption(new Option('--timeout-ms <number>', 'timeout in milliseconds (default 30000)'))
        .addOption(new Option('--max-bytes <number>', 'maximum size of the result'))
        .addOption(new Option('--field <name>', 'field of the result to print'))
        .addOption(
          new Option('-o, --output <file>', 'file to write to, - for standard output; a base64 field is decoded'),
        )
    })
    const { io, settings } = context
    const { flags } = typed
    const session = sessionOrDefault(settings, engineName(context), textFlag(flags, 'session'))
    if (!session)
      throw new BaxError('invalid_request', 'no session is named', { hint: 'name one with -s, without --embedded' })
    const method = requiredWord(typed.words, 0)
    const params = textWord(typed.words, 1)
    const input = uncheckedFields({
      session_id: session.id,
      method,
      ...(params !== undefined && { params: (await readJson(io, params, 'params')).value }),
      ...(flags['target'] !== undefined && { target_id: flags['target'] }),
      ...numberOf('timeout_ms', flags['timeoutMs']),
      ...numberOf('max_bytes', flags['maxBytes']),
    })
    return withSession(
      context,
      { when: 'running', absent: noEngineFor(session.id) },
      session.source,
      async ({ ask }) => {
        const answer = await ask('cdp', input, { signal: io.signal, strict: true })
        if (settings.json) print(io, JSON.stringify(answer))
        else if (answer.success) show(io, answer.result ?? {}, flags)
        if (answer.success) return exits.done
        await printError(io, `${answer.error} [${answer.code}]`)
        return isErrorCode(answer.code) ? errorTable[answer.code].exit : exits.failed
      },
    )
  },
}

function numberOf(name: string, text: unknown): Record<string, number> {
  if (text === undefined) return {}
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return { [name]: number }
  throw new BaxError(
    'invalid_request',
    `--${name.replace('_', '-')} must be a positive whole number, not ${String(text)}`,
  )
}

function show(io: Io, result: Record<string, unknown>, flags: TypedArguments['flags']): void {
  const field = textFlag(flags, 'field')
  if (field !== undefined && !Object.hasOwn(result, field)) {
    throw new BaxError('invalid_request', `the result has no field ${field}; it has ${Object.keys(result).join(', ')}`)
  }
  const value = field === undefined ? result : result[field]
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const file = textFlag(flags, 'output')
  if (file === undefined) return print(io, text)
  const content = field !== undefined && isBase64(text) ? Buffer.from(text, 'base64') : `${text}\n`
  if (file === '-') io.stdout.write(content)
  else writeOutput(resolve(io.cwd, file), content)
}

const isBase64 = (text: string): boolean =>
  text.length > 0 && text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, ''))
