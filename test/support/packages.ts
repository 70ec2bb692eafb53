/** Packages that single tests drive bax with; too many and too large for the dependencies of this project. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const cache = new URL('../../node_modules/.cache/', import.meta.url)

/**
 * Returns the folder of a package in exactly this version, installed on first use with others (`name@version`) that it
 * needs beside it; rejects without a registry.
 */
export async function packageFolder(name: string, version: string, beside: readonly string[] = []): Promise<URL> {
  const home = new URL(`${name.replace('/', '+')}-${version}/`, cache)
  const folder = new URL(`node_modules/${name}/`, home)
  if (existsSync(new URL('package.json', folder))) return folder
  await mkdir(dirname(fileURLToPath(home)), { recursive: true })
  const made = await mkdtemp(fileURLToPath(home).replace(/\/$/, '-'))
  const args = ['install', '--prefix', made, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
  // By default npm waits five minutes for a connection that stalls, which is longer than a test may take.
  args.push('--fetch-timeout', '30000', '--fetch-retries', '5', '--fetch-retry-mintimeout', '1000')
  await promisify(execFile)('npm', [...args, `${name}@${version}`, ...beside])
  // Keep the folder if another test has installed it meanwhile.
  await rename(made, fileURLToPath(home)).catch(() => rm(made, { recursive: true }))
  return folder
}

/** Imports a file of a package as a module. */
export async function packageModule<Module>(name: string, version: string, file: string): Promise<Module> {
  return (await import(new URL(file, await packageFolder(name, version)).href)) as Module
}
