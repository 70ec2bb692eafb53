/** Fleets: gateways, workers and Redis. */
import { measureCrawls } from './fleet/crawl.ts'
import { measurePlacement } from './fleet/placement.ts'
import { measureGateway } from './fleet/through-gateway.ts'
import type { Table } from './measure.ts'

const parts = [measurePlacement, measureGateway, measureCrawls]

export async function measure(): Promise<Table[]> {
  const tables: Table[] = []
  for (const part of parts) tables.push(...(await part()))
  return tables
}
