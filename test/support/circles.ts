/** Circles among the files and folders of the source tree. Types count: a circle of types has to be read as a whole. */
import { posix } from 'node:path'
import type { SourceFile } from './guards.ts'

/** Imports of any kind, also of types and on demand. */
const anyImport = /(?:^(?:import|export)\s+(?:[\w*{][^'"]*?from\s+)?|\b(?:import|load)\(\s*)['"](\.[^'"?]+)/gm

type Graph = ReadonlyMap<string, ReadonlySet<string>>

const graphOf = (files: readonly SourceFile[]): Graph => {
  const names = new Set(files.map(({ name }) => name))
  const targetsOf = ({ name, text }: SourceFile) =>
    [...text.matchAll(anyImport)].map(([, target]) => posix.join(posix.dirname(name), target!))
  return new Map(files.map((file) => [file.name, new Set(targetsOf(file).filter((name) => names.has(name)))]))
}

/** Returns the groups of more than `most` files that all import each other, directly or through others. */
export function circles(files: readonly SourceFile[], most: number): string[][] {
  const graph = graphOf(files)
  return stronglyConnected(graph).filter((circle) => circle.length > most)
}

/** Returns the strongly connected components of a graph, by Tarjan's algorithm; largest first. */
function stronglyConnected(graph: Graph): string[][] {
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const components: string[][] = []
  const lower = (name: string, number: number) => lowest.set(name, Math.min(lowest.get(name)!, number))
  const visit = (name: string): void => {
    numbers.set(name, numbers.size)
    lowest.set(name, numbers.get(name)!)
    path.push(name)
    for (const target of graph.get(name)!) {
      if (!numbers.has(target)) {
        visit(target)
        lower(name, lowest.get(target)!)
      } else if (path.includes(target)) lower(name, numbers.get(target)!)
    }
    if (lowest.get(name) === numbers.get(name)) components.push(path.splice(path.indexOf(name)).toSorted())
  }
  for (const name of graph.keys()) if (!numbers.has(name)) visit(name)
  return components.toSorted((a, b) => b.length - a.length)
}

/** Returns which folders of `parent` each of them imports from; files of `parent` itself belong to none. */
export function folderImports(files: readonly SourceFile[], parent: string): Map<string, Set<string>> {
  const folderOf = (name: string) =>
    name.startsWith(`${parent}/`) ? /^([^/]+)\//.exec(name.slice(parent.length + 1))?.[1] : undefined
  const found = new Map<string, Set<string>>()
  for (const [name, targets] of graphOf(files)) {
    const folder = folderOf(name)
    if (folder === undefined) continue
    const others = found.get(folder) ?? new Set()
    for (const other of [...targets].map(folderOf)) if (other !== undefined && other !== folder) others.add(other)
    found.set(folder, others)
  }
  return found
}

/** Returns the pairs of folders of `parent` that import each other, as `a <-> b`. */
export function mutualFolders(files: readonly SourceFile[], parent: string): string[] {
  const imports = folderImports(files, parent)
  return [...imports].flatMap(([folder, others]) =>
    [...others]
      .filter((other) => folder < other && imports.get(other)!.has(folder))
      .map((other) => `${folder} <-> ${other}`),
  )
}
