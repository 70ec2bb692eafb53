/** The files in scripts/deploy, and the command lines of bax in them. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

const folder = new URL('../../scripts/deploy/', import.meta.url)

export const readDeployFile = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** A service of Compose or of a Swarm stack. */
interface Service {
  readonly image: string
  readonly entrypoint?: string[]
  readonly command: string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly stop_grace_period?: string
  readonly secrets?: (string | { readonly source: string })[]
  readonly networks: string[]
  readonly healthcheck?: { readonly test: string[] }
  readonly user?: string
  readonly volumes?: (string | { readonly target: string })[]
  readonly security_opt?: string[]
  readonly deploy?: { readonly restart_policy?: { readonly condition: string } }
}

export interface Stack {
  readonly services: Readonly<Record<string, Service>>
  readonly secrets: Readonly<Record<string, unknown>>
  readonly networks: Readonly<Record<string, unknown>>
}

export const compose = parse(readDeployFile('compose.yaml'), { merge: true }) as Stack
export const swarm = parse(readDeployFile('swarm-stack.yaml'), { merge: true }) as Stack

type Port = number | string
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: Port }
}
export interface Container {
  readonly name: string
  readonly image: string
  readonly args: string[]
  readonly env: { readonly name: string; readonly value?: string }[]
  readonly ports: { readonly containerPort: number; readonly name: string }[]
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean; readonly capabilities: { drop: string[] } }
  readonly volumeMounts: { readonly name: string; readonly mountPath: string }[]
}
export interface PodSpec {
  readonly containers: [Container]
  readonly serviceAccountName?: string
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext: { readonly runAsUser: number; readonly fsGroup: number; readonly runAsNonRoot: boolean }
  readonly volumes?: { readonly name: string; readonly secret?: { readonly secretName: string } }[]
}
interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: { readonly key: string; readonly values: string[] }[]
}
interface Rule {
  readonly apiGroups: string[]
  readonly resources: string[]
  readonly resourceNames: string[]
  readonly verbs: string[]
}
/** An object of Kubernetes, with the fields that the tests read. */
export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly rules?: Rule[]
  readonly roleRef?: { readonly kind: string; readonly name: string }
  readonly subjects?: { readonly kind: string; readonly name: string }[]
  readonly spec?: {
    readonly template?: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: PodSpec }
    readonly selector?: Selector & Readonly<Record<string, unknown>>
    readonly podSelector?: Selector
    readonly ingress?: { readonly from?: { podSelector?: Selector }[]; readonly ports: { readonly port: Port }[] }[]
    readonly ports?: { readonly port: number; readonly targetPort: Port }[]
    readonly serviceName?: string
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string }
    readonly triggers?: { readonly type: string; readonly metadata: Readonly<Record<string, string>> }[]
    readonly minReplicaCount?: number
    readonly maxReplicaCount?: number
  }
}

const read = (name: string): Manifest[] =>
  parseAllDocuments(readDeployFile(name)).map((document) => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]!.message}`)
    return document.toJS() as Manifest
  })

/** Everything that `kubectl apply -f scripts/deploy/kubernetes` creates. */
export const manifests: readonly Manifest[] = readdirSync(new URL('kubernetes/', folder)).flatMap((name) =>
  read(`kubernetes/${name}`),
)
export const scaledObject: Manifest = read('keda/scaled-object.yaml')[0]!
/** Strategic merge patch of the gateways. */
export const kedaPatch: Manifest = read('keda/gateway-patch.yaml')[0]!

export const ofKind = (kind: string): readonly Manifest[] => manifests.filter((manifest) => manifest.kind === kind)
export const podOf = (name: string): PodSpec =>
  manifests.find(({ spec, metadata }) => spec?.template && metadata.name === name)!.spec!.template!.spec

/** One command line of bax, with the environment that its container has. */
export interface BaxCommand {
  readonly from: string
  readonly argv: string[]
  readonly env: Readonly<Record<string, string>>
}

/** Address of the pod or container in these command lines. */
export const podAddress = '10.0.0.7'

const inPod = (text: string) => text.replaceAll('$(POD_IP)', podAddress)
const fromPod = (from: string, { containers: [{ args, env }] }: PodSpec, own = args): BaxCommand => ({
  from,
  argv: own.map(inPod),
  env: Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
})

/** Arguments of the image, as the Dockerfile sets them. */
export const imageCommand: string[] = JSON.parse(/^CMD (.*)$/m.exec(readDeployFile('Dockerfile'))![1]!) as string[]

/** Returns every command line of bax in the deploy files. */
export function baxCommands(): BaxCommand[] {
  const services = Object.entries({ compose, swarm }).flatMap(([file, { services }]) =>
    ['gateway', 'worker'].map((name) => fromService(`${file} ${name}`, services[name]!)),
  )
  return [
    ...services,
    fromPod('kubernetes gateway', podOf('bax-gateway')),
    fromPod('kubernetes worker', podOf('bax-worker')),
    fromPod('keda gateway', podOf('bax-gateway'), kedaPatch.spec!.template!.spec.containers[0].args),
    {
      from: 'Dockerfile',
      argv: imageCommand,
      env: { BAX_FLEET: 'redis://redis:6379', BAX_SECRET_FILE: '/run/secret' },
    },
  ]
}

/** Returns the arguments after the entrypoint; a shell command is run by a shell, with a program that prints them. */
function fromService(from: string, { entrypoint, command, environment = {} }: Service): BaxCommand {
  const env = environment
  if (!entrypoint) return { from, argv: command, env }
  const bin = mkdtempSync(join(tmpdir(), 'bax-test-bin-'))
  try {
    writeFileSync(join(bin, 'bax'), '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    chmodSync(join(bin, 'bax'), 0o755)
    const shell = entrypoint.slice(entrypoint.indexOf('--') + 1)
    // Compose and Swarm read `$$` as `$`.
    const [program, ...args] = [...shell, ...command.map((text) => text.replaceAll('$$', '$'))]
    const path = [bin, process.env['PATH']].join(delimiter)
    const output = execFileSync(program!, args, { env: { PATH: path, HOSTNAME: podAddress }, encoding: 'utf8' })
    return { from, argv: output.trimEnd().split('\n'), env }
  } finally {
    rmSync(bin, { recursive: true })
  }
}

/** Returns the value of a flag. */
export const valueOf = (argv: readonly string[], flag: string): string | undefined =>
  argv.includes(flag) ? argv[argv.indexOf(flag) + 1] : undefined
