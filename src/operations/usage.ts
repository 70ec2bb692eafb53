/** Use of the server, for clients of Firecrawl: bax has no credits, so nothing runs out. */
import { z } from 'zod'
import { limits } from '../core/limits/limits.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { inGateway } from '../core/operation/placement.ts'
import { flag } from '../core/shapes/fields.ts'
import type { Route } from '../core/operation/route.ts'
import { getCrawl } from './crawl.ts'

/** Number that stands for "unlimited": clients of Firecrawl calculate with it, and fail with null. */
const unlimited = 1_000_000_000

interface UsageNames {
  readonly amounts: readonly string[]
  readonly period: readonly string[]
}

/** Defines an operation whose amounts are unlimited. */
const unlimitedUse = (summary: string, http: Route, { amounts, period }: UsageNames) =>
  defineOperation({
    summary,
    description: `For clients of Firecrawl. bax counts no credits and no tokens: amounts are always ${unlimited}.`,
    http,
    scope: getCrawl.scope,
    runs: inGateway,
    input: z.object({}),
    output: z.object({
      success: z.boolean(),
      data: z.object({
        ...record(amounts, z.int().describe(`Always ${unlimited}: unlimited`)),
        ...record(period, z.null().describe('Always null: there are no periods')),
      }),
    }),
    run: async () => ({ success: true, data: { ...record(amounts, unlimited), ...record(period, null) } }),
  })

const record = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, value]))

export const creditUsage = unlimitedUse('Show the credits (Firecrawl format)', 'GET /v1/team/credit-usage', {
  amounts: ['remaining_credits', 'plan_credits'],
  period: ['billing_period_start', 'billing_period_end'],
})

export const creditUsageV2 = unlimitedUse('Show the credits (Firecrawl v2 format)', 'GET /v2/team/credit-usage', {
  amounts: ['remainingCredits', 'planCredits'],
  period: ['billingPeriodStart', 'billingPeriodEnd'],
})

export const tokenUsage = unlimitedUse('Show the tokens (Firecrawl format)', 'GET /v1/team/token-usage', {
  amounts: ['remaining_tokens', 'plan_tokens'],
  period: ['billing_period_start', 'billing_period_end'],
})

export const tokenUsageV2 = unlimitedUse('Show the tokens (Firecrawl v2 format)', 'GET /v2/team/token-usage', {
  amounts: ['remainingTokens', 'planTokens'],
  period: ['billingPeriodStart', 'billingPeriodEnd'],
})

/** Defines an operation without periods. */
const noHistory = (summary: string, http: Route, alias: Route) =>
  defineOperation({
    summary,
    description: 'For clients of Firecrawl. bax counts no credits and no tokens: there are no periods.',
    http,
    aliases: [alias],
    scope: getCrawl.scope,
    runs: inGateway,
    input: z.object({ by_api_key: flag('Accepted for clients of Firecrawl') }),
    output: z.object({ success: z.boolean(), periods: z.array(z.never()).describe('Always empty') }),
    run: async () => ({ success: true, periods: [] }),
  })

export const creditHistory = noHistory(
  'List the credits of earlier months (Firecrawl format)',
  'GET /v1/team/credit-usage/historical',
  'GET /v2/team/credit-usage/historical',
)

export const tokenHistory = noHistory(
  'List the tokens of earlier months (Firecrawl format)',
  'GET /v1/team/token-usage/historical',
  'GET /v2/team/token-usage/historical',
)

const count = z.int().min(0)
const maxConcurrency = z.int().describe('Maximum number of pages that one crawl visits at the same time')

export const queueStatus = defineOperation({
  summary: 'Show the pages in the queues of running crawls',
  description: "For clients of Firecrawl: the pages of the caller's crawls, batches and extractions.",
  http: 'GET /v1/team/queue-status',
  aliases: ['GET /v2/team/queue-status'],
  scope: getCrawl.scope,
  runs: inGateway,
  input: z.object({}),
  output: z.object({
    success: z.boolean(),
    jobsInQueue: count.describe('Pages that are visited or queued'),
    activeJobsInQueue: count.describe('Pages being visited'),
    waitingJobsInQueue: count,
    maxConcurrency,
    mostRecentSuccess: z.iso.datetime().nullable().describe('End of the latest completed crawl that is stored'),
  }),
  run: async (engine, _input, call) => {
    const { active, waiting, latest_success: latest } = await engine.crawls.usage(call)
    return {
      success: true,
      jobsInQueue: active + waiting,
      activeJobsInQueue: active,
      waitingJobsInQueue: waiting,
      maxConcurrency: limits.crawl.mostAtOnce,
      mostRecentSuccess: latest,
    }
  },
})

export const concurrencyCheck = defineOperation({
  summary: 'Show how many pages are being visited',
  description: "For clients of Firecrawl: the pages of the caller's crawls, batches and extractions.",
  http: 'GET /v1/concurrency-check',
  tag: 'team',
  aliases: ['GET /v2/concurrency-check'],
  scope: getCrawl.scope,
  runs: inGateway,
  input: z.object({}),
  output: z.object({ success: z.boolean(), concurrency: count, maxConcurrency }),
  run: async (engine, _input, call) => {
    const { active } = await engine.crawls.usage(call)
    return { success: true, concurrency: active, maxConcurrency: limits.crawl.mostAtOnce }
  },
})

export const activeCrawls = defineOperation({
  summary: 'List running crawls (Firecrawl format)',
  http: 'GET /v1/crawl/active',
  aliases: ['GET /v1/crawl/ongoing'],
  scope: getCrawl.scope,
  runs: inGateway,
  input: z.object({}),
  output: z.object({
    success: z.boolean(),
    crawls: z.array(
      z.object({
        id: z.string(),
        teamId: z.string().nullable().describe('ID of the key; null without keys'),
        url: z.string(),
        created_at: z.iso.datetime(),
        options: z.record(z.string(), z.unknown()).describe('Input of the crawl'),
      }),
    ),
  }),
  run: async (engine, _input, call) => {
    const { crawls } = await engine.crawls.usage(call)
    const running = crawls.filter(({ kind }) => kind === 'crawl')
    const teamId = call.caller.keyId
    return {
      success: true,
      crawls: running.map(({ id, url, created_at, options }) => ({ id, url, created_at, options, teamId })),
    }
  },
})
