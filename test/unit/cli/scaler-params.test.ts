import { describe, expect, test } from 'vitest'
import { readScaling, type scalerParams } from '../../../src/cli/serve/scaler-params.ts'
import type { ValuesOf } from '../../../src/lines/typed.ts'

type Flags = Partial<ValuesOf<typeof scalerParams>>
const scaling = (flags: Flags) => readScaling(flags, true)

describe('the flags of scalers', () => {
  test('without any, the number of workers is fixed', () => {
    expect(scaling({})).toEqual({ target: { kind: 'none' }, min: 0, max: 0, provisionTimeoutMs: 120_000 })
  })

  test.each([
    ['docker:bax_worker', { kind: 'docker', service: 'bax_worker' }],
    ['kubernetes:deployment/bax-worker', { kind: 'kubernetes', workload: 'deployment', name: 'bax-worker' }],
    ['kubernetes:tools/sts/bax', { kind: 'kubernetes', workload: 'statefulset', name: 'bax', namespace: 'tools' }],
    ['command:./scale.sh', { kind: 'command', program: './scale.sh' }],
    ['command:C:\\scale.exe', { kind: 'command', program: 'C:\\scale.exe' }],
  ])('--scaler %s', (scaler, target) => {
    expect(scaling({ scaler, scaleMax: 4 })).toEqual({ target, min: 1, max: 4, provisionTimeoutMs: 120_000 })
  })

  test.each<[Flags, string]>([
    [{ scaler: 'dokcer:x', scaleMax: 1 }, 'not "dokcer:x" (did you mean "docker"?)'],
    [{ scaler: 'docker', scaleMax: 1 }, '--scaler must be docker:SERVICE, not "docker"'],
    [{ scaler: 'none:x' }, '--scaler must be none, not "none:x"'],
    [{ scaler: 'command:', scaleMax: 1 }, '--scaler must be command:PROGRAM, not "command:"'],
    [{ scaler: 'kubernetes:pod/x', scaleMax: 1 }, 'with the kind deployment or statefulset, not "kubernetes:pod/x"'],
    [{ scaler: 'kubernetes:a/b/deployment/x', scaleMax: 1 }, 'must be kubernetes:[NAMESPACE/]KIND/NAME'],
    [{ scaler: 'kubernetes:deployment/../secrets', scaleMax: 1 }, 'must be kubernetes:[NAMESPACE/]KIND/NAME'],
    [{ scaler: 'docker:x' }, '--scaler docker:x needs --scale-max'],
    [{ scaler: 'docker:x', scaleMin: 5, scaleMax: 4 }, '--scale-max must be 5 to 10000, not 4'],
    [{ scaler: 'docker:x', scaleMin: -1, scaleMax: 4 }, '--scale-min must be 0 to 10000, not -1'],
    [{ scaleMax: 4 }, '--scale-max needs a --scaler'],
    [{ provisionTimeout: 0 }, '--provision-timeout must be 1 to 3600, not 0'],
    [{ kubernetesApi: 'http://127.0.0.1:8001' }, '--kubernetes-api needs --scaler kubernetes:'],
    [
      { scaler: 'kubernetes:deployment/x', scaleMax: 1, kubernetesApi: 'localhost' },
      '--kubernetes-api must be an http or https URL',
    ],
  ])('rejects %j', (flags, message) => {
    expect(() => scaling(flags)).toThrow(message)
  })

  test('only a gateway has them', () => {
    expect(() => readScaling({ provisionTimeout: 5 }, false)).toThrow('--provision-timeout needs --fleet')
    expect(readScaling({}, false).target).toEqual({ kind: 'none' })
  })

  test('--kubernetes-api and --provision-timeout', () => {
    const flags = {
      scaler: 'kubernetes:deployment/x',
      scaleMax: 1,
      kubernetesApi: 'http://127.0.0.1:8001',
      provisionTimeout: 30,
    }
    expect(scaling(flags)).toMatchObject({ target: { api: 'http://127.0.0.1:8001/' }, provisionTimeoutMs: 30_000 })
  })
})
