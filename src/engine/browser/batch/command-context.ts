/** Context that a command runs with, built from a session and the engine's tools. */
import type { CommandContext } from '../../../core/operation/command.ts'
import { openableUrl } from '../../../core/net/urls.ts'
import { act, type ActionContext, callLimit } from '../elements/act.ts'
import type { BatchTarget } from './batch-target.ts'
import { evaluate, evaluateOn } from './evaluate.ts'
import { measure } from '../elements/measure.ts'
import { markAction, navigated, watchNavigations } from '../tabs/navigation-watch.ts'
import { overlayOf } from '../overlay/overlay.ts'
import { movePointer, touch } from '../input/pointer.ts'
import { navigateAway } from '../tabs/hung-script.ts'
import type { BatchTools } from './run-batch.ts'
import { locateAll, parseSelector } from '../elements/selectors.ts'

interface ContextParts extends Omit<ActionContext, 'page'> {
  readonly target: BatchTarget
  readonly tools: BatchTools
  /** Whether the command may make the page navigate, so that a later wait is for its navigation. */
  readonly acts: boolean
}

export async function makeContext({ target, tools, acts, ...parts }: ContextParts): Promise<CommandContext> {
  const { signal, delivery } = parts
  const page = await target.page()
  watchNavigations(page)
  const overlay = await overlayOf(page)
  await delivery?.begin(page)
  if (acts) markAction(page)
  return {
    page,
    browserContext: target.browserContext,
    signal,
    overlay,
    pointer: target.pointer,
    locateAll: (selector) => locateAll(page, parseSelector(selector)),
    act: ({ selector, timeout_ms: timeoutMs }, needs, action, options) =>
      act(
        { page, ...parts },
        selector,
        async (element, limit) => {
          const result = await action(element, limit)
          if (needs === 'pointer') touch(target.pointer, options?.endsOn ?? element)
          return result
        },
        { ...options, needs, timeoutMs },
      ),
    send: (send) => (delivery ? delivery.send(send) : send()),
    receivedChars: async () => (await delivery?.received()) ?? null,
    evaluate: (expression, { timeoutMs }) => evaluate(page, expression, { timeoutMs, signal }),
    evaluateOn: (element, expression, { timeoutMs }) => evaluateOn(element, expression, { timeoutMs, signal }),
    navigated: (timeoutMs) => navigated(page, callLimit(timeoutMs, signal)),
    measure: (selector, options) => measure(page, selector, options),
    movePointer: (to, steps) => movePointer(page, target.pointer, to, steps),
    checkUrl: (url) => openableUrl(url),
    leave: (go) => navigateAway(page, go),
    markdown: (element) => tools.markdown(page, element),
    structured: (request) => tools.structured(page, request),
    upload: (path) => target.upload(path),
    save: (path, bytes) => target.save(path, bytes),
  }
}
