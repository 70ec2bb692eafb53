/** A container that runs one of the agent's small programs, says a few lines and is gone. */
import type Dockerode from 'dockerode'
import { attach } from './attach.ts'
import { unless } from './faults.ts'
import { agentPath } from './host-config.ts'

interface OneShot {
  readonly image: string
  readonly command: readonly string[]
  readonly network: string
  readonly capabilities: readonly string[]
  readonly labels: Record<string, string>
}

export async function runOnce(
  docker: Dockerode,
  shot: OneShot,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const container = await docker.createContainer({
    Image: shot.image,
    Entrypoint: [agentPath],
    Cmd: [...shot.command],
    User: '0:0',
    WorkingDir: '/',
    Labels: shot.labels,
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      NetworkMode: shot.network,
      CapDrop: ['ALL'],
      CapAdd: [...shot.capabilities],
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
    await unless([404, 409], container.remove({ force: true, v: true }))
  }
}
