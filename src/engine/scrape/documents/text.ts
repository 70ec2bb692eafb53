/** Documents that are text: JSON, plain text, CSV. */
import { element, elementAround, fenced, fileName, type PageDocument, treeOf } from './document.ts'

interface Text {
  readonly text: string
  readonly charset: string
  readonly url: string
}

export function jsonDocument({ text, charset, url }: Text): PageDocument {
  const parsed = parse(text)
  return {
    tree: treeOf(url, fileName(url), [element('pre', {}, element('code', { class: 'language-json' }, text))]),
    raw: text,
    charset,
    markdown: fenced(text, 'json'),
    isPage: false,
    ...(parsed ? { value: parsed.value } : { warning: 'the answer says it is JSON, and cannot be parsed as such' }),
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return lines(text)
  }
}

/** One JSON value a line. */
function lines(text: string): { value: unknown } | undefined {
  const rows = text.split('\n').filter((line) => line.trim() !== '')
  if (rows.length < 2) return undefined
  try {
    return { value: rows.map((line) => JSON.parse(line) as unknown) }
  } catch {
    return undefined
  }
}

export const textDocument = ({ text, charset, url }: Text): PageDocument => ({
  tree: treeOf(url, fileName(url), [element('pre', {}, text)]),
  raw: text,
  charset,
  markdown: text,
  isPage: false,
})

/** Comma, tab or semicolon separated values as a table; the first row is the head, and as wide as the widest. */
export async function csvDocument({ text, charset, url }: Text): Promise<PageDocument> {
  const { default: papa } = await import('papaparse')
  const { data } = papa.parse<string[]>(text, { skipEmptyLines: 'greedy' })
  const width = data.reduce((most, row) => Math.max(most, row.length), 0)
  const [first = [], ...rows] = data
  // Short rows stay short, as both HTML and Markdown allow: filled up, a small file could be more than memory holds.
  const head = Array.from({ length: width }, (_, at) => first[at] ?? '')
  return {
    tree: treeOf(url, fileName(url), [
      element('table', {}, element('thead', {}, cells('th', head)), elementAround('tbody', rows.map((row) => cells('td', row)))), // prettier-ignore
    ]),
    raw: text,
    charset,
    markdown: width === 0 ? '' : [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n') + '\n',
    isPage: false,
  }
}

const cells = (tag: string, row: readonly string[]) =>
  elementAround(
    'tr',
    row.map((cell) => element(tag, {}, cell)),
  )

const line = (row: readonly string[]): string => `| ${row.map(cellText).join(' | ')} |`

const cellText = (cell: string): string =>
  cell
    .trim()
    .replaceAll(/([\\|<])/g, String.raw`\$1`)
    .replaceAll(/\r\n?|\n/g, '<br>')
