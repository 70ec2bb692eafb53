/** Parameters as flags and positional words of commander. */
import { Argument, Command, CommanderError, Option } from 'commander'
import { BaxError } from '../../core/errors/errors.ts'
import type { Param } from '../../core/operation/params.ts'
import { suggest } from '../../core/errors/suggest.ts'
import { kebab, type Typed } from './values.ts'

const globalGroup = 'Flags of every command:'

const choices = new WeakMap<Option, readonly string[]>()

/** The values that the flag of a parameter takes, where they are few. */
export const choicesOf = (option: Option): readonly string[] | undefined => choices.get(option)

/** A commander command that never exits, never prints, and knows the flags of every command. */
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
  add('--json', "print the service's answer as it is")
  add('--server <address>', 'server to use: http(s)://host:port or unix:/path (BAX_SERVER)')
  add('--embedded', 'use an engine of its own that ends with the command')
  add('--state-dir <folder>', 'folder for sessions, profiles and logs (BAX_STATE_DIR)')
  add('--browser <program>', 'browser to start instead of looking for one (BAX_BROWSER)')
  return command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(globalGroup))
}

/** Adds the flag, or the pair of flags, of one parameter. */
export function addParam(command: Command, param: Param): void {
  if (param.offTerminal) return
  const name = kebab(param.name)
  const about = aboutOf(param)
  if (param.type === 'boolean') {
    const hasOn = param.default !== true
    const hasOff = param.default !== false || param.short !== undefined
    const short = param.short ? `-${param.short}, ` : ''
    if (hasOn) command.addOption(new Option(`${short}--${name}`, about))
    if (hasOff) command.addOption(new Option(`--no-${name}`, hasOn ? 'the opposite' : `turn off: ${about}`))
    return
  }
  const option = new Option(`--${name} <${placeholder(param)}>`, about + suffix(param))
  const words = param.choices ?? param.itemChoices
  if (words) choices.set(option, words)
  if (param.type === 'string[]') option.argParser((text: string, before?: string[]) => [...(before ?? []), text])
  command.addOption(param.required ? option.makeOptionMandatory() : option)
}

/** Adds a positional word for one parameter; a list takes all that follow. */
export function addWord(command: Command, param: Param, isLast: boolean, isRequired = param.required): void {
  const name = kebab(param.name) + (param.type === 'string[]' && isLast ? '...' : '')
  command.addArgument(new Argument(isRequired ? `<${name}>` : `[${name}]`, aboutOf(param) + suffix(param)))
}

/** Descriptions of fields are sentences; beside a flag they begin small, unless with a name such as URL. */
const aboutOf = ({ description = '' }: Param): string =>
  description.replace(/^[A-Z](?=[a-z]+\b)/, (letter) => letter.toLowerCase())

/** More than this beside a flag leaves too little room for what is said of it. */
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
    ...(isListed(param) ? [`one of ${param.choices!.join(', ')}`] : []),
    ...(isTold(param.default) ? [`default ${told(param.default)}`] : []),
  ]
  return parts.length > 0 ? ` (${parts.join('; ')})` : ''
}

/** An empty list or object is what anybody expects. */
const isTold = (given: unknown): boolean => given !== undefined && !['[]', '{}'].includes(JSON.stringify(given))

const told = (given: unknown): string =>
  typeof given === 'string' ? given : Array.isArray(given) ? given.join(',') : JSON.stringify(given)

/** Where a description names another field, the flag is what can be typed. */
function spellFlags({ options }: Command): void {
  const flags = new Set(options.map(({ long }) => long))
  for (const option of options) {
    option.description = option.description.replaceAll(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => {
      const flag = `--${kebab(name)}`
      return flags.has(flag) ? flag : name
    })
  }
}

/** Parses what was typed. @throws BaxError `invalid_request` in the words of the terminal; `HelpWanted` for --help. */
export function parse(command: Command, argv: readonly string[], example?: string): Typed {
  command.usage([usageOf(command).slice(command.name().length + 1), '[flags]'].filter(Boolean).join(' '))
  spellFlags(command)
  try {
    command.parse([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) throw explain(command, error, example)
    throw error
  }
  // Commander gives a lone --no-x flag the default true; only what was typed is an input.
  const typed = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { words: command.processedArgs, flags: Object.fromEntries(typed) }
}

/** Somebody asked for the help of a command. */
export class HelpWanted extends Error {
  readonly text: string
  /** The definition that the text is of. */
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
  const hint = `see \`${command.name()} --help\``
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

/** One line: the name, its positional words. */
function usageOf(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  return [command.name(), ...words].join(' ')
}

/** The flag that names a shell session; without it BAX_SHELL is asked. */
export const addShellFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'shell session to use (BAX_SHELL)')

/** The flag that names a session; without it BAX_SESSION and `bax session use` are asked. */
export const addSessionFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'session to use (BAX_SESSION, or the choice of `bax session use`)')
