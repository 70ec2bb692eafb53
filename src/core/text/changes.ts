/** Changes of a page as text: a summary line, then a line for each change. */
import type { StepResult } from '../shapes/observe.ts'
import type { FullReason, PageChanges } from '../shapes/page-changes.ts'
import { toolsLine } from './observation.ts'

/** Formats the changes of a step, and the errors that occurred during it. */
export function stepText({ changes, results, full }: StepResult): string {
  const events = results.flatMap(({ events = [] }) => events).flatMap(({ type, data }) => failureText(type, data) ?? [])
  // Other documents have other controls, and focus on none of them says nothing.
  const shown =
    full === 'new_page'
      ? { ...changes, elements_added: 0, elements_removed: 0, focus: changes.focus?.ref ? changes.focus : null }
      : changes
  const places = [...(changes.url_changed ? ['URL'] : []), ...(changes.title_changed ? ['title'] : [])]
  const isObvious = full === 'new_page' && changes.url_changed
  return [...changeLines(shown, places), ...events, ...(full && !isObvious ? [fullText[full]] : [])].join('\n')
}

/** Formats the changes since the last observation. */
export const diffText = (changes: PageChanges): string =>
  changeLines(changes, [...(changes.url === null ? [] : ['URL']), ...(changes.title === null ? [] : ['title'])]).join(
    '\n',
  )

/** Reasons why the whole page follows. */
export const fullText: Readonly<Record<FullReason, string>> = {
  no_earlier_observation: 'no earlier observation to compare with; the whole page:',
  new_page: 'a new page:',
  mostly_new: 'most of the page is new:',
  other_part: 'the last observation was of another part of the page; all of this one:',
  too_large: 'the page is too large to compare; the whole page:',
}

function changeLines(changes: PageChanges, places: readonly string[]): string[] {
  const { texts, controls, tabs_opened: opened, tabs_closed: closed, omitted } = changes
  const textCount = texts ? texts.added.length + texts.removed.length + texts.replaced.length : 0
  const lines = [...textLines(texts), ...controlLines(changes), ...noticeLines(changes), ...placeLines(changes)]
  const facts = [
    ...places,
    ...counted(textCount, 'text', 'changed'),
    ...counted(changes.elements_added ?? controls?.added.length ?? 0, 'control', 'added'),
    ...counted(changes.elements_removed ?? controls?.removed.length ?? 0, 'control', 'removed'),
    ...counted(changes.values.length, 'value', 'changed'),
    ...counted(changes.states.length, 'state', 'changed'),
    ...opened.map(({ tab_id: id, url }) => `${id} opened (${url})`),
    ...closed.map(({ tab_id: id }) => `${id} closed`),
  ]
  const nothing = texts === null ? 'neither URL nor title; the page was not observed' : 'nothing'
  return [
    `changed: ${facts.length > 0 ? facts.join(', ') : lines.length > 0 ? 'see below' : nothing}`,
    ...lines,
    ...(omitted
      ? [
          `${Object.entries(omitted)
            .map(([kind, count]) => `${count} ${kind}`)
            .join(', ')} omitted; use --max-chars`,
        ]
      : []),
  ]
}

const counted = (count: number, what: string, how: string): string[] =>
  count > 0 ? [`${count} ${what}${count === 1 ? '' : 's'} ${how}`] : []

const quote = (text: string): string => JSON.stringify(text)

function textLines(texts: PageChanges['texts']): string[] {
  if (!texts) return []
  const at = (kind: 'added' | 'removed' | 'replaced', index: number) => {
    const place = texts.where?.[kind][index]
    return place ? ` (${place})` : ''
  }
  return [
    ...texts.replaced.map(([old, text], index) => `  ${quote(old)} -> ${quote(text)}${at('replaced', index)}`),
    ...texts.added.map((text, index) => `  + ${quote(text)}${at('added', index)}`),
    ...texts.removed.map((text, index) => `  - ${quote(text)}${at('removed', index)}`),
  ]
}

type Named = { ref: string | null; role: string; name: string }

const named = ({ ref, role, name }: Named): string =>
  [role, ...(name ? [quote(name)] : []), ...(ref ? [`[ref=${ref}]`] : [])].join(' ')

const controlLines = ({ controls, values, states }: PageChanges): string[] => [
  ...(controls?.added ?? []).map((head) => `  + ${head}`),
  ...(controls?.removed ?? []).map((head) => `  - ${head}`),
  ...values.map((value) => `  ${named(value)}: ${quote(value.from)} -> ${quote(value.to)}`),
  ...states.map((state) => `  ${named(state)}: ${state.on ? '' : 'not '}${state.state}`),
]

const noticeLines = ({
  alerts,
  dialogs,
  downloads,
  file_choosers: choosers,
  page_tools: tools,
}: PageChanges): string[] => [
  ...dialogs.map(({ type, message, open, accepted }) => {
    const end = accepted === undefined ? (open ? 'open' : 'closed') : accepted ? 'accepted' : 'dismissed'
    return `dialog: ${type} ${quote(message)} ${end}`
  }),
  ...alerts.map(({ role, text, gone }) => `${role}: ${text}${gone ? ' (gone again)' : ''}`),
  ...downloads.map(({ filename, success, bytes, error }) => {
    const end = success === null ? 'running' : success ? `${bytes} bytes` : `failed: ${error}`
    return `download: ${filename} ${end}`
  }),
  ...toolsLine(tools),
  ...choosers.map(({ multiple }) => `file chooser: opened${multiple ? ', takes several files' : ''}`),
]

const placeLines = ({ focus, scroll }: PageChanges): string[] => [
  ...(focus ? [`focus: ${named(focus)}`] : []),
  ...(scroll ? [`scroll: ${scroll.x}, ${scroll.y}`] : []),
]

/** Formats a failure event of a step, which is not one of its changes. */
function failureText(type: string, data: Record<string, unknown>): string | undefined {
  if (type === 'console') return `console ${data['level']}: ${data['text']}`
  if (type === 'page.error') return `error of the page: ${data['message']}`
  if (type === 'network.failed') return `request failed: ${data['method']} ${data['url']} (${data['error']})`
  return undefined
}
