/** Removes what an earlier engine of the same state folder left: its containers, and images that lost their base. */
import type { DockerConnection } from './connection.ts'
import { dropStale } from './derived-image.ts'
import { type EngineIdentity, isAlive, labels } from './engine-identity.ts'
import { unless } from './faults.ts'

/** Containers with our label whose process is no more. Another engine's, alive or not, and foreign ones are not touched. */
export async function sweep(connection: DockerConnection, { engine, owner }: EngineIdentity): Promise<void> {
  const { docker } = connection
  const filters = JSON.stringify({ label: [`${labels.engine}=${engine}`] })
  const found = await docker.listContainers({ all: true, filters })
  const left = found.filter(({ Labels }) => {
    const of = Labels[labels.owner]
    return of !== undefined && of !== owner && !isAlive(of)
  })
  await Promise.all(left.map(({ Id }) => unless([404, 409], docker.getContainer(Id).remove({ force: true, v: true }))))
  await dropStale(connection)
}
