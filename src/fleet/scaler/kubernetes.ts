/** Sets the number of replicas of a Deployment or StatefulSet. */
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { limits } from '../../core/limits/limits.ts'
import type { ScalerTarget } from '../../core/scaling.ts'
import { type Removal, type Scaler, ScalerError, StillRunningError } from './scaler.ts'

/** Folder where Kubernetes mounts the token, CA and namespace of a pod's service account. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Attempts to change a workload that others change at the same time. */
const attempts = 5

export interface KubernetesOptions extends Extract<ScalerTarget, { kind: 'kubernetes' }> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly account?: string
}

interface Answer {
  readonly status: number
  readonly body: {
    readonly message?: string
    readonly spec?: { readonly replicas?: number }
    readonly status?: { readonly replicas?: number; readonly readyReplicas?: number }
  }
}

export class KubernetesScaler implements Scaler {
  readonly removal: Removal
  readonly #options: KubernetesOptions

  constructor(options: KubernetesOptions) {
    this.#options = options
    this.removal = options.workload === 'deployment' ? 'unready' : 'last'
  }

  describe(): string {
    const { workload, namespace, name } = this.#options
    return `Kubernetes ${workload} ${namespace === undefined ? '' : `${namespace}/`}${name}`
  }

  async current(): Promise<number> {
    return (await this.#request('GET', '/scale')).spec?.replicas ?? 0
  }

  async want(count: number): Promise<void> {
    if (this.removal === 'unready') await this.#assertUnready(count)
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#request('PATCH', '/scale', { spec: { replicas: count } })
        return
      } catch (error) {
        if (attempt === attempts || !(error instanceof ConflictError)) throw error
      }
    }
  }

  /** Pods that are not ready are removed first, so no more than the remaining ones may be ready. @throws ScalerError */
  async #assertUnready(count: number): Promise<void> {
    const { status } = await this.#request('GET', '')
    const ready = status?.readyReplicas ?? 0
    if (ready <= count || (status?.replicas ?? 0) <= count) return
    throw new StillRunningError(`${ready} workers of ${this.describe()} are still ready`, {
      hint: 'drained workers must fail their readiness probe; see "bax help scaling-out"',
    })
  }

  async #request(method: string, subresource: '/scale' | '', body?: object): Promise<Answer['body']> {
    const { workload, name } = this.#options
    const target = await this.#target()
    const path = `/apis/apps/v1/namespaces/${target.namespace}/${workload}s/${name}${subresource}`
    const what = `${method} ${path}`
    const answer = await send({ ...target, method, path, body }).catch((cause: Error) => {
      throw new ScalerError(`Kubernetes at ${target.base} does not answer: ${cause.message}`, { cause })
    })
    const { status, body: content } = answer
    if (status >= 200 && status < 300) return content
    const reason = content.message ?? `status ${status}`
    if (status === 409) throw new ConflictError(`Kubernetes: ${what}: ${reason}`)
    const hints: Record<number, string> = {
      401: 'the token of the service account is not accepted; check its mount, or pass --kubernetes-api',
      403: 'grant get on the workload, and get and patch on its scale subresource, to the service account',
      404: 'correct NAMESPACE, KIND and NAME in --scaler kubernetes:',
    }
    throw new ScalerError(`Kubernetes: ${what}: ${reason}`, { hint: hints[status] })
  }

  async #target(): Promise<Target> {
    const { api, env, namespace, account = accountFolder } = this.#options
    const read = (name: string) => readFile(join(account, name), 'utf8')
    // `kubectl proxy` and similar have the credentials.
    if (api !== undefined) return { base: api, namespace: namespace ?? 'default' }
    const host = env['KUBERNETES_SERVICE_HOST']
    const port = env['KUBERNETES_SERVICE_PORT']
    if (!host || !port) {
      throw new ScalerError('this process does not run in a pod of Kubernetes', {
        hint: 'pass --kubernetes-api, for example with the URL of "kubectl proxy"',
      })
    }
    try {
      // Read again for each request, because Kubernetes replaces the token.
      const [token, ca, own] = await Promise.all([read('token'), read('ca.crt'), namespace ?? read('namespace')])
      const base = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
      return { base, namespace: own.trim(), token: token.trim(), ca }
    } catch (cause) {
      throw new ScalerError(`cannot read the service account: ${(cause as Error).message}`, {
        cause,
        hint: 'set automountServiceAccountToken in the pod of the gateway',
      })
    }
  }
}

class ConflictError extends ScalerError {}

interface Target {
  readonly base: string
  readonly namespace: string
  readonly token?: string
  readonly ca?: string
}

/** Sends a request. Not with `fetch`, which cannot trust the CA of the cluster alone. */
function send(request: Target & { method: string; path: string; body: object | undefined }): Promise<Answer> {
  const { base, path, method, token, ca, body } = request
  const url = new URL(path, base)
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/merge-patch+json' }),
  }
  const client = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(limits.scaling.requestMs)
    const sent = client.request(url, { method, headers, signal, ...(ca !== undefined && { ca }) }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('error', reject)
        .on('end', () => {
          resolve({ status: response.statusCode!, body: parsed(text) })
        })
        .on('data', (part: string) => {
          text += part
          if (text.length > limits.scaling.answerBytes) response.destroy(new Error('the response is too long'))
        })
    })
    sent.on('error', reject).end(body && JSON.stringify(body))
  })
}

function parsed(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
