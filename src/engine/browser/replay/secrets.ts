/** The fields of a page whose text must not be in its replay. */
import type { Page } from 'playwright'
import { withDeadline } from '../../../core/process/deadline.ts'
import { pageFunction } from '../page/page-function.ts'
import type { BatchTarget } from '../ports/batch-target.ts'
import { firstMatch } from './capture.ts'
import type * as secrets from './secrets.page.ts'
import secretsScript from './secrets.page.ts?inline'

/** Time for an answer; a frame that takes longer may show any field. */
const answerMs = 500
/** Time for an answer about the element of a command, which waits for it longer; texts for an unknown one are hidden. */
const targetMs = 5000

const secretsIn = pageFunction<typeof secrets.secretsIn>(secretsScript, 'secretsIn')
const isForSecret = pageFunction<typeof secrets.isForSecret>(secretsScript, 'isForSecret')

export interface PageSecrets extends secrets.DocumentSecrets {
  /** Whether a command is for such a field; undefined when the page does not answer. */
  readonly isTarget: boolean | undefined
}

const none: secrets.DocumentSecrets = { values: [], hasSecret: false, isFocused: false }
const unknown: secrets.DocumentSecrets = { values: [], hasSecret: true, isFocused: true }

/** Reads the fields of all frames of the active page, and the one that a selector matches; never fails. */
export async function readSecrets(target: BatchTarget, selector?: string): Promise<PageSecrets> {
  const page = target.activePage
  if (!page || target.crashed) return { ...none, isTarget: false }
  // A dialog stops the page.
  if (target.dialogs.newest) return { ...unknown, isTarget: undefined }
  const [isTarget, ...frames] = await Promise.all([
    selector === undefined ? false : answered(isSecretTarget(page, selector), undefined, targetMs),
    ...page.frames().map((frame) => answered(frame.evaluate(secretsIn, undefined), unknown)),
  ])
  return {
    values: frames.flatMap(({ values }) => values),
    hasSecret: frames.some(({ hasSecret }) => hasSecret),
    isFocused: frames.some(({ isFocused }) => isFocused),
    isTarget,
  }
}

async function isSecretTarget(page: Page, selector: string): Promise<boolean> {
  const element = await firstMatch(page, selector)
  try {
    return (await element?.evaluate(isForSecret, undefined)) ?? false
  } finally {
    await element?.dispose()
  }
}

const answered = <T, Other>(work: Promise<T>, value: Other, ms = answerMs): Promise<T | Other> =>
  withDeadline(work, { ms, value }).catch(() => value)
