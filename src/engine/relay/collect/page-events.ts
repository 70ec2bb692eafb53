/** Turns page events of a tab into event records. */
import type { EventDraft } from '../events/buffer.ts'

/** Fields used of any of the events. */
interface Params {
  readonly frame: {
    readonly id: string
    readonly parentId?: string
    readonly url: string
    readonly urlFragment?: string
  }
  readonly frameId: string
  readonly url: string
  readonly type: string
  readonly message: string
  readonly suggestedFilename: string
}

/** Returns the record of a page event, or undefined for other events and for child frames. */
export function pageDraft(method: string, params: Record<string, unknown>): EventDraft | undefined {
  const reader = readers[method]
  const draft = reader?.(params as unknown as Params)
  return draft && { kind: 'page', ts: Date.now(), ...draft }
}

const readers: Record<string, (params: Params) => Pick<EventDraft, 'type' | 'data' | 'frame_id'> | undefined> = {
  'Page.frameNavigated': ({ frame }) =>
    frame.parentId
      ? undefined
      : { type: 'navigated', data: { url: frame.url + (frame.urlFragment ?? '') }, frame_id: frame.id },
  'Page.navigatedWithinDocument': ({ url, frameId }) => ({
    type: 'navigated',
    data: { url, same_document: true },
    frame_id: frameId,
  }),
  'Page.loadEventFired': () => ({ type: 'load', data: {} }),
  'Page.javascriptDialogOpening': ({ type, message, url }) => ({
    type: 'dialog',
    data: { kind: type, text: message, url },
  }),
  'Page.downloadWillBegin': ({ url, suggestedFilename }) => ({
    type: 'download',
    data: { url, filename: suggestedFilename },
  }),
  'Inspector.targetCrashed': () => ({ type: 'crashed', data: {} }),
}
