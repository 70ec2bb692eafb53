/** Sends one signed request of a webhook, and repeats it if it fails for a reason that may pass. */
import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { asBaxError, BaxError } from '../core/errors/errors.ts'
import { limits } from '../core/limits/limits.ts'
import { normaliseUrl } from '../core/net/urls.ts'
import { version } from '../core/version.ts'
import type { RequestRules } from './egress/egress.ts'
import { request } from './egress/http-client.ts'

export interface WebhookRequest {
  readonly url: string
  /** Headers of the caller; those of bax take precedence. */
  readonly headers?: Readonly<Record<string, string>>
  /** ID of the event, the same in all tries. */
  readonly event: string
  readonly body: object
  /** Key of the signature; not signed if undefined. */
  readonly key: string | undefined
}

/** Sends the request; returns the reason if all tries fail. @throws the reason of the signal */
export async function postWebhook(
  { url, headers = {}, event, body, key }: WebhookRequest,
  egress: RequestRules,
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = JSON.stringify(body)
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const all = {
    ...Object.fromEntries(lower),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'user-agent': `bax/${version}`,
    'x-bax-event': event,
    ...(key !== undefined && {
      'x-firecrawl-signature': `sha256=${createHmac('sha256', key).update(text).digest('hex')}`,
    }),
  }
  for (let attempt = 1; ; attempt++) {
    const failure = await post(url, all, text, { egress, signal })
    if (failure === undefined) return undefined
    if (!failure.isTemporary || attempt >= limits.webhook.tries) return failure.message
    await pause(limits.webhook.retryMs * 4 ** (attempt - 1), undefined, { signal, ref: false })
  }
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  { egress, signal }: { readonly egress: RequestRules; readonly signal: AbortSignal },
) {
  const late = AbortSignal.timeout(limits.webhook.answerMs)
  const either = AbortSignal.any([signal, late])
  try {
    const { status, body: answer } = await request(normaliseUrl(url), { headers, body, signal: either, egress })
    answer.destroy()
    if (status >= 200 && status < 300) return undefined
    const isTemporary = status >= 500 || status === 408 || status === 429
    return { message: `the receiver responded with ${status}`, isTemporary }
  } catch (error) {
    signal.throwIfAborted()
    if (late.aborted) return { message: 'the receiver did not answer in time', isTemporary: true }
    const isBlocked = error instanceof BaxError && error.code === 'url_blocked'
    return { message: asBaxError(error).message, isTemporary: !isBlocked }
  }
}
