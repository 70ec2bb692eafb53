/** Control words of RTF that need no state but the style of the text. */
import type { RunStyle } from './inline.ts'

/** Groups whose text is not part of the document. */
export const hiddenGroups: ReadonlySet<string> = new Set([
  ...'fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl generator info'.split(' '),
  ...'pict object header headerl headerr headerf footer footerl footerr footerf themedata'.split(' '),
  ...'colorschememapping datastore latentstyles xmlnstbl filetbl fldinst nonshppict objdata'.split(' '),
  ...'creatim revtim printim'.split(' '),
])

/** Characters written as words. */
export const characters: Readonly<Record<string, string>> = {
  tab: '\t',
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
  '~': '\u00a0',
  _: '\u2011',
  '-': '',
}

/** Returns the style after a control word; undefined if the word does not change it. */
export function styleAfter(style: RunStyle, word: string, value: number | undefined): RunStyle | undefined {
  const isOn = value !== 0
  switch (word) {
    case 'b':
      return { ...style, bold: isOn }
    case 'i':
      return { ...style, italic: isOn }
    case 'strike':
      return { ...style, strike: isOn }
    case 'super':
      return { ...style, raised: isOn ? 'sup' : undefined }
    case 'sub':
      return { ...style, raised: isOn ? 'sub' : undefined }
    case 'nosupersub':
      return { ...style, raised: undefined }
    case 'up':
    case 'dn':
      return { ...style, raised: value === 0 ? undefined : word === 'up' ? 'sup' : 'sub' }
    case 'plain':
      return { href: style.href }
    default:
      return undefined
  }
}
