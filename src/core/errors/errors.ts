/** The error table: every code with its HTTP status, CLI exit code and whether a retry may help. */

import { browserErrorOf } from './browser-errors.ts'

/** CLI exit codes (`spec: contract 1`). */
export const exits = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  denied: 4,
  missing: 5,
  timeout: 6,
  internal: 7,
  interrupted: 130,
} as const

interface ErrorFacts {
  /** HTTP status. 200 marks a failure of the target (page, site, container), which is a result and no error of bax. */
  readonly status: number
  readonly exit: number
  readonly retryable: boolean
}

const usage = (status: number): ErrorFacts => ({ status, exit: exits.usage, retryable: false })
const denied = (status: number): ErrorFacts => ({ status, exit: exits.denied, retryable: false })
const missing = (status: number): ErrorFacts => ({ status, exit: exits.missing, retryable: false })
const busy = (status: number): ErrorFacts => ({ status, exit: exits.unreachable, retryable: true })
const target: ErrorFacts = { status: 200, exit: exits.failed, retryable: false }

export const errorTable = {
  invalid_json: usage(400),
  invalid_request: usage(400),
  model_not_configured: usage(400),
  is_a_directory: usage(400),
  not_a_directory: usage(400),
  not_a_file: usage(400),
  protected_path: denied(400),
  unsupported: usage(400),
  unauthorized: denied(401),
  forbidden_scope: denied(403),
  url_blocked: denied(403),
  feature_disabled: denied(403),
  method_denied: denied(403),
  bad_host: denied(403),
  bad_origin: denied(403),
  permission_denied: denied(403),
  rejected: denied(403),
  route_not_found: missing(404),
  session_not_found: missing(404),
  provision_not_found: missing(404),
  profile_not_found: missing(404),
  credential_not_found: missing(404),
  relay_not_found: missing(404),
  token_not_found: missing(404),
  key_not_found: missing(404),
  target_not_found: missing(404),
  crawl_not_found: missing(404),
  shell_session_not_found: missing(404),
  exec_not_found: missing(404),
  file_not_found: missing(404),
  artifact_not_found: missing(404),
  image_not_found: missing(404),
  worker_not_found: missing(404),
  approval_not_found: missing(404),
  handoff_not_found: missing(404),
  image_failed: { status: 500, exit: exits.failed, retryable: false },
  method_not_allowed: usage(405),
  timeout: { status: 408, exit: exits.timeout, retryable: false },
  confirmation_timeout: { status: 408, exit: exits.timeout, retryable: false },
  conflict: usage(409),
  already_exists: usage(409),
  not_empty: usage(409),
  session_closed: missing(410),
  payload_too_large: usage(413),
  unsupported_media_type: usage(415),
  range_not_satisfiable: usage(416),
  rate_limited: busy(429),
  too_many_sessions: busy(429),
  too_many_execs: busy(429),
  too_many_pending: busy(429),
  internal_error: { status: 500, exit: exits.internal, retryable: false },
  browser_not_found: { status: 503, exit: exits.unreachable, retryable: false },
  browser_failed: { status: 503, exit: exits.unreachable, retryable: true },
  model_failed: busy(503),
  search_unavailable: busy(503),
  no_capacity: busy(503),
  worker_lost: busy(503),
  fleet_unavailable: busy(503),
  relay_disconnected: { status: 503, exit: exits.unreachable, retryable: false },
  browser_lost: { status: 503, exit: exits.unreachable, retryable: false },
  browser_refused: { status: 503, exit: exits.missing, retryable: false },
  stale_port_file: { status: 503, exit: exits.unreachable, retryable: false },
  credential_locked: { status: 503, exit: exits.denied, retryable: false },
  profile_locked: { status: 503, exit: exits.denied, retryable: false },
  session_lost: { status: 503, exit: exits.unreachable, retryable: false },
  docker_unavailable: { status: 503, exit: exits.unreachable, retryable: false },
  shutting_down: busy(503),
  not_ready: busy(503),
  engine_unreachable: { status: 503, exit: exits.unreachable, retryable: true },
  engine_failed: { status: 503, exit: exits.unreachable, retryable: false },
  no_space: { status: 507, exit: exits.internal, retryable: false },

  cdp_error: target,
  dns_failed: target,
  connection_failed: target,
  proxy_failed: target,
  tls_error: target,
  too_many_redirects: target,
  page_crashed: target,
  navigation_aborted: target,
  navigation_failed: target,
  action_failed: target,
  unsupported_content_type: target,
  content_too_large: target,
  robots_blocked: target,
  cancelled: target,
  provider_blocked: target,
  provider_failed: target,
  off_host_redirect: target,
  server_error: target,
  empty_page: target,
  element_not_found: target,
  element_not_visible: target,
  element_obscured: target,
  element_detached: target,
  not_editable: target,
  origin_mismatch: target,
  login_failed: target,
  evaluate_failed: target,
  tool_not_found: target,
  tool_failed: target,
  code_failed: target,
  limit_exceeded: target,
  expectation_failed: target,
  invalid_selector: target,
  ambiguous_selector: target,
  stale_ref: target,
  dialog_blocking: target,
  controlled_by_person: { ...target, retryable: true },
  target_closed: target,
  unknown_command: target,
  invalid_data: target,
  skipped: target,
} as const satisfies Record<string, ErrorFacts>

export type ErrorCode = keyof typeof errorTable

/** Whether this version has the code: errors may come from another version. */
export const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(errorTable, code)

/** One error of an input: where (`commands[1].data.url`) and what. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** The failure of one search provider. */
export interface ProviderError {
  readonly provider: string
  readonly error: string
  readonly code: ErrorCode
}

export interface ErrorExtras {
  /** Suggested next step, as an imperative; the CLI prints it below the message. */
  readonly hint?: string
  readonly details?: readonly FieldError[] | readonly ProviderError[] | Record<string, unknown>
  readonly cause?: unknown
  /** Seconds after which to retry (`retry-after`). */
  readonly retryAfterSecs?: number
  /** Set if this machine lacks what the work needs. Nothing has started, and another machine may do it. */
  readonly unavailable?: true
}

/** The wire form of every error; `error` repeats `message` and is always a string. */
export interface ErrorBody {
  success: false
  error: string
  code: ErrorCode
  message: string
  hint?: string
  details?: ErrorExtras['details']
  request_id?: string
}

/** Maximum length of a message on the wire: it may quote input of a stranger. */
const maxMessageChars = 2000

/** Truncates a text to `most` characters. */
export const truncate = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Marks the class across bundles: the bundle of one-liners contains a second copy of it. */
const marker = Symbol.for('bax.error')

/** An error with a code of the table; the code decides status, exit code and retryability. */
export class BaxError extends Error {
  readonly [marker] = true
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: ErrorExtras['details']
  readonly retryAfterSecs: number | undefined
  /** Whether this machine lacks what the work needs, and nothing has started; never sent. */
  readonly unavailable: boolean
  /** Input that a server rejected; set by the client, and never sent. */
  input?: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = 'BaxError'
    this.code = code
    this.hint = extras.hint
    this.details = extras.details
    this.retryAfterSecs = extras.retryAfterSecs
    this.unavailable = extras.unavailable ?? false
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && marker in value
  }

  get status(): number {
    return errorTable[this.code].status
  }

  get retryable(): boolean {
    return errorTable[this.code].retryable
  }

  get exit(): number {
    return errorTable[this.code].exit
  }

  toBody(requestId?: string): ErrorBody {
    const message = truncate(this.message, maxMessageChars)
    return {
      success: false,
      error: message,
      code: this.code,
      message,
      ...(this.hint && { hint: this.hint }),
      ...(this.details && { details: this.details }),
      ...(requestId && { request_id: requestId }),
    }
  }

  /** Rebuilds the error that a server sent; a body of another shape gets the code `fallback`. */
  static fromBody(body: unknown, fallback: ErrorCode = 'internal_error'): BaxError {
    const { code, error, hint, details } = (body ?? {}) as Partial<ErrorBody>
    const known = isErrorCode(code) ? code : fallback
    // A class that names itself is renamed by the bundler, and its name is printed.
    return new this(known, typeof error === 'string' ? error : 'the server sent an unknown error response', {
      ...(hint && { hint }),
      ...(details && { details }),
    })
  }
}

/** Returns the message of anything that was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/**
 * Returns a BaxError as it is, and wraps any other error as the cause of one: what an error of a browser or the system
 * means, or else `internal_error`.
 */
export function asBaxError(error: unknown): BaxError {
  if (error instanceof BaxError) return error
  const system = error as NodeJS.ErrnoException | undefined
  if (system?.code === 'EMFILE' || system?.code === 'ENFILE')
    return new BaxError('no_capacity', 'too many files are open', { cause: error })
  if (system?.code === 'ENOSPC' || system?.code === 'EDQUOT')
    return new BaxError('no_space', 'the disk is full', { cause: error, hint: 'free some space and repeat the call' })
  if (system?.code === 'ERR_MODULE_NOT_FOUND')
    return new BaxError('engine_failed', 'the program files of bax were replaced or removed while it ran', {
      cause: error,
      hint: 'restart this server, or run "bax engine stop" for a local engine, and repeat the call',
    })
  const ofBrowser = error instanceof Error ? browserErrorOf(error.message) : undefined
  if (ofBrowser) return new BaxError(ofBrowser.code, ofBrowser.message, { cause: error })
  return new BaxError('internal_error', 'internal error; see the log for details', { cause: error })
}
