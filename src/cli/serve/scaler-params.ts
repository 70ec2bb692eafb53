/** Flags of `bax serve --fleet` that concern the number of workers. */
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { limits } from '../../core/limits/limits.ts'
import type { ScalerTarget, ScalingOptions } from '../../core/scaling.ts'
import type { ValuesOf } from '../../lines/typed.ts'
import { param } from './param.ts'
import { parseUrl } from '../../core/net/parse-url.ts'

const { scaling, provision } = limits

export const scalerParams = {
  scaler: param(
    'scaler',
    'what creates workers: none, docker:SERVICE, kubernetes:[NAMESPACE/]KIND/NAME or command:PROGRAM (default none)',
  ),
  scaleMin: param('scale_min', 'minimum number of workers (default 1)', { type: 'integer' }),
  scaleMax: param('scale_max', 'maximum number of workers; required with a scaler', { type: 'integer' }),
  provisionTimeout: param(
    'provision_timeout',
    `seconds for a new session to get a worker (default ${provision.timeoutMs / 1000})`,
    { type: 'integer' },
  ),
  kubernetesApi: param(
    'kubernetes_api',
    'URL of the Kubernetes API outside of the cluster, such as that of `kubectl proxy`',
  ),
}

/** Returns the options that the flags set, which only a gateway has. @throws BaxError `invalid_request` */
export function readScaling(flags: Partial<ValuesOf<typeof scalerParams>>, isGateway: boolean): ScalingOptions {
  const names = Object.keys(scalerParams) as (keyof typeof scalerParams)[]
  const first = names.find((name) => flags[name] !== undefined)
  if (!isGateway && first !== undefined)
    throw invalid(`--${scalerParams[first].name.replaceAll('_', '-')} needs --fleet`, 'pass --fleet redis://HOST:PORT')
  const { scaler: text, scaleMin: min, scaleMax: max } = flags
  const target = withApi(parseScaler(text ?? 'none'), flags.kubernetesApi)
  const { least, most } = scaling.provisionSecs
  const secs = inRange('--provision-timeout', flags.provisionTimeout, least, most)
  const provisionTimeoutMs = secs === undefined ? provision.timeoutMs : secs * 1000
  if (target.kind === 'none') {
    const flag = min !== undefined ? '--scale-min' : max !== undefined ? '--scale-max' : undefined
    if (flag) throw invalid(`${flag} needs a --scaler`, 'pass for example --scaler docker:bax_worker')
    return { target, min: 0, max: 0, provisionTimeoutMs }
  }
  const lowest = inRange('--scale-min', min, 0, scaling.workers) ?? 1
  if (max === undefined) throw invalid(`--scaler ${text} needs --scale-max`, 'pass the maximum number of workers')
  return {
    target,
    min: lowest,
    max: inRange('--scale-max', max, Math.max(1, lowest), scaling.workers)!,
    provisionTimeoutMs,
  }
}

const example = 'pass for example docker:bax_worker, kubernetes:deployment/bax-worker or command:./scale.sh'

/** Parses the value of `--scaler`. @throws BaxError `invalid_request` */
function parseScaler(text: string): ScalerTarget {
  const at = text.indexOf(':')
  const kind = at === -1 ? text : text.slice(0, at)
  const rest = at === -1 ? '' : text.slice(at + 1)
  const fail = (expected: string) => invalid(`--scaler must be ${expected}, not ${JSON.stringify(text)}`, example)
  switch (kind) {
    case 'none':
      if (at !== -1) throw fail('none')
      return { kind }
    case 'docker':
      if (!/^[A-Za-z0-9][\w.-]*$/.test(rest)) throw fail('docker:SERVICE')
      return { kind, service: rest }
    case 'kubernetes':
      return parseWorkload(rest, fail)
    case 'command':
      if (rest.trim() === '') throw fail('command:PROGRAM')
      return { kind, program: rest }
    default: {
      const kinds = ['none', 'docker', 'kubernetes', 'command']
      const message = `--scaler must be none, docker:SERVICE, kubernetes:[NAMESPACE/]KIND/NAME or command:PROGRAM, not ${JSON.stringify(text)}`
      throw invalid(`${message}${didYouMean(kind, kinds)}`, example)
    }
  }
}

/** Names of Kubernetes, and how its command line writes the kinds. */
const dnsLabel = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const workloads: Readonly<Record<string, 'deployment' | 'statefulset'>> = {
  deployment: 'deployment',
  deploy: 'deployment',
  statefulset: 'statefulset',
  sts: 'statefulset',
}

function parseWorkload(text: string, fail: (expected: string) => BaxError): ScalerTarget {
  const parts = text.split('/')
  const [kind = '', name = ''] = parts.slice(-2)
  const namespace = parts.length === 3 ? parts[0] : undefined
  const workload = workloads[kind.toLowerCase()]
  if (
    (parts.length !== 2 && parts.length !== 3) ||
    !dnsLabel.test(name) ||
    (namespace !== undefined && !dnsLabel.test(namespace))
  )
    throw fail('kubernetes:[NAMESPACE/]KIND/NAME')
  if (!workload) throw fail('kubernetes:[NAMESPACE/]KIND/NAME with the kind deployment or statefulset')
  return { kind: 'kubernetes', workload, name, ...(namespace !== undefined && { namespace }) }
}

function withApi(target: ScalerTarget, api: string | undefined): ScalerTarget {
  if (api === undefined) return target
  if (target.kind !== 'kubernetes')
    throw invalid(
      '--kubernetes-api needs --scaler kubernetes:…',
      'pass for example --scaler kubernetes:deployment/bax-worker',
    )
  const url = parseUrl(api)
  if (url && /^https?:$/.test(url.protocol)) return { ...target, api: url.href }
  throw invalid(
    `--kubernetes-api must be an http or https URL, not ${JSON.stringify(api)}`,
    'pass for example http://127.0.0.1:8001',
  )
}

function inRange(flag: string, value: number | undefined, least: number, most: number): number | undefined {
  if (value === undefined || (value >= least && value <= most)) return value
  throw invalid(`${flag} must be ${least} to ${most}, not ${value}`)
}

const invalid = (message: string, hint?: string): BaxError =>
  new BaxError('invalid_request', message, hint === undefined ? {} : { hint })
