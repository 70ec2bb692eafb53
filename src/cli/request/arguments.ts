/** Words and flags of `bax request`. */
import type { Command } from 'commander'
import { type Unchecked, uncheckedFields } from '../../client/calls.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { addForms, addParam, addSessionFlag, addTextFlag, collect } from '../../lines/flags.ts'
import { listedWords, textFlag } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import type { OperationEntry } from '../../operations/manifest.ts'
import type { Context } from '../context.ts'
import { readOperation } from '../run-operation.ts'
import { addIdentityFlags, withIdentity } from '../scrape/identity-flags.ts'
import type { SessionSource } from '../session/chosen-session.ts'

/** Fields with a flag or a word of their own. */
const without = new Set(['url', 'method', 'session_id'])

export function addArguments(command: Command, { params }: OperationEntry): void {
  const words = params.filter(({ name }) => name === 'url' || name === 'method')
  const described = words.map((param) => ({ ...param, required: true }))
  addForms(command, [['method', 'url'], ['url']], described)
  command.option('-X, --method <method>', 'HTTP method, if it is not the first word')
  addSessionFlag(command)
  addTextFlag(
    command,
    '-d, --data <text|@file|->',
    'body, as curl sends it: a form unless a header says otherwise',
    collect,
  )
  command.option('--data-json <json|@file|->', 'body as JSON')
  command.option(
    '-F, --form <part>',
    'part of a multipart body, as in curl: name=value or name=@file, then ;type=… and ;filename=…; may be repeated',
    collect,
  )
  addIdentityFlags(command)
  for (const param of params) if (!without.has(param.name)) addParam(command, param)
  command.option('-i, --include', 'print the status and the headers before the body')
  command.option('-f, --fail', 'fail if the status is 400 or higher')
  command.option('-o, --output <file>', 'file for the body, or folder ending in /; - for standard output')
}

/** Fields of the request without its body, and the session to use. */
interface Fields {
  readonly fields: Unchecked
  readonly session?: string
  readonly source?: SessionSource
}

/** @throws BaxError `invalid_request` */
export function readFields(context: Context, operation: OperationEntry, { words, flags }: TypedArguments): Fields {
  const { url, method } = readWords(words, flags)
  const typed = { words: [url], flags: { ...flags, ...(method !== undefined && { method }) } }
  const { input, source } = readOperation(context, operation, typed)
  const { session_id: session, ...fields } = withIdentity(input, flags, context.io.cwd)
  if (input['save_profile'] === true && input['profile'] === undefined)
    throw new BaxError('invalid_request', '--save-profile needs --profile')
  if (input['profile'] === undefined) return { fields: uncheckedFields(fields), session: session as string, source }
  if (source === 'flag') throw new BaxError('invalid_request', '--profile and --session exclude each other')
  return { fields: uncheckedFields(fields) }
}

function readWords(words: TypedArguments['words'], flags: TypedArguments['flags']) {
  const typed = listedWords(words, 0)
  const [first, second] = typed
  const flagged = textFlag(flags, 'method')
  if (first === undefined)
    throw new BaxError('invalid_request', '<url> is missing', { hint: 'usage: bax request [method] <url>' })
  if (typed.length === 1 && /^\d+$/.test(first))
    throw new BaxError('invalid_request', `${first} is not a URL`, {
      hint: `run "bax get-request ${first}" for a request of the page`,
    })
  if (typed.length > 2) throw new BaxError('invalid_request', `too many words: ${typed.slice(2).join(' ')}`)
  if (second !== undefined && flagged !== undefined)
    throw new BaxError('invalid_request', `the method ${first} and --method ${flagged} exclude each other`)
  return second === undefined ? { url: first, method: flagged } : { url: second, method: first }
}
