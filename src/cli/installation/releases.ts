/** Published versions of bax, from the registry that npm is configured for. */
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { BaxError, messageOf } from '../../core/errors/errors.ts'
import { systemCode } from '../../core/errors/system-errors.ts'
import { isMapping, mappingOf } from '../../core/text/is-mapping.ts'
import type { Io } from '../io.ts'

export interface Release {
  readonly version: string
  /** Time of its publication (ISO 8601), if the registry reports it. */
  readonly published?: string
}

/** Timeout of a request of npm, in milliseconds. */
const requestMs = 20_000
const maxBytes = 16 * 1024 * 1024

/** A version with a pre-release, which is not offered. Whatever else a registry sends must not get into a terminal. */
const versionForm = /^(\d+)\.(\d+)\.(\d+)(-[\d.A-Za-z-]+)?$/
const timeForm = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/**
 * Returns the versions after `installed` up to the newest one, oldest first.
 * @throws BaxError `connection_failed` without a registry or a valid version, `file_not_found` if it has no bax
 */
export async function releasesAfter(installed: string, io: Io): Promise<readonly Release[]> {
  const facts = mappingOf(await viewPackage(io))
  const newest = String(mappingOf(facts['dist-tags'])['latest'])
  const times = mappingOf(facts['time'])
  const versions = [facts['versions']].flat().map(String)
  const invalid = [newest, ...versions].find((version) => !versionForm.test(version))
  if (invalid !== undefined)
    throw refused(`the registry of npm has an invalid version of bax: ${JSON.stringify(invalid)}`, undefined)
  return versions
    .filter((version) => !version.includes('-') && isNewer(version, installed) && !isNewer(version, newest))
    .toSorted((a, b) => (isNewer(a, b) ? 1 : -1))
    .map((version) => {
      const published = String(times[version])
      return { version, ...(timeForm.test(published) && { published }) }
    })
}

/** Compares a release with a version; a pre-release is older than its release. */
function isNewer(release: string, other: string): boolean {
  const [, ...a] = versionForm.exec(release)!
  const [, ...b] = versionForm.exec(other)!
  const at = [0, 1, 2].find((index) => Number(a[index]) !== Number(b[index]))
  return at === undefined ? b[3] !== undefined : Number(a[at]) > Number(b[at])
}

/** Asks npm, which knows the registry, its credentials and its proxies; a project's file must not choose another one. */
function viewPackage({ env, signal, host }: Io): Promise<unknown> {
  const fields = ['dist-tags', 'versions', 'time']
  const args = ['view', 'bax', ...fields, '--json', '--fetch-retries=0', `--fetch-timeout=${requestMs}`]
  // In scripts, npm sets the variable to the registry of the project.
  const isScript = env['npm_lifecycle_event'] !== undefined
  const passed = Object.entries(env).filter(([name]) => !isScript || !/^npm_config_registry$/i.test(name))
  const options = {
    cwd: homedir(),
    env: Object.fromEntries(passed),
    signal,
    maxBuffer: maxBytes,
    shell: host.platform === 'win32',
  }
  return new Promise((resolve, reject) => {
    execFile('npm', args, options, (error, stdout) => {
      if (signal.aborted) return reject(signal.reason as Error)
      try {
        resolve(readAnswer(error, stdout))
      } catch (failure) {
        reject(failure as Error)
      }
    })
  })
}

function readAnswer(failure: Error | null, stdout: string): unknown {
  if (failure && systemCode(failure) === 'ENOENT')
    throw new BaxError('connection_failed', 'npm is not installed, and only npm knows where bax is published', {
      hint: 'install npm, or look for a newer version where you got this one',
      cause: failure,
    })
  let answer: unknown
  try {
    answer = JSON.parse(stdout)
  } catch (cause) {
    throw refused(`"npm view bax" failed: ${messageOf(failure ?? cause)}`, cause)
  }
  const { error } = mappingOf(answer)
  if (!isMapping(error)) return answer
  const code = String(error['code'])
  if (code === 'E404')
    throw new BaxError('file_not_found', 'the registry of npm has no package bax', {
      hint: 'see "npm config get registry"',
      cause: failure,
    })
  throw refused(`the registry of npm cannot be asked: ${code} ${String(error['summary'])}`, failure, hintFor(code))
}

const refused = (message: string, cause: unknown, hint = hintFor('')): BaxError =>
  new BaxError('connection_failed', message, { hint, cause })

/** Codes of certificates whose issuer is unknown, such as those of a company's proxy. */
const unknownIssuer: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Returns what solves an error code of npm. */
function hintFor(code: string): string {
  if (unknownIssuer.has(code))
    return 'name the certificate of your proxy or registry: "npm config set cafile FILE", or NODE_EXTRA_CA_CERTS'
  if (/^E40[13]$/.test(code)) return 'run "npm login", or see "npm config get registry"'
  return 'connect to the internet, or see "npm config get registry"'
}
