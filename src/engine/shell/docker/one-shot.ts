/** Runs one of the agent's commands in a temporary container. */
import type Dockerode from 'dockerode'
import { attach } from './attach.ts'
import { ignoreStatuses } from './errors.ts'
import { agentPath } from './host-config.ts'

interface OneShotOptions {
  readonly image: string
  readonly command: readonly string[]
  readonly network: string
  readonly capabilities: readonly string[]
  readonly labels: Record<string, string>
}

export async function runOnce(
  docker: Dockerode,
  options: OneShotOptions,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const container = await docker.createContainer({
    Image: options.image,
    Entrypoint: [agentPath],
    Cmd: [...options.command],
    User: '0:0',
    WorkingDir: '/',
    Labels: options.labels,
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      NetworkMode: options.network,
      CapDrop: ['ALL'],
      CapAdd: [...options.capabilities],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      PidsLimit: 16,
      Memory: 64 * 1024 * 1024,
      LogConfig: { Type: 'none', Config: {} },
    },
  })
  let stdout = ''
  let stderr = ''
  try {
    const attached = await attach(docker, container.id, {
      stdout: (bytes) => void (stdout += bytes.toString()),
      stderr: (text) => void (stderr += text),
    })
    await container.start()
    await attached.closed
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    return { code, stdout, stderr }
  } finally {
    await ignoreStatuses([404, 409], container.remove({ force: true, v: true }))
  }
}
