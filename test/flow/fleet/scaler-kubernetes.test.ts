import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { KubernetesScaler, type KubernetesOptions } from '../../../src/fleet/scaler/kubernetes.ts'
import { type KubernetesStandIn, startKubernetesStandIn } from '../../support/kubernetes-api.ts'

/** Against a stand-in for the API server: this shows the requests and errors, not that a cluster carries them out. */
describe('the kubernetes scaler (against a stand-in)', () => {
  let api: KubernetesStandIn
  beforeEach(async () => {
    api = await startKubernetesStandIn()
    api.workloads.set('tools/deployment/bax-worker', { replicas: 2, readyReplicas: 2 })
    api.workloads.set('tools/statefulset/bax', { replicas: 1, readyReplicas: 1 })
  })
  afterEach(() => api.close())
  const scaler = (changes: Partial<KubernetesOptions> = {}) =>
    new KubernetesScaler({
      kind: 'kubernetes',
      workload: 'deployment',
      name: 'bax-worker',
      namespace: 'tools',
      api: api.url,
      env: {},
      ...changes,
    })
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('did not fail'),
      (error: Error) => error,
    )

  test('reads and changes the scale subresource', async () => {
    expect(await scaler().current()).toBe(2)
    await scaler().want(5)
    expect(api.workloads.get('tools/deployment/bax-worker')!.replicas).toBe(5)
    await scaler({ workload: 'statefulset', name: 'bax' }).want(0)
    expect(api.workloads.get('tools/statefulset/bax')!.replicas).toBe(0)
    expect(api.requests).toContain('PATCH /apis/apps/v1/namespaces/tools/deployments/bax-worker/scale')
  })

  test('a deployment shrinks only when drained pods are no longer ready, since those are removed first', async () => {
    expect(await failureOf(scaler().want(1))).toMatchObject({
      message: '2 workers of Kubernetes deployment tools/bax-worker are still ready',
    })
    api.workloads.set('tools/deployment/bax-worker', { replicas: 2, readyReplicas: 1 })
    await scaler().want(1)
    expect(await scaler().current()).toBe(1)
  })

  test('uses the service account of its pod', async () => {
    api.token = 'the token'
    const account = await mkdtemp(join(tmpdir(), 'bax-account-'))
    const { hostname, port } = new URL(api.url)
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
    try {
      const inPod = new KubernetesScaler({
        kind: 'kubernetes',
        workload: 'deployment',
        name: 'bax-worker',
        env,
        account,
      })
      expect(await failureOf(inPod.current())).toMatchObject({
        message: expect.stringContaining('cannot read the service account'),
        hint: 'set automountServiceAccountToken in the pod of the gateway',
      })
      for (const [name, text] of [
        ['token', 'the token\n'],
        ['namespace', 'tools'],
        ['ca.crt', ''],
      ] as const)
        await writeFile(join(account, name), text)
      // The stand-in has no TLS, which the scaler always uses inside a cluster.
      expect(await failureOf(inPod.current())).toMatchObject({
        message: expect.stringMatching(/^Kubernetes at https:\/\/127\.0\.0\.1:\d+ does not answer: /),
      })
    } finally {
      await rm(account, { recursive: true })
    }
    expect(await failureOf(scaler({ api: undefined as never }).current())).toMatchObject({
      message: 'this process does not run in a pod of Kubernetes',
    })
  })

  test('repeats a change that conflicts with another one', async () => {
    api.conflicts = 2
    await scaler().want(3)
    expect(await scaler().current()).toBe(3)
    api.conflicts = 100
    expect((await failureOf(scaler().want(4))).message).toMatch(/the object has been modified/)
  })

  test('explains refusals', async () => {
    api.token = 'another token'
    expect(await failureOf(scaler().current())).toMatchObject({
      message: 'Kubernetes: GET /apis/apps/v1/namespaces/tools/deployments/bax-worker/scale: Unauthorized',
      hint: expect.stringContaining('token'),
    })
    api.token = null
    api.allowed = false
    expect(await failureOf(scaler().want(3))).toMatchObject({
      message: expect.stringContaining('cannot get resource "deployments" in API group "apps"'),
      hint: expect.stringContaining('grant get'),
    })
    api.allowed = true
    expect(await failureOf(scaler({ name: 'other' }).current())).toMatchObject({
      message: expect.stringContaining('deployments.apps "other" not found'),
      hint: 'correct NAMESPACE, KIND and NAME in --scaler kubernetes:',
    })
  })

  test('reports an API that is away', async () => {
    const away = scaler()
    await api.close()
    expect((await failureOf(away.current())).message).toMatch(/^Kubernetes at http:\/\/127.* does not answer: /)
    api = await startKubernetesStandIn()
  })
})
