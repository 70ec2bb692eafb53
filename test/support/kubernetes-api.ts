/**
 * A stand-in for the API server of Kubernetes, which cannot run on every machine: the scale subresource and the status
 * of Deployments and StatefulSets, with bearer tokens and RBAC, in the shapes and messages of version 1.31.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface KubernetesStandIn {
  readonly url: string
  /** By `NAMESPACE/KIND/NAME`. */
  readonly workloads: Map<string, { replicas: number; readyReplicas: number }>
  /** Requests as `METHOD PATH`. */
  readonly requests: string[]
  /** Accepted token; null accepts requests without one, as behind `kubectl proxy`. */
  token: string | null
  /** Whether the account may read and change workloads. */
  allowed: boolean
  /** Number of changes to answer with a conflict. */
  conflicts: number
  close(): Promise<void>
}

export async function startKubernetesStandIn(): Promise<KubernetesStandIn> {
  const standIn: Omit<KubernetesStandIn, 'url' | 'close'> = {
    workloads: new Map(),
    requests: [],
    token: null,
    allowed: true,
    conflicts: 0,
  }
  const server = createServer((request, response) => {
    void answer(standIn, request).then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(standIn, { url, close: () => new Promise<void>((done) => server.close(() => done())) })
}

const failure = (code: number, reason: string, message: string): [number, object] => [
  code,
  { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
]

async function answer(
  standIn: Omit<KubernetesStandIn, 'url' | 'close'>,
  request: IncomingMessage,
): Promise<[number, object]> {
  const { method, url = '', headers } = request
  standIn.requests.push(`${method} ${url}`)
  const authorized = standIn.token === null || headers.authorization === `Bearer ${standIn.token}`
  if (!authorized) return failure(401, 'Unauthorized', 'Unauthorized')
  const [, namespace, resource, name, scale] =
    /^\/apis\/apps\/v1\/namespaces\/([^/]+)\/(deployments|statefulsets)\/([^/]+)(\/scale)?$/.exec(url) ?? []
  if (!namespace || !resource || !name)
    return failure(404, 'NotFound', 'the server could not find the requested resource')
  const verb = method === 'GET' ? 'get' : 'patch'
  if (!standIn.allowed) {
    const what = `${resource}.apps "${name}" is forbidden: User "system:serviceaccount:${namespace}:bax"`
    const where = `resource "${resource}${scale ?? ''}" in API group "apps" in the namespace "${namespace}"`
    return failure(403, 'Forbidden', `${what} cannot ${verb} ${where}`)
  }
  const workload = standIn.workloads.get(`${namespace}/${resource.slice(0, -1)}/${name}`)
  if (!workload) return failure(404, 'NotFound', `${resource}.apps "${name}" not found`)
  if (method === 'PATCH') {
    if (headers['content-type'] !== 'application/merge-patch+json')
      return failure(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format')
    let text = ''
    for await (const part of request) text += String(part)
    if (standIn.conflicts-- > 0)
      return failure(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ${resource}.apps "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      )
    const { spec } = JSON.parse(text) as { spec: { replicas: number } }
    workload.replicas = spec.replicas
  }
  const { replicas, readyReplicas } = workload
  const metadata = { name, namespace }
  return scale
    ? [200, { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata, spec: { replicas }, status: { replicas } }]
    : [
        200,
        {
          kind: 'Deployment',
          apiVersion: 'apps/v1',
          metadata,
          spec: { replicas },
          status: { replicas, readyReplicas },
        },
      ]
}
