/** Commander definitions of parameters as flags and positional words. */
import { Argument, Command, CommanderError, Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import { suggest } from '../../core/errors/suggest.ts'
import { kebab, type TypedArguments } from './values.ts'

const globalGroup = 'Flags of every command:'

const choices = new WeakMap<Option, readonly string[]>()

/** Returns the allowed values of a flag, if they are limited. */
export const choicesOf = (option: Option): readonly string[] | undefined => choices.get(option)

/** Creates a commander command that never exits or prints. */
export function newCommand(name: string, summary: string): Command {
  return new Command(name)
    .description(summary)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .configureHelp({ helpWidth: 90, sortOptions: false })
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .optionsGroup('Flags:')
}

export function addGlobalFlags(command: Command): Command {
  const add = (flags: string, description: string) =>
    command.addOption(new Option(flags, description).helpGroup(globalGroup))
  add('--json', 'print the JSON answer of the engine')
  add('--server <url>', 'server: http(s)://host:port or unix:/path (BAX_SERVER)')
  add('--embedded', 'use an engine that ends with the command')
  add('--state-dir <folder>', 'folder for sessions, profiles and logs (BAX_STATE_DIR)')
  add('--browser <program>', 'browser program to start (BAX_BROWSER)')
  return command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(globalGroup))
}

/** Adds the flag, or pair of flags, of a parameter. */
export function addParam(command: Command, param: Param): void {
  if (param.offTerminal) return
  const name = kebab(param.name)
  const about = aboutOf(param)
  if (param.type === 'boolean') {
    const hasOn = param.default !== true
    const hasOff = param.default !== false || param.short !== undefined
    const short = param.short ? `-${param.short}, ` : ''
    if (hasOn) command.addOption(new Option(`${short}--${name}`, about))
    if (hasOff) command.addOption(new Option(`--no-${name}`, hasOn ? `the opposite of --${name}` : `do not ${about}`))
    return
  }
  const option = new Option(`--${name} <${placeholder(param)}>`, about + suffix(param))
  const words = param.choices ?? param.itemChoices
  if (words) choices.set(option, words)
  if (param.type === 'string[]') option.argParser(collect)
  command.addOption(param.required ? option.makeOptionMandatory() : option)
}

/** Parses a flag that may be repeated. */
export const collect = (text: string, before: string[] = []): string[] => [...before, text]

/** Adds a positional word for a parameter; a list takes all remaining words. */
export function addWord(command: Command, param: Param, isLast: boolean, isRequired = param.required): void {
  const name = kebab(param.name) + (param.type === 'string[]' && isLast ? '...' : '')
  command.addArgument(new Argument(isRequired ? `<${name}>` : `[${name}]`, aboutOf(param) + suffix(param)))
}

/** Returns the description of a field in the style of a flag: in lower case, except for names such as URL. */
const aboutOf = ({ description = '' }: Param): string =>
  description.replace(/^[A-Z](?=[a-z]+\b)/, (letter) => letter.toLowerCase())

/** Maximum width of choices beside a flag, in characters: longer ones move into its description. */
const longestChoices = 30

const isListed = ({ choices, required }: Param): boolean =>
  choices !== undefined && (required || choices.join('|').length > longestChoices)

function placeholder(param: Param): string {
  const { name, type, choices, spelling } = param
  if (choices) return isListed(param) && !param.required ? kebab(name) : choices.join('|')
  if (spelling) return spelling.form
  if (type === 'string[]') return 'text,...'
  if (type === 'json') return 'json|@file'
  return type === 'integer' ? 'number' : type === 'string' ? 'text' : type
}

function suffix(param: Param): string {
  const parts = [
    ...(isListed(param) ? [`one of ${param.choices?.join(', ')}`] : []),
    ...(isShownDefault(param.default) ? [`default ${defaultText(param.default)}`] : []),
  ]
  return parts.length > 0 ? ` (${parts.join('; ')})` : ''
}

/** Checks if a default is worth showing: an empty list or object is not. */
const isShownDefault = (given: unknown): boolean => given !== undefined && !['[]', '{}'].includes(JSON.stringify(given))

const defaultText = (given: unknown): string =>
  typeof given === 'string' ? given : Array.isArray(given) ? given.join(',') : JSON.stringify(given)

/** Replaces field names in descriptions by the flags of the same name. */
function spellFlags({ options }: Command): void {
  const flags = new Set(options.map(({ long }) => long))
  for (const option of options) {
    option.description = option.description.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
      const flag = `--${kebab(name)}`
      return flags.has(flag) ? flag : name
    })
  }
}

/** Parses arguments. @throws BaxError `invalid_request`; `HelpWanted` for --help */
export function parse(command: Command, argv: readonly string[], example?: string): TypedArguments {
  command.usage([usageOf(command).slice(command.name().length + 1), '[flags]'].filter(Boolean).join(' '))
  spellFlags(command)
  try {
    command.parse([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) throw explain(command, error, example)
    throw error
  }
  // Commander sets a lone --no-x flag to true by default; only typed flags are input.
  const typed = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { words: command.processedArgs, flags: Object.fromEntries(typed) }
}

/** Thrown for --help. */
export class HelpWanted extends Error {
  readonly text: string
  /** Definition of the command. */
  readonly command: Command | undefined
  constructor(text: string, command?: Command) {
    super('help')
    this.name = 'HelpWanted'
    this.text = text
    this.command = command
  }
}

function explain(command: Command, error: CommanderError, example?: string): Error {
  if (error.code === 'commander.helpDisplayed') {
    const text = `${command.helpInformation()}${example ? `\nExample:\n  ${example}\n` : ''}`
    return new HelpWanted(text, command)
  }
  const text = error.message.replace(/^error: /, '')
  const quoted = /'([^']*)'/.exec(text)?.[1] ?? ''
  const hint = `run "${command.name()} --help" for details`
  const fail = (sentence: string, extra = hint) => new BaxError('invalid_request', sentence, { hint: extra })
  switch (error.code) {
    case 'commander.unknownOption': {
      const known = command.options.map(({ long }) => long!)
      const near = suggest(quoted, known)
      return fail(`unknown flag ${quoted}${near ? ` (did you mean ${near}?)` : ''}`)
    }
    case 'commander.missingArgument':
      return fail(`<${quoted}> is missing`, `usage: ${usageOf(command)}`)
    case 'commander.excessArguments':
      return fail(
        `too many words: ${command.args.slice(command.registeredArguments.length).join(' ')}`,
        `usage: ${usageOf(command)}`,
      )
    case 'commander.missingMandatoryOptionValue':
      return fail(`${/--[\w-]+/.exec(text)?.[0] ?? quoted} is required`)
    case 'commander.optionMissingArgument':
      return fail(`${/--[\w-]+/.exec(quoted)?.[0] ?? quoted} needs a value`)
    default:
      return fail(text)
  }
}

/** Returns the usage in one line: the name and the positional words. */
function usageOf(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  return [command.name(), ...words].join(' ')
}

/** Adds the flag that names a shell session; the default is BAX_SHELL. */
export const addShellFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'shell session to use (BAX_SHELL)')

/** Adds the flag that names a session; the default is BAX_SESSION, then the choice of `bax session use`. */
export const addSessionFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'session to use (BAX_SESSION, or the choice of "bax session use")')
