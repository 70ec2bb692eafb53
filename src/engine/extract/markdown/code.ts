/** Converts code blocks of syntax highlighters: detects the language, omits line numbers and copy buttons. */
import {
  attribute,
  childElements,
  classes,
  type ElementNode,
  elementsOf,
  hasClass,
  isElement,
  rawText,
  type TreeNode,
  visibleText,
  wordSet,
} from '../tree.ts'
import { longestRun, replaceRuns } from '../../../core/text/pieces.ts'

const numbers =
  /^(?:(?:[\w-]+-)?(?:gutter|line-?numbers?(?:-rows)?|linenos?|crayon-nums|blob-num|ln-(?:numbers?|n))|lineno|lnt|ln)$/i
/** Descriptions of the names in a listing of Doxygen, which are hidden until the pointer is over a name. */
const tooltips = /^ttc$/
const editors = /^(?:CodeMirror-code|cm-content|view-lines|ace_text-layer)$/
const lineTags = new Set(['div', 'p', 'li', 'tr', 'pre', 'table', 'ol', 'ul', 'tbody'])
const languages = wordSet(
  'applescript asm asp awk bash basic batch bat c cfg clojure cmake cmd coffee coffeescript conf console cpp cs csharp css csv cuda d dart diff django docker dockerfile dotenv elixir elm erlang fish fortran fsharp glsl go golang gradle graphql groovy haml handlebars haskell hcl hs html http ini java javascript jinja js json json5 jsonc jsx julia kotlin kt latex less lisp lua makefile markdown matlab md mermaid nginx nim nix objc objectivec ocaml pascal patch perl php pl plaintext plsql postgresql powershell prolog properties proto protobuf ps1 puppet py pycon python python3 pytb r rb regex rs rst ruby rust sass scala scheme scss sh shell shellscript solidity sql svelte swift tcl terraform tex text toml ts tsql tsx twig typescript v vb vbnet verilog vhdl vim vue wasm xml yaml yml zig zsh',
)
const marked = /^(?:(?:mw-highlight-)?lang(?:uage)?-|highlight-source-|highlight-text-|code-|brush:|sh_|syntax-)(?=.)/i
const highlighters =
  /^(?:highlight|hljs|sourceCode|prettyprint|codehilite|chroma|code|highlighter-rouge|src|shiki|prism)$/i

/** Returns a fenced code block; `ancestors` end with the nearest one. */
export function codeBlock(element: ElementNode, ancestors: readonly ElementNode[]): string {
  const text = codeText(element)
  if (text === '') return ''
  const fence = '`'.repeat(Math.max(longestRun(text, '`'), 2) + 1)
  return `${fence}${languageOf(element, ancestors)}\n${text}\n${fence}`
}

/** Whether an element is a listing of Doxygen: a `<div>` with a `<div>` for each line. */
export const isFragment = (element: ElementNode): boolean =>
  element.tag === 'div' && hasClass(element, /^fragment$/) && childElements(element).some((child) => isLine(child))

/** Whether a script contains the code of a listing, which SyntaxHighlighter shows. */
export const isScriptListing = (element: ElementNode): boolean =>
  element.tag === 'script' && attribute(element, 'type') === 'syntaxhighlighter'

const isLine = (element: ElementNode): boolean => element.tag === 'div' && hasClass(element, /^line$/)

/**
 * Whether an element other than `<pre>` shows code: an editor, a listing of Doxygen, a table of numbered lines, a block
 * of `<code>`.
 */
export function isCode(element: ElementNode): boolean {
  if (element.tag === 'code') return element.flow === 'block'
  if (element.tag === 'script') return isScriptListing(element)
  if (element.tag !== 'table') return hasClass(element, editors) || isFragment(element)
  for (const inside of elementsOf(element, (inner) => inner === element || inner.tag !== 'table')) {
    if ((inside.tag === 'td' || inside.tag === 'th') && isNumbering(inside)) return true
  }
  return false
}

const copyLabel =
  /^(?:copy(?: (?:code|link|to clipboard|snippet))?|(?:(?:code|content|link) )?copied(?: to clipboard)?!?)?$/i

/** Whether an element is a button that copies code or a link, or says that it has. */
export function isCopyButton(element: ElementNode): boolean {
  const isClickable = element.tag === 'button' || hasClass(element, /copy|clipboard/i)
  return isClickable && copyLabel.test(rawText(element).trim())
}

function isNumbering(element: ElementNode): boolean {
  const named = hasClass(element, numbers) || element.attributes['data-line-number'] !== undefined
  return named && !/[^\s\d]/.test(rawText(element))
}

/** Returns the lines of a code block, without line numbers and buttons. */
export function codeText(element: ElementNode): string {
  let text = ''
  let needsLineBreak = false
  // Reading the end of a concatenated string would flatten it, which copies all of it.
  let last = ''
  const add = (more: string) => {
    if (needsLineBreak && last !== '\n' && last !== '') text += '\n'
    needsLineBreak = false
    text += more
    last = more.at(-1)!
  }
  const visit = (current: ElementNode): void => {
    for (const child of current.children) {
      if (!isElement(child)) {
        if (child.text !== '' && !(isRowGap(current) && child.text.trim() === '')) add(child.text)
        continue
      }
      if (child.tag === 'br') add('\n')
      if (
        isNumbering(child) ||
        isCopyButton(child) ||
        hasClass(child, tooltips) ||
        /^(?:style|script|button|template)$/.test(child.tag)
      )
        continue
      const ownLine = child.flow ? child.flow === 'block' : lineTags.has(child.tag)
      if (ownLine) needsLineBreak = true
      visit(child)
      if (ownLine) needsLineBreak = true
    }
  }
  visit(element)
  if (element.tag === 'script') text = withoutCdata(text)
  const lines = text.replaceAll(/\r\n?/g, '\n')
  return lines.slice(lines.lastIndexOf('\n', Math.max(lines.search(/\S/), 0)) + 1).trimEnd()
}

function withoutCdata(text: string): string {
  const code = text.trim()
  return code.startsWith('<![CDATA[') && code.endsWith(']]>') ? code.slice(9, -3) : text
}

/** Returns the lines of an inline `<code>`, which `<br>` separates, without empty ones. */
export function inlineLines(element: ElementNode): string[] {
  let text = ''
  const visit = (current: ElementNode): void => {
    for (const child of current.children) {
      if (!isElement(child)) text += replaceRuns(child.text, /\s+/g, ' ')
      else if (child.tag === 'br') text += '\n'
      else visit(child)
    }
  }
  visit(element)
  const lines = text.split('\n').map((line) => replaceRuns(line, / {2,}/g, ' '))
  return lines.length === 1 ? lines : lines.filter((line) => line.trim() !== '')
}

/** Whether white space in an element only separates rows and cells of a table, or the lines of a listing. */
const isRowGap = (element: ElementNode): boolean => rowTags.has(element.tag) || isFragment(element)
const rowTags = wordSet('table tbody tr')

/** Returns the children of an element without a label that only repeats the language of the listing in it. */
export function withoutLanguage(element: ElementNode): readonly TreeNode[] {
  const { children } = element
  const listing = children.find((child): child is ElementNode => isElement(child) && child.tag === 'pre')
  if (!listing) return children
  const language = languageOf(listing, [element])
  const isLabel = (child: TreeNode) =>
    language !== '' && isElement(child) && /^(?:span|div|p)$/.test(child.tag) && labelOf(child) === language
  return children.filter((child) => !isLabel(child))
}

/** Returns the text of a short element in lower case, without its buttons. */
function labelOf(element: ElementNode): string {
  const children = element.children.filter((child) => !isElement(child) || !isCopyButton(child))
  return visibleText({ ...element, children }, 32).toLowerCase()
}

function languageOf(element: ElementNode, ancestors: readonly ElementNode[]): string {
  for (const inside of elementsOf(element, ({ tag }) => tag !== 'code')) {
    const found = languageNamed(inside)
    if (found !== '') return found
  }
  for (const around of ancestors.slice(-4).toReversed()) {
    const found = languageNamed(around)
    if (found !== '') return found
  }
  return ''
}

function languageNamed(element: ElementNode): string {
  const named =
    attribute(element, 'data-lang') ||
    attribute(element, 'data-language') ||
    attribute(element, 'data-enlighter-language')
  if (isName(named)) return named.toLowerCase()
  const words = classes(element)
  for (const word of words) {
    const prefix = marked.exec(word)?.[0]
    const name = prefix === undefined ? '' : word.slice(prefix.length).replace(/;$/, '').toLowerCase()
    if (prefix !== undefined && isName(name) && (!/^code-|^sh_|^syntax-/i.test(prefix) || languages.has(name)))
      return name
    // Sphinx: `highlight-python`.
    const sphinx = /^highlight-(.+)$/i.exec(word)?.[1]?.toLowerCase()
    if (sphinx !== undefined && languages.has(sphinx)) return sphinx
  }
  const parameters = `${attribute(element, 'class')} ${attribute(element, 'data-syntaxhighlighter-params')}`
  const brush = /brush:\s*([\w#+-]+)/.exec(parameters)?.[1]
  if (brush) return brush.toLowerCase()
  if (element.tag !== 'pre' && element.tag !== 'code' && !words.some((word) => highlighters.test(word))) return ''
  return words.map((word) => word.toLowerCase()).find((word) => languages.has(word) && !highlighters.test(word)) ?? ''
}

const isName = (name: string): boolean =>
  /^[a-z][\w+#.-]{0,30}$/i.test(name) && !/^(?:none|plain|undefined|default|auto)$/i.test(name)
