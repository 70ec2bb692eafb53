/** Webhooks: requests that a crawl sends to its caller's server. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { printable, urlText } from '../fields.ts'

const { webhook } = limits

const target = urlText.describe('URL that receives POST requests; redirects are not followed')
const headerName = z
  .string()
  .max(limits.input.nameChars, { abort: true })
  .regex(/^(?!(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$)[\w!#$%&'*+.^`|~-]+$/i, {
    error: 'must be the name of a header that describes the request, not the connection',
  })

const webhookEvents = ['started', 'page', 'completed', 'failed'] as const

const settings = z.object({
  url: target,
  headers: z
    .record(headerName, printable(webhook.valueChars))
    .refine((headers) => Object.keys(headers).length <= webhook.headers, {
      error: `must have at most ${webhook.headers} fields`,
    })
    .default({})
    .describe('Headers to add to each request'),
  metadata: z
    .record(z.string().max(limits.input.nameChars), z.unknown())
    .refine((data) => JSON.stringify(data).length <= webhook.metadataChars, {
      error: `must have at most ${webhook.metadataChars} characters as JSON`,
    })
    .default({})
    .describe('Data to repeat in each request'),
  events: z
    .array(z.enum(webhookEvents))
    .max(webhookEvents.length)
    .default([...webhookEvents])
    .describe('Events to send'),
  secret: printable(webhook.secretChars)
    .min(webhook.leastSecretChars)
    .optional()
    .describe('Key of the signature; the one of the server (BAX_WEBHOOK_SECRET) when omitted'),
})

/** A webhook in the input: its URL, or its settings. */
export const webhookInput = z
  .union([target, settings])
  .optional()
  .meta({ offTerminal: true })
  .describe('URL to send events to, or an object with url, headers, metadata, events and secret')

/** Returns the settings of a webhook. */
export const webhookOf = (input: string | Webhook): Webhook =>
  typeof input === 'string' ? settings.parse({ url: input }) : input

export type Webhook = z.output<typeof settings>
export type WebhookEvent = (typeof webhookEvents)[number]
