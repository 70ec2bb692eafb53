/** Changes between two observations. */
import type { SessionEvent } from '../../../core/events/events.ts'
import type { FullReason, PageChanges } from '../../../core/shapes/page-changes.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { shownUrl } from '../tabs/page-events.ts'
import { tabIdOf } from '../tabs/tab-ids.ts'
import { aroundChange, compare, type Difference, isDialog, type Notice, type Unit, type View } from './compare.ts'
import { shortText } from './snapshot/lines.ts'
import type { Seen } from './last-observation.ts'
import { dialogOf, shownTools } from './parts.ts'

const removedChars = 100
const addedChars = 1000
/** Minimum number of changed lines for a page to count as mostly new. */
const manyLines = 40

/** Returns why two observations cannot be compared; undefined when they can. */
function whyFull(before: Seen, after: Seen): FullReason | undefined {
  if (before.document !== after.document) return 'new_page'
  if (before.part !== after.part) return 'other_part'
  return before.view === null || after.view === null ? 'too_large' : undefined
}

export interface Compared {
  readonly changes: PageChanges
  /** Set when a comparison is impossible, or when most of the page is new. */
  readonly full?: FullReason
}

/** Compares two observations, of different documents only in some facts; `alerts` were recorded between them. */
export function changesBetween(
  target: BatchTarget,
  before: Seen,
  after: Seen,
  alerts: readonly Notice[],
  maxChars: number,
): Compared {
  const reason = whyFull(before, after)
  const empty: View = { units: [], notices: [] }
  const [old, now] = reason ? [empty, empty] : [before.view!(), after.view!()]
  const difference = compare(old, now)
  const changed = difference.added.length + difference.removed.length
  const isMostlyNew = changed > manyLines && changed > now.units.length
  const full = reason ?? (isMostlyNew ? 'mostly_new' : undefined)
  const shown = full ? compare(empty, empty) : difference
  const events = target.events.since(before.seq)
  const changes: PageChanges = {
    url: before.url === after.url ? null : after.url,
    title: before.title === after.title ? null : after.title,
    texts: textsOf(shown),
    values: shown.values.map(([from, to]) => ({ ...named(to), from: from.value!, to: to.value! })),
    states: shown.states.map(({ unit, state, on }) => ({ ...named(unit), state, on })),
    ...controlsOf(shown),
    dialogs: [...scriptDialogs(events), ...pageDialogs(old, now)],
    alerts: alertsOf(old, now, alerts),
    focus: sameFocus(before, after) ? null : (after.focus ?? { ref: null, role: 'document', name: '' }),
    scroll: before.scroll.x === after.scroll.x && before.scroll.y === after.scroll.y ? null : after.scroll,
    ...(before.tools.join() !== after.tools.join() && { page_tools: shownTools(after.tools) }),
    ...eventChanges(events),
    ...tabChanges(target, before.tabs),
    elements_added: countMissing(after.controls, before.controls),
    elements_removed: countMissing(before.controls, after.controls),
  }
  return { changes: limitSize(changes, maxChars), ...(full && { full }) }
}

/** Returns the changes of a page that was not observed, from events and tabs only. */
export const changesWithoutObservation = (
  target: BatchTarget,
  before: { tabs: ReadonlySet<string>; seq: number },
): PageChanges => ({
  url: null,
  title: null,
  texts: null,
  values: [],
  states: [],
  dialogs: scriptDialogs(target.events.since(before.seq)),
  alerts: [],
  focus: null,
  scroll: null,
  ...eventChanges(target.events.since(before.seq)),
  ...tabChanges(target, before.tabs),
  elements_added: null,
  elements_removed: null,
})

const named = ({ ref, role, name }: Unit) => ({ ref, role, name })

function textsOf({ added, removed, replaced }: Difference): NonNullable<PageChanges['texts']> {
  const isText = ({ isControl, text }: Unit) => !isControl && text !== ''
  const [appeared, gone] = [added.filter(isText), removed.filter(isText)]
  const locationOf = (unit: Unit) => (unit.isControl ? unit.head : unit.where)
  const where = {
    added: appeared.map(locationOf),
    removed: gone.map(locationOf),
    replaced: replaced.map(([, unit]) => locationOf(unit)),
  }
  const hasLocations = Object.values(where).some((locations) => locations.some(Boolean))
  return {
    added: appeared.map(({ text }) => shortText(text, addedChars)),
    removed: gone.map(({ text }) => shortText(text, removedChars)),
    replaced: replaced.map(([old, unit]) => aroundChange(old.text, unit.text)),
    ...(hasLocations && { where }),
  }
}

function controlsOf({ added, removed }: Difference): Pick<PageChanges, 'controls'> {
  const heads = (units: readonly Unit[]) => units.filter(({ isControl }) => isControl).map(({ head }) => head)
  const controls = { added: heads(added), removed: heads(removed) }
  return controls.added.length + controls.removed.length > 0 ? { controls } : {}
}

function scriptDialogs(events: readonly SessionEvent[]): PageChanges['dialogs'] {
  const dialogs: PageChanges['dialogs'] = []
  for (const { type, data } of events) {
    const dialog = dialogOf(data)
    if (type === 'dialog.opened') dialogs.push({ ...dialog, open: true })
    if (type !== 'dialog.closed') continue
    const closed = { ...dialog, open: false, accepted: data['accepted'] === true }
    const at = dialogs.findIndex(({ open, message }) => open && message === dialog.message)
    if (at === -1) dialogs.push(closed)
    else dialogs[at] = closed
  }
  return dialogs
}

/** Returns dialogs in the page's HTML that opened or closed. */
function pageDialogs(old: View, now: View): PageChanges['dialogs'] {
  const dialogs = ({ notices }: View) => notices.filter(({ role }) => isDialog(role))
  const dialog = ({ text }: Notice, open: boolean) => ({
    ...dialogOf({ type: 'dialog', message: shortText(text, addedChars) }),
    open,
  })
  return [
    ...unmatched(dialogs(now), dialogs(old)).map((notice) => dialog(notice, true)),
    ...unmatched(dialogs(old), dialogs(now)).map((notice) => dialog(notice, false)),
  ]
}

function alertsOf(old: View, now: View, recorded: readonly Notice[]): PageChanges['alerts'] {
  const messages = ({ notices }: View) => notices.filter(({ role, text }) => !isDialog(role) && text !== '')
  const appeared = unmatched(messages(now), messages(old))
  const all = now.units.flatMap(({ text }) => text)
  const isShown = ({ text }: Notice) => [...messages(now).map((notice) => notice.text), ...all].includes(text)
  const passed = unmatched(recorded, appeared).filter((notice) => !isShown(notice))
  return [
    ...appeared.map((notice) => ({ ...notice, text: shortText(notice.text, addedChars), gone: false })),
    // The browser shows its own messages beside the page, which observations do not contain.
    ...passed.map((notice) => ({ ...notice, gone: notice.role !== 'validation' })),
  ]
}

/** Returns the items of a list that are not in another; duplicates match separately. */
function unmatched(list: readonly Notice[], other: readonly Notice[]): Notice[] {
  const left = other.map(({ text }) => text)
  return list.filter(({ text }) => {
    const at = left.indexOf(text)
    if (at >= 0) left.splice(at, 1)
    return at === -1
  })
}

function eventChanges(events: readonly SessionEvent[]): Pick<PageChanges, 'downloads' | 'file_choosers'> {
  const downloads: PageChanges['downloads'] = []
  for (const { type, data } of events) {
    const filename = String(data['filename'])
    if (type === 'download.started') downloads.push({ filename, success: null })
    if (type !== 'download.finished') continue
    const at = downloads.findIndex((download) => download.success === null && download.filename === filename)
    const { bytes, error } = data as { bytes?: number; error?: string }
    const done = {
      filename,
      success: data['success'] === true,
      ...(bytes !== undefined && { bytes }),
      ...(error !== undefined && { error }),
    }
    downloads.splice(at === -1 ? downloads.length : at, 1, done)
  }
  const choosers = events.filter(({ type }) => type === 'file_chooser.opened')
  return {
    downloads,
    file_choosers: choosers.map(({ data }) => ({
      ...(typeof data['tab_id'] === 'string' && { tab_id: data['tab_id'] }),
      multiple: data['multiple'] === true,
    })),
  }
}

function tabChanges(target: BatchTarget, before: ReadonlySet<string>) {
  const now = target.pages.map((page) => ({ tab_id: tabIdOf(page), url: shownUrl(page.url()) }))
  return {
    tabs_opened: now.filter(({ tab_id: id }) => !before.has(id)),
    tabs_closed: [...before].filter((id) => !now.some((tab) => tab.tab_id === id)).map((id) => ({ tab_id: id })),
  }
}

const sameFocus = ({ focus: a }: Seen, { focus: b }: Seen): boolean =>
  a === b || (a !== null && b !== null && a.role === b.role && (a.ref === null ? a.name === b.name : a.ref === b.ref))

const countMissing = (here: ReadonlySet<string>, there: ReadonlySet<string>): number =>
  [...here].filter((ref) => !there.has(ref)).length

/** Limits the size of the changes, keeping the most important kinds first; counts the others. */
function limitSize(changes: PageChanges, maxChars: number): PageChanges {
  const omitted: Record<string, number> = {}
  let room = maxChars
  /** Returns the indexes of the items that fit. */
  const fitting = (kind: string, list: readonly unknown[]): Set<number> => {
    const kept = new Set<number>()
    for (const [at, item] of list.entries()) {
      const size = JSON.stringify(item).length + 1
      if (size <= room) {
        room -= size
        kept.add(at)
      } else omitted[kind] = (omitted[kind] ?? 0) + 1
    }
    return kept
  }
  const keep = <Item>(list: readonly Item[], kept: ReadonlySet<number>) => list.filter((_, at) => kept.has(at))
  const fit = <Item>(kind: string, list: readonly Item[]) => keep(list, fitting(kind, list))
  const { texts, controls } = changes
  const important = {
    alerts: fit('alerts', changes.alerts),
    dialogs: fit('dialogs', changes.dialogs),
    values: fit('values', changes.values),
    states: fit('states', changes.states),
  }
  const [replaced, added] = [fitting('texts', texts?.replaced ?? []), fitting('texts', texts?.added ?? [])]
  const newControls = fit('controls', controls?.added ?? [])
  const removed = fitting('texts', texts?.removed ?? [])
  const oldControls = fit('controls', controls?.removed ?? [])
  const keepTexts = <Item>(lists: { added: string[]; removed: string[]; replaced: Item[] }) => ({
    added: keep(lists.added, added),
    removed: keep(lists.removed, removed),
    replaced: keep(lists.replaced, replaced),
  })
  return {
    ...changes,
    ...important,
    texts: texts && { ...keepTexts(texts), ...(texts.where && { where: keepTexts(texts.where) }) },
    ...(controls && { controls: { added: newControls, removed: oldControls } }),
    ...(Object.keys(omitted).length > 0 && { omitted }),
  }
}
