/** Commander definitions of parameters as flags and positional words. */
import { Argument, Command, CommanderError, type Help, Option } from 'commander'
import { BaxError } from '../core/errors/errors.ts'
import type { PositionalForms } from '../core/operation/command.ts'
import type { Param } from '../core/operation/params.ts'
import { fileOrElement } from '../core/text/file-word.ts'
import { helpExamples, helpItem, plainWidth, termColumn } from './help-layout.ts'
import { HelpWanted } from './help-wanted.ts'
import { unknownFlag } from './unknown-flag.ts'
import { attributeOf, flagOf, kebab, type TypedArguments } from './values.ts'

const globalGroup = 'Flags of every command:'

/** Key of the allowed values of a flag. Several modules of the build contain this file. */
const choices = Symbol.for('bax: choices of a flag')

/** Flags of texts that may be empty; for those of parameters, the schema decides. */
const texts = new WeakSet<Option>()

/** Returns the allowed values of a flag, if they are limited. */
export const choicesOf = (option: Option & { readonly [choices]?: readonly string[] }): readonly string[] | undefined =>
  option[choices]

/** Creates a commander command that never exits or prints. */
export function newCommand(name: string, summary: string): Command {
  return new Command(name)
    .description(summary)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .configureHelp(layout(plainWidth))
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .optionsGroup('Flags:')
}

/** Settings of the help of a command for a width. */
const layout = (width: number) => ({
  helpWidth: width,
  sortOptions: false,
  visibleArguments: (command: Command) => wordsOf.get(command)?.described ?? [...command.registeredArguments],
  padWidth(command: Command, help: Help) {
    const options = help.visibleOptions(command).map((option) => help.optionTerm(option))
    return termColumn([...options, ...help.visibleArguments(command).map((word) => help.argumentTerm(word))], width)
  },
  formatItem: (term: string, column: number, description: string) => helpItem(term, column, description, width),
})

/** Returns the help of a command that fits the width. */
export const helpOf = (command: Command, width: number): string =>
  command.configureHelp({ ...command.configureHelp(), ...layout(width) }).helpInformation()

export function addGlobalFlags(command: Command): Command {
  const add = (flags: string, description: string) =>
    command.addOption(new Option(flags, description).helpGroup(globalGroup))
  add('--json', "print the API's response as JSON")
  add('--server <url>', 'server: http(s)://host:port or unix:/path (BAX_SERVER)')
  add('--embedded', 'use an engine that ends with the command')
  add('--state-dir <folder>', 'folder for sessions, profiles and logs (BAX_STATE_DIR)')
  add('--browser <program>', 'browser program to start (BAX_BROWSER)')
  const direct = new Option('--no-proxy', 'ignore HTTP_PROXY and similar variables (BAX_NO_PROXY)')
  // Not the negation of the flag --proxy.
  direct.negate = false
  command.addOption(direct.helpGroup(globalGroup))
  return command.addHelpOption(new Option('-h, --help', 'show this help').helpGroup(globalGroup))
}

/** Adds the flag of commands that print text of pages. */
export function addBoundariesFlag(command: Command): void {
  const about = 'enclose text of pages in random markers (BAX_CONTENT_BOUNDARIES)'
  command.addOption(new Option('--content-boundaries', about).helpGroup(globalGroup))
  command.addOption(new Option('--no-content-boundaries').hideHelp())
}

/** Adds the flag, or pair of flags, of a parameter; a value can also be given by hidden flags of its other names. */
export function addParam(command: Command, param: Param): void {
  if (param.offTerminal) return
  const name = flagOf(param).slice('--'.length)
  const about = aboutOf(param)
  if (param.type === 'boolean') {
    const hasOn = param.default !== true
    const hasOff = param.default !== false || param.short !== undefined || param.opposite !== undefined
    const short = param.short ? `-${param.short}, ` : ''
    if (param.opposite) {
      const option = new Option(`--${param.opposite}`, `the opposite of --${name}`).preset(false)
      option.attributeName = () => attributeOf(param)
      command.addOption(option)
    }
    if (hasOn) {
      const option = new Option(`${short}--${name}`, about)
      option.attributeName = () => attributeOf(param)
      command.addOption(option)
    }
    if (hasOff) {
      const option = new Option(`--no-${name}`, hasOn ? `the opposite of --${name}` : `do not ${about}`)
      option.attributeName = () => attributeOf(param)
      command.addOption(option.hideHelp(param.opposite !== undefined))
    }
    return
  }
  const words = param.choices ?? param.itemChoices
  for (const spelling of new Set([name, ...[param.name, ...(param.aliases ?? [])].map(kebab)])) {
    const option = new Option(`--${spelling} <${placeholder(param)}>`, about + suffix(param)).hideHelp(
      spelling !== name,
    )
    // All spellings set the same value.
    option.attributeName = () => attributeOf(param)
    if (words) Object.assign(option, { [choices]: words })
    if (param.type === 'string' || param.type === 'json') texts.add(option)
    if (param.type === 'string[]') option.argParser(collect)
    command.addOption(option.makeOptionMandatory(param.required && spelling === name))
  }
}

/** Adds the flag of a text that may be empty. */
export function addTextFlag(
  command: Command,
  flags: string,
  description: string,
  parser = (text: string): unknown => text,
): Command {
  const option = new Option(flags, description).argParser(parser)
  texts.add(option)
  return command.addOption(option)
}

/** Parses a flag that may be repeated. */
export const collect = (text: string, before: string[] = []): string[] => [...before, text]

/** Adds a positional word for a parameter; a list takes all remaining words. */
export function addWord(command: Command, param: Param, isLast: boolean, isRequired = param.required): void {
  const name = kebab(param.name) + (param.type === 'string[]' && isLast ? '...' : '')
  command.addArgument(new Argument(isRequired ? `<${name}>` : `[${name}]`, aboutOf(param) + suffix(param)))
}

/** Positional forms of a command that has several, and the description of their words. */
const wordsOf = new WeakMap<Command, { readonly forms: PositionalForms; readonly described: Argument[] }>()

/** Adds the positional words of a command: one form, or several of which the words choose one. */
export function addForms(command: Command, forms: PositionalForms, params: readonly Param[]): void {
  const find = (field: string) => params.find(({ name }) => name === field)!
  const [only] = forms
  if (forms.length === 1) {
    for (const [at, field] of only!.entries()) addWord(command, find(field), at === only!.length - 1, true)
    return
  }
  // A form that is only an optional switch, such as `screenshot true`, works but is not shown.
  const isSwitch = (field: string) => find(field).type === 'boolean' && !find(field).required
  command.argument('[words...]')
  // Optional fields are described as flags.
  const fields = [...new Set(forms.flat())].map(find).filter(({ required }) => required)
  const described = fields.map((param) => new Argument(`[${kebab(param.name)}]`, aboutOf(param) + suffix(param)))
  const shown = forms.filter((form) => form.length !== 1 || !isSwitch(form[0]!))
  wordsOf.set(command, { forms: shown, described })
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
  if (type === 'json') return param.textField ? 'url|json|@file' : 'json|@file'
  if (param.file) return 'text|@file'
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
  const shown = options.filter(({ hidden, negate }) => !hidden && !negate)
  const flags = new Map(shown.map((option) => [option.attributeName(), option.long]))
  for (const option of options) {
    option.description = option.description.replaceAll(
      /\b[a-z]+(?:_[a-z]+)+\b/g,
      (name) => flags.get(attributeOf({ name })) ?? name,
    )
  }
}

/** Parses arguments. @throws BaxError `invalid_request`; `HelpWanted` for --help */
export function parse(command: Command, argv: readonly string[], examples: readonly string[] = []): TypedArguments {
  const usages = usagesOf(command).map((usage) => `${usage} [flags]`)
  command.usage(usages.join('\n       ').slice(command.name().length + 1))
  spellFlags(command)
  try {
    command.parse([...argv], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) throw explain(command, error, examples)
    throw error
  }
  assertNotEmpty(command)
  // Commander sets a lone --no-x flag to true by default; only typed flags are input.
  const typed = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli')
  return { words: command.processedArgs, flags: Object.fromEntries(typed) }
}

/** @throws BaxError `invalid_request` for a flag with an empty value, which is often that of an unset variable */
function assertNotEmpty(command: Command): void {
  const isBlank = (text: unknown) => typeof text === 'string' && text.split(',').every((item) => item.trim() === '')
  for (const option of command.options) {
    const given: unknown = command.getOptionValue(option.attributeName())
    const isEmpty = Array.isArray(given) ? given.some(isBlank) : given === ''
    if (isEmpty && !texts.has(option) && command.getOptionValueSource(option.attributeName()) === 'cli')
      throw new BaxError('invalid_request', `${option.long} must not be empty`, { hint: helpHint(command) })
  }
}

const helpHint = (command: Command): string => `run "${command.name()} --help" for details`

function explain(command: Command, error: CommanderError, examples: readonly string[]): Error {
  if (error.code === 'commander.helpDisplayed') {
    return new HelpWanted(
      (width) => [helpOf(command, width).trimEnd(), ...helpExamples(examples), ''].join('\n'),
      command,
    )
  }
  const text = error.message.replace(/^error: /, '')
  const quoted = /'([^']*)'/.exec(text)?.[1] ?? ''
  const fail = (sentence: string, extra = helpHint(command)) =>
    new BaxError('invalid_request', sentence, { hint: extra })
  switch (error.code) {
    case 'commander.unknownOption': {
      const { message, hint } = unknownFlag(command, quoted, usagesOf(command))
      return fail(message, hint)
    }
    case 'commander.missingArgument':
      return fail(`<${quoted}> is missing`, `usage: ${usagesOf(command).join(' or ')}`)
    case 'commander.excessArguments': {
      const excess = command.args.slice(command.registeredArguments.length)
      const isFile = excess.length === 1 && fileOrElement(excess[0]!) === 'file'
      const usage = `usage: ${usagesOf(command).join(' or ')}`
      const writes = command.options.some(({ long }) => long === '--output')
      return fail(`too many words: ${excess.join(' ')}`, isFile && writes ? `${usage} -o ${excess[0]!}` : usage)
    }
    case 'commander.missingMandatoryOptionValue':
      return fail(`${/--[\w-]+/.exec(text)?.[0] ?? quoted} is required`)
    case 'commander.optionMissingArgument':
      return fail(`${/--[\w-]+/.exec(quoted)?.[0] ?? quoted} needs a value`)
    default:
      return fail(text)
  }
}

/** Returns the usage, one for each positional form: the name and the positional words. */
function usagesOf(command: Command): string[] {
  const name = command.name()
  const forms = wordsOf.get(command)?.forms
  if (forms) return forms.map((fields) => [name, ...fields.map((field) => `<${kebab(field)}>`)].join(' '))
  const words = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${word}>` : `[${word}]`
  })
  return [[name, ...words].join(' ')]
}

/** Adds the flag that names a shell session; the default is BAX_SHELL. */
export const addShellFlag = (command: Command): Command =>
  command.option('-s, --session <id|name>', 'shell session to use (BAX_SHELL)')

/** Adds the flag that names a session; see `sessionOrDefault` for its default. */
export const addSessionFlag = (command: Command): Command =>
  command.option(
    '-s, --session <id|name>',
    'session to use (BAX_SESSION, the choice of "bax session use", or "default")',
  )

/** Adds the flag that asks for a session of its own, for work beside the default session. */
export const addNewSessionFlag = (command: Command): Command =>
  command.option('--new-session', 'create a new session instead of using the default one')
