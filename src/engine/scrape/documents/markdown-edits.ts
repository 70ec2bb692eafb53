/** Changes parts of Markdown, and leaves the rest as it is. */
import type { postprocess } from 'micromark'
import { squeeze } from '../../../core/text/pieces.ts'

type Events = ReturnType<typeof postprocess>
type Token = Events[number][1]

export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Returns a text with changes; those within another one are ignored. */
export function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let end = 0
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    if (edit.from < end) continue
    parts.push(text.slice(end, edit.from), edit.text)
    end = edit.to
  }
  return parts.join('') + text.slice(end)
}

interface Image {
  readonly token: Token
  label: string
  isInline: boolean
}

/** Returns the changes that remove images whose data is in the text, and the definitions of these. */
export function inlineImages(text: string, events: Events): Edit[] {
  const textOf = (token: Token) => text.slice(token.start.offset, token.end.offset)
  const labelOf = (token: Token) => squeeze(textOf(token)).toLowerCase()
  const removed: Token[] = []
  const labels = new Set<string>()
  const images: Image[] = []
  const open: Image[] = []
  let definition: Pick<Image, 'token' | 'label'> | undefined
  for (const [kind, token] of events) {
    const { type } = token
    if (kind === 'exit') {
      if (type === 'image') images.push(open.pop()!)
      continue
    }
    const image = open.at(-1)
    if (type === 'image') open.push({ token, label: '', isInline: false })
    else if (type === 'definition') definition = { token, label: '' }
    else if (type === 'definitionLabelString') definition!.label = labelOf(token)
    else if (type === 'definitionDestinationString' && isInlineImage(textOf(token))) {
      removed.push(definition!.token)
      labels.add(definition!.label)
    } else if (image && type === 'resourceDestinationString') image.isInline = isInlineImage(textOf(token))
    else if (image && (type === 'referenceString' || (type === 'labelText' && image.label === '')))
      image.label = labelOf(token)
  }
  const hidden = images.filter(({ isInline, label }) => isInline || labels.has(label)).map(({ token }) => token)
  return [...removed, ...hidden].map(({ start, end }) => ({ from: start.offset, to: end.offset, text: '' }))
}

const isInlineImage = (target: string): boolean => /^data:image\//i.test(target)
