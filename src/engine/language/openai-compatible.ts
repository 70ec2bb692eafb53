/** Language model behind an OpenAI-compatible endpoint (`POST …/chat/completions`). */
import { setTimeout as pause } from 'node:timers/promises'
import type { ModelConfig } from '../../core/config/model-settings.ts'
import type { ProxySettings } from '../../core/config/proxy-settings.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { boundedText } from '../bounded-text.ts'
import { limits } from '../../core/limits/limits.ts'
import { withDeadline } from '../../core/process/deadline.ts'
import { operatorFetch } from '../egress/operator-fetch.ts'
import type { LanguageModel, Question } from './model.ts'

/** Response formats to request, from the strictest; older servers support fewer. */
const formats = ['schema', 'object', 'text'] as const
type Format = (typeof formats)[number]

export class OpenAiCompatible implements LanguageModel {
  readonly #url: URL
  readonly #config: ModelConfig
  readonly #proxies: ProxySettings | undefined
  /** Strictest format that the server has not rejected. */
  #format: Format = 'schema'

  constructor(config: ModelConfig, proxies: ProxySettings | undefined) {
    this.#config = config
    this.#proxies = proxies
    const base = config.url.replace(/\/+$/, '')
    this.#url = new URL(base.endsWith('/chat/completions') ? base : `${base}/chat/completions`)
  }

  async answer(question: Question): Promise<string> {
    const { answerMs: ms } = limits.model
    const error = `the language model did not answer within ${ms / 1000} s`
    const { signal: caller } = question
    try {
      return await withDeadline((signal) => this.#answer(question, signal), {
        ms,
        error,
        ...(caller && { signal: caller }),
      })
    } catch (thrown) {
      if (thrown instanceof BaxError || caller?.aborted) throw thrown
      throw failed('the language model cannot be reached', thrown)
    }
  }

  async #answer(question: Question, signal: AbortSignal): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const format = question.schema ? this.#format : 'text'
      const response = await this.#send(question, format, signal)
      if (response.ok) return contentOf(await textOf(response))
      const body = await textOf(response)
      if (isFormatRejected(response.status, body) && format !== 'text') {
        this.#format = formats[formats.indexOf(format) + 1]!
        attempt--
      } else if (isBusy(response.status) && attempt < limits.model.retries) {
        await pause(pauseBefore(response, attempt), undefined, { signal })
      } else {
        throw refusal(response)
      }
    }
  }

  #send({ messages, schema }: Question, format: Format, signal: AbortSignal): Promise<Response> {
    const { key, name } = this.#config
    const init = {
      method: 'POST',
      // A redirect could send the key and the page's text to another host.
      redirect: 'error' as const,
      signal,
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify({
        model: name,
        messages,
        temperature: 0,
        max_tokens: limits.model.answerTokens,
        ...(schema &&
          format === 'schema' && {
            response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: false } },
          }),
        ...(format === 'object' && { response_format: { type: 'json_object' } }),
      }),
    }
    return operatorFetch(this.#url, init, this.#proxies)
  }
}

const isBusy = (status: number): boolean => status === 429 || status === 500 || status === 502 || status === 503

const isFormatRejected = (status: number, body: string): boolean =>
  (status === 400 || status === 422) && /response_format|json_schema|json_object|schema/i.test(body)

function pauseBefore(response: Response, attempt: number): number {
  const requested = Number(response.headers.get('retry-after')) * 1000
  return Math.min(requested > 0 ? requested : 500 * 2 ** attempt, limits.model.pauseMs)
}

function refusal({ status, headers }: Response): BaxError {
  const hint = {
    401: 'check the key of the model (BAX_MODEL_KEY)',
    403: 'check the key of the model (BAX_MODEL_KEY)',
    404: 'check the URL and the name of the model (BAX_MODEL_URL, BAX_MODEL)',
    429: 'retry later: the model limits the rate of requests',
  }[status]
  const retryAfterSecs = Number(headers.get('retry-after')) || undefined
  return new BaxError('model_failed', `the language model answered with status ${status}`, {
    ...(hint && { hint }),
    ...(retryAfterSecs && { retryAfterSecs }),
    details: { status },
  })
}

const failed = (message: string, cause?: unknown): BaxError =>
  new BaxError('model_failed', message, { cause, hint: 'check the URL of the model (BAX_MODEL_URL)' })

const textOf = (response: Response): Promise<string> =>
  boundedText(response, limits.model.answerBytes, () => failed('the answer of the language model is too long'))

function contentOf(body: string): string {
  let parsed: { choices?: { message?: { content?: unknown } }[] } | null
  try {
    parsed = JSON.parse(body)
  } catch (error) {
    throw failed('the language model did not answer in JSON', error)
  }
  const content = parsed?.choices?.[0]?.message?.content
  if (typeof content === 'string') return content
  // Some servers split the content into parts.
  const parts = Array.isArray(content) ? content.map((part: { text?: unknown }) => part?.text) : []
  if (parts.length === 0 || parts.some((part) => typeof part !== 'string')) {
    throw failed('the answer of the language model has no text')
  }
  return parts.join('')
}
