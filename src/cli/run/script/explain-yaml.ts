/** Explains common mistakes in the YAML of scripts, which a YAML parser describes in its own terms. */
import { type Document, visit, type YAMLParseError } from 'yaml'
import { stepShape } from './shape.ts'

/** An error of the text, from character `start` to `end`. */
export interface SyntaxError {
  readonly start: number
  readonly end: number
  readonly message: string
}

/** Describes a syntax error, and finds its cause in the text. */
export function explainSyntax(text: string, document: Document.Parsed, error: YAMLParseError): SyntaxError {
  const [start, end] = error.pos
  return (
    unquotedReference(text, start, end) ??
    unclosedQuote(text, document, error) ??
    optionAround(text, start, end) ?? { start, end, message: `invalid YAML: ${lowerFirst(error.message)}` }
  )
}

/** Finds `{url: ${base}}`: inside braces and brackets YAML parses the second `{` itself. */
function unquotedReference(text: string, start: number, end: number): SyntaxError | undefined {
  const reference = /^\{[^{}\n]*\}/.exec(text.slice(start))?.[0]
  if (!reference || text[start - 1] !== '$') return undefined
  return { start, end, message: `invalid YAML: inside {…} and […] a reference needs quotes, "$${reference}"` }
}

/** Finds the opening quotation mark, as the parser reports the end of the text. */
function unclosedQuote(text: string, document: Document.Parsed, error: YAMLParseError): SyntaxError | undefined {
  if (!/^Missing closing ['"]quote/.test(error.message)) return undefined
  let [start] = error.pos
  visit(document, {
    Scalar(_, { range }) {
      if (range && range[1] === error.pos[0]) start = range[0]
    },
  })
  const closing = text[start] === "'" ? "'" : '"'
  return { start, end: error.pos[0], message: `invalid YAML: a quoted text is not closed: add ${closing} at its end` }
}

/** Finds an option of a step, such as `expect:`, in the lines of a syntax error. */
function optionAround(text: string, start: number, end: number): SyntaxError | undefined {
  const lines = text.split('\n')
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  for (let line = lineOf(start); line <= Math.min(lineOf(end) + 1, lines.length); line += 1) {
    const message = misplacedOption(lines, line)
    if (message === undefined) continue
    const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    const own = /[\w-]+/.exec(lines[line - 1]!)!
    return { start: before + own.index, end: before + own.index + own[0].length, message }
  }
  return undefined
}

const options = Object.keys(stepShape.shape)
/** Options that are also fields of commands, or keys of scripts. */
const ambiguous = new Set(['name', 'command', 'data', 'include', 'vars'])

/** Explains where an option of a step, in this line from 1, belongs; undefined when it is not below a step. */
export function misplacedOption(lines: readonly string[], line: number): string | undefined {
  const [, indent = '', dash = '', key = ''] = /^(\s*)(-\s+)?([\w-]+):(\s|$)/.exec(lines[line - 1] ?? '') ?? []
  if (!options.includes(key)) return undefined
  const step = stepAbove(lines, line, indent.length)
  if (!step) return undefined
  const { command, column, dashColumn, isPlain } = step
  if (ambiguous.has(key) && !(isPlain && indent.length > dashColumn)) return undefined
  // The option is where it belongs.
  if (!isPlain && dash === '' && indent.length === column) return undefined
  const place = `indented by ${column} spaces`
  const belongs = `${key} belongs to the step above`
  if (isPlain) return `${belongs}: write "- ${command}:" with a colon, and "${key}:" on the next line, ${place}`
  return `${belongs}: write it ${dash === '' ? '' : 'without "-", '}${place} like "${command}"`
}

interface StepLine {
  readonly command: string
  /** Number of characters before the dash and before the command. */
  readonly dashColumn: number
  readonly column: number
  /** Whether the step is only a name, which can have no options. */
  readonly isPlain: boolean
}

/** Finds the step to which an option with this indentation could belong. */
function stepAbove(lines: readonly string[], line: number, indent: number): StepLine | undefined {
  for (let index = line - 2; index >= 0; index -= 1) {
    const dashColumn = /^(\s*)-\s/.exec(lines[index]!)?.[1]!.length
    if (dashColumn === undefined || dashColumn > indent) continue
    const [, before, command, rest] = /^(\s*-\s+)(\w+)(:(?:\s.*)?)?\s*(?:#.*)?$/.exec(lines[index]!) ?? []
    return before && command ? { command, dashColumn, column: before.length, isPlain: rest === undefined } : undefined
  }
  return undefined
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
