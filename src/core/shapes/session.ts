/** Shapes of browser sessions, provisions and saved profiles. */
import { z } from 'zod'
import { limits } from '../limits/limits.ts'
import { confirmFields } from '../access/approvals.ts'
import {
  allowedDomains,
  displayName,
  flag,
  identifier,
  duration,
  integer,
  named,
  printable,
  urlText,
} from './fields.ts'

const isoTime = z.iso.datetime().describe('ISO 8601 UTC with milliseconds')
const { session } = limits

const viewport = z
  .object({
    width: integer(1, 10_000).describe('CSS pixels'),
    height: integer(1, 10_000).describe('CSS pixels'),
  })
  .meta({ spelling: { form: 'WIDTHxHEIGHT', fields: ['width', 'height'], separator: 'x' } })

/** A proxy with its settings. */
export const proxy = z.object({
  server: urlText.describe('Proxy address, e.g. http://host:3128 or socks5://host:1080'),
  bypass: printable(4096).optional().describe('Comma-separated hosts to connect to directly'),
  username: printable(limits.input.labelChars).optional(),
  password: printable(limits.input.labelChars).optional(),
})

/** Identifies a saved profile. */
export const profileId = identifier.describe('Profile id, or the name of one of your own profiles')
const dialogs = z.enum(['dismiss', 'accept', 'ask'])

export const skipTlsVerification = flag(
  'Accept any TLS certificate of the sites: somebody in between can read and change what is sent',
).meta({ flag: 'insecure', short: 'k' })

export const sessionInput = z.object({
  // Optional instead of `.default(false)`: only callers who explicitly request a window are warned that there is none.
  headless: z
    .boolean()
    .optional()
    .meta({ default: false, opposite: 'headed' })
    .describe('Run the browser without a UI; always on when there is no display'),
  // `/sessions/provision/files` is the URL of a provision.
  requested_name: displayName
    .regex(/^(?!provision$)/, 'must not be provision')
    .optional()
    .meta({ flag: 'name' })
    .describe('Human-readable session name, unique among live sessions'),
  start_url: urlText.optional().describe('URL to open on creation'),
  cdp_url: urlText.optional().describe('Connect to an existing CDP endpoint (http, https, ws or wss)'),
  use_random_user_agent: flag('Use a random plausible user agent'),
  disable_automation_detection: flag('Apply stealth adjustments'),
  user_agent: z
    .string()
    .min(1, { abort: true })
    .max(1000, { abort: true })
    .regex(/^[ -~]+$/, 'must be printable ASCII')
    .optional()
    .describe('Custom user agent'),
  profile_id: profileId.optional().meta({ flag: 'profile' }).describe('Saved profile to load, by its id or name'),
  viewport: viewport.optional().describe('Size of the viewport, 1280x720 when omitted'),
  locale: z
    .string()
    .min(2, { abort: true })
    .max(35, { abort: true })
    .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/, 'is not a BCP 47 language tag')
    .optional()
    .describe('BCP 47 language tag, e.g. de-DE'),
  timezone: z
    .string()
    .min(1, { abort: true })
    .max(64, { abort: true })
    .regex(/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/, 'is not an IANA time zone')
    .optional()
    .describe('IANA time zone, e.g. Europe/Berlin'),
  allowed_domains: allowedDomains,
  dialogs: dialogs
    .default('dismiss')
    .describe(
      'Answer to confirm and prompt dialogs; alert and beforeunload are accepted. ask: every dialog waits for answer_dialog',
    ),
  ...confirmFields,
  proxy: proxy
    .optional()
    .meta({ textField: 'server' })
    .describe('Proxy for this session: its URL, or an object with bypass, username and password'),
  skip_tls_verification: skipTlsVerification,
  idle_timeout_secs: duration(0, session.maxTimeoutSecs)
    .default(session.idleTimeoutSecs)
    .describe('Idle timeout of the session in seconds; 0 disables it'),
  timeout_secs: duration(1, session.maxTimeoutSecs)
    .default(session.timeoutSecs)
    .describe('Maximum lifetime of the session in seconds'),
  keep_alive: flag('Disable the idle timeout: the session stays open until it is closed or timeout_secs have passed'),
  tags: z.record(printable(64), printable(256)).optional().describe('Labels for finding the session'),
  replay: flag('Record commands, pages and logs for `bax session replay`; slows down every command'),
  save_profile: flag('Save cookies and storage to profile_id when the session ends'),
})

const urls = {
  sse_url: z.string().describe('Server-sent events of the session'),
  cdp_url: z.string().nullable().describe('CDP websocket of the session; null if this engine serves none'),
  live_view_url: z.string().nullable().describe('Page that shows the session live; null if this engine serves none'),
}

export const sessionRecord = z
  .object({
    session_id: z.string(),
    status: z.enum(['provisioning', 'ready', 'stopped', 'failed']),
    name: z.string().nullable(),
    url: z.string(),
    title: z.string(),
    headless: z.boolean(),
    user_agent: z.string(),
    viewport,
    profile_id: z.string().nullable(),
    dialogs: dialogs.optional().describe('Absent for sessions ended by older versions'),
    allowed_domains: z.array(z.string()).optional().describe('Absent when all are allowed'),
    skip_tls_verification: z.boolean().optional().describe('Whether any certificate is accepted; absent when not'),
    confirm: z.array(z.string()).optional().describe('Actions that wait for a person; absent when none do'),
    confirm_timeout_secs: z.int().optional().describe('Present with confirm'),
    approvals_waiting: z.int().optional().describe('Number of actions that wait for a person; present with confirm'),
    tabs: z.int(),
    worker_id: z.string().describe('ID of the worker in a fleet; on a single machine that of the browser'),
    tags: z.record(z.string(), z.string()),
    created_at: isoTime,
    last_activity_at: isoTime,
    expires_at: isoTime,
    idle_timeout_secs: z.int(),
    timeout_secs: z.int(),
    commands_run: z.int(),
    controlled_by_person: z
      .boolean()
      .optional()
      .describe('Whether a person controls it from the live view; absent for sessions ended by older versions'),
    ...urls,
    ended_at: isoTime.nullable(),
    end_reason: z.string().nullable(),
    warning: z.string().optional().describe('How the session differs from what was requested'),
  })
  .meta({ id: 'Session' })

export const sessionCreated = named('SessionCreated', {
  status: z.enum(['ready', 'provisioning']),
  session_id: z.string().optional(),
  frame_token: z.string().optional().describe('Opaque token for embedded frame use'),
  sse_url: z.string().optional(),
  provision_id: z.string().optional().describe('Present when status is provisioning'),
  name: z.string().nullable().optional(),
  created_at: isoTime.optional(),
  expires_at: isoTime.optional(),
  cdp_url: z.string().nullable().optional(),
  live_view_url: z.string().nullable().optional(),
  warning: z.string().optional(),
})

export const provisionStage = z.enum(['provisioning', 'scaling', 'worker_found', 'creating', 'ready', 'failed'])

export const provisionRecord = named('Provision', {
  provision_id: z.string(),
  status: z.enum(['provisioning', 'ready', 'failed', 'cancelled']),
  stage: provisionStage,
  stages: z.array(z.object({ stage: provisionStage, at: isoTime })),
  queue_position: z.int().nullable().describe('1 is next; null when not queued'),
  retry_after_ms: z.int(),
  created_at: isoTime,
  updated_at: isoTime,
  expires_at: isoTime,
  session_id: z.string().nullable(),
  frame_token: z.string().nullable(),
  sse_url: z.string().nullable(),
  name: z.string().nullable(),
  cdp_url: z.string().nullable(),
  live_view_url: z.string().nullable(),
  warning: z.string().optional(),
  error: z.string().nullable(),
  code: z.string().nullable(),
})

export const profileRecord = named('Profile', {
  profile_id: z.uuid(),
  name: z.string(),
  cookies: z.int().describe('Number of cookies'),
  origins: z.array(z.string()).describe('Origins with local storage or IndexedDB'),
  bytes: z.int(),
  created_at: isoTime,
  updated_at: isoTime,
})

export type SessionInput = z.output<typeof sessionInput>
export type SessionRecord = z.output<typeof sessionRecord>
export type SessionCreated = z.output<typeof sessionCreated>
export type ProvisionRecord = z.output<typeof provisionRecord>
export type ProvisionStage = z.output<typeof provisionStage>
export type ProfileRecord = z.output<typeof profileRecord>
