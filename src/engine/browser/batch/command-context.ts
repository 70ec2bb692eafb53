/** Context that a command runs with, built from a session and the engine's tools. */
import type { Locator, Page } from 'playwright'
import { BaxError } from '../../../core/errors/errors.ts'
import type { CommandContext } from '../../../core/operation/command.ts'
import { findTexts } from '../observe/find-texts.ts'
import { approveOnPage } from '../approvals/approve-on-page.ts'
import { behindGate } from '../approvals/code-gate.ts'
import type { GateFacts } from '../ports/approvals.ts'
import { act, type ActionContext, callLimit } from '../elements/act.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { titleOf } from '../page/internals.ts'
import { evaluate, evaluateOn } from '../page/evaluate.ts'
import { measure } from '../elements/measure.ts'
import { markAction, navigated, watchNavigations } from '../../../commands/wait/navigation-watch.ts'
import { annotate } from '../overlay/annotate.ts'
import { overlayOf } from '../overlay/overlay.ts'
import { movePointer, touch } from '../input/pointer.ts'
import { untilPressed } from '../input/until-pressed.ts'
import { navigateAway } from '../page/hung-script.ts'
import { actionSeq, markActionSeq } from './action-seq.ts'
import { matcher } from '../page/matcher.ts'
import { poll } from '../page/poll.ts'
import { tabControl } from '../tabs/tab-control.ts'
import type { pageToolsOf } from '../page-tools/page-tools.ts'
import type { BatchTools } from './run-batch.ts'
import { locateAll, parseSelector } from '../elements/selectors.ts'
import { emulationOf } from '../emulation/emulation.ts'
import { initScriptsOf } from '../emulation/init-scripts.ts'
import { networkOf } from '../network/network.ts'
import { measureVitals } from '../vitals/vitals.ts'
import { findSimilar } from '../elements/similar.ts'
import type { PausableTimeout } from '../../../core/process/pausable-timeout.ts'

interface ContextParts extends Omit<ActionContext, 'direct'> {
  readonly target: BatchTarget
  readonly tools: BatchTools
  /** Whether the command may make the page navigate, so that a later wait is for its navigation. */
  readonly acts: boolean
  /** Set in sessions whose caller needs an approval for code. */
  readonly gate: GateFacts | undefined
  readonly warn: (text: string) => void
  /** Clock of the command. */
  readonly clock: PausableTimeout
}

export async function makeContext({ gate, ...parts }: ContextParts): Promise<CommandContext> {
  const context = await openContext(parts)
  return gate ? behindGate(context, parts.page, gate) : context
}

async function openContext(given: Omit<ContextParts, 'gate'>): Promise<CommandContext> {
  const { page, target, tools, acts, clock, ...parts } = given
  const { signal, delivery, onDirect } = parts
  watchNavigations(page)
  const overlay = await overlayOf(page)
  await delivery?.begin(page)
  if (acts) {
    markAction(page)
    markActionSeq(target.events)
  }
  return {
    page,
    browserContext: target.browserContext,
    signal,
    overlay,
    network: networkOf(target),
    emulation: emulationOf(target),
    initScripts: initScriptsOf(target.browserContext),
    vitals: () => measureVitals(page),
    annotate: () => annotate(page, signal),
    pointer: target.pointer,
    events: target.events,
    actionSeq: actionSeq(target.events),
    credentials: credentialInput(page, target, { caller: tools.caller, delivery, clock }),
    title: () => titleOf(page),
    locateAll: (selector) => locateAll(page, parseSelector(selector)),
    act: actor({ page, target, ...parts }),
    send: sender(delivery),
    warn: parts.warn,
    nextInput: () => delivery?.restart(),
    receivedChars: async () => (await delivery?.received()) ?? null,
    approveCode: async () => target.checkCode?.(),
    evaluate: (expression, { timeoutMs }) => evaluate(page, expression, { timeoutMs, signal }),
    evaluateOn: (element, expression, { timeoutMs }) => evaluateOn(element, page, expression, { timeoutMs, signal }),
    navigated: (timeoutMs) => navigated(page, callLimit(timeoutMs, signal)),
    measure: (selector, options) => measure(page, selector, options, { direct: isDirect(target), onDirect }),
    movePointer: (to, steps) => movePointer(page, target.pointer, to, steps),
    poll: (probe, timeoutMs) => poll(page, probe, { timeoutMs, signal }),
    matcher,
    findTexts: (matches, selector) => findTexts(page, matches, { selector, signal }),
    findSimilar: (selector, fingerprint) => findSimilar(page, selector, fingerprint),
    checkUrl: async (url) => target.checkUrl(url),
    leave: (go) => navigateAway(page, go),
    clipboard: () => target.clipboard(),
    tabs: tabControl(target, page),
    pageTools: pageTools({ page, target, signal, clock, schemaErrors: tools.schemaErrors }),
    answerDialog: (answer) => target.dialogs.answerNext(answer),
    markdown: (element) => tools.markdown(page, parts.warn, element),
    structured: (request) => tools.structured(page, request),
    startRecording: async (kind, options) => (await recordings(target)).start(kind, options),
    stopRecording: async (kind, name) => (await recordings(target)).stop(kind, name),
    upload: (names) => target.upload(names),
    save: (path, bytes, source) => target.save(path, bytes, source),
  }
}

/** Returns the function that sends the input of a command. */
function sender(delivery: ContextParts['delivery']): CommandContext['send'] {
  return (work, press) => {
    const send = () => (delivery ? delivery.send(work) : work())
    return press ? untilPressed(send, { ...press, delivery }) : send()
  }
}

/** Returns the input of credentials, which few commands need. */
const credentialInput = (
  page: Page,
  target: BatchTarget,
  { caller, delivery, clock }: Pick<BatchTools, 'caller'> & Pick<ContextParts, 'delivery' | 'clock'>,
): CommandContext['credentials'] => {
  const untilApproved = async (summary: string) => {
    const { approvals } = target
    if (approvals?.confirms('credential'))
      await approveOnPage({ page, approvals, clock }, { kind: 'credential', summary, url: page.url() })
  }
  return {
    async logIn(name, limit) {
      await untilApproved(name)
      const [{ credentialFor }, { logIn }] = await Promise.all([
        import('../credentials/fill-secret.ts'),
        import('../credentials/log-in.ts'),
      ])
      return logIn(target, page, await credentialFor(target, name, caller), limit)
    },
    async usePasskeys(name) {
      await untilApproved(`passkeys of ${name}`)
      const [{ credentialFor }, { usePasskeys }] = await Promise.all([
        import('../credentials/fill-secret.ts'),
        import('../credentials/passkeys.ts'),
      ])
      return usePasskeys(target, await credentialFor(target, name, caller))
    },
    async fill(element, { selector, reference }, limit) {
      const { fillReference } = await import('../credentials/fill-secret.ts')
      await untilApproved(reference)
      const handle = await element.elementHandle(limit)
      await handle.waitForElementState('visible', limit)
      await handle.waitForElementState('editable', limit)
      await fillReference(target, { selector, handle }, { reference, caller, delivery })
    },
  }
}

/** Returns the tools of the page, which few commands need. */
function pageTools(facts: Parameters<typeof pageToolsOf>[0]): CommandContext['pageTools'] {
  const load = async () => (await import('../page-tools/page-tools.ts')).pageToolsOf(facts)
  return { list: async () => (await load()).list(), call: async (call) => (await load()).call(call) }
}

/** Returns whether commands may work without Playwright: the user of a relayed browser may act at the same time. */
const isDirect = (target: BatchTarget): boolean => target.recordable !== undefined

type ActorParts = Omit<ContextParts, 'tools' | 'acts' | 'gate' | 'clock' | 'warn'>

/** Returns the function that acts on elements, and records which one the pointer was moved to. */
function actor({ page, target, ...parts }: ActorParts): CommandContext['act'] {
  const context = { page, ...parts, direct: isDirect(target) }
  return ({ selector, timeout_ms: timeoutMs }, needs, action, { direct, ...options } = {}) => {
    const touched = <T>(result: T, element: Locator): T => {
      if (needs === 'pointer') touch(target.pointer, options.endsOn ?? element)
      return result
    }
    const visible = () => locateAll(page, parseSelector(selector)).filter({ visible: true }).first()
    return act(context, selector, async (element, limit) => touched(await action(element, limit), element), {
      ...options,
      needs,
      timeoutMs,
      direct: direct && (async (element) => touched(await direct(element), visible())),
    })
  }
}

/** Loads the recorders, which few sessions need. */
async function recordings(target: BatchTarget) {
  if (target.recordable) return (await import('../recording/recordings.ts')).recordingsOf(target.recordable)
  throw new BaxError('unsupported', 'a relay session cannot be recorded: it has no files', {
    hint: 'use a session of the engine ("bax session create"), or "bax relay events --har" for the requests',
  })
}
