/** Everything that can be called from outside. Server, client, terminal and documents are loops over this list. */
import { cancelCrawl, crawl, crawlEvents, getCrawl, getCrawlErrors, map, resumeCrawl } from './crawl.ts'
import { getEngineStatus, health, stopEngine } from './engine.ts'
import { sessionEvents } from './events.ts'
import { browserStep, observe } from './observe.ts'
import { deleteProfile, getProfile, listProfiles, saveProfile } from './profiles.ts'
import { cancelProvision, getProvision, pollProvision } from './provisioning.ts'
import { runCommands } from './run-commands.ts'
import { scrape } from './scrape.ts'
import { search } from './search.ts'
import { getArtifact, listArtifacts } from './shell-artifacts.ts'
import {
  followShellExec,
  getShellExec,
  resizeShellExec,
  shellExec,
  shellExecStream,
  signalShellExec,
  writeShellExec,
} from './shell-exec.ts'
import {
  copyShellFile,
  deleteShellFile,
  listShellFiles,
  makeShellFolder,
  moveShellFile,
  readShellFile,
  searchShellFiles,
  shellFileInfo,
  shellFileTree,
  writeShellFile,
} from './shell-files.ts'
import { buildShellImage, listShellImages } from './shell-images.ts'
import { createShell, deleteShell, getShell, listShells, touchShell } from './shell-sessions.ts'
import { downloadArtifact, downloadShellFile, uploadShellFile } from './shell-transfers.ts'
import { getSessionLog, traceSession } from './session-diagnostics.ts'
import { closeSession, createSession, getSession, listSessions } from './sessions.ts'

export const operations = {
  browserStep,
  cancelCrawl,
  cancelProvision,
  closeSession,
  copyShellFile,
  crawl,
  createSession,
  createShell,
  deleteProfile,
  deleteShell,
  deleteShellFile,
  getArtifact,
  getCrawl,
  getCrawlErrors,
  getEngineStatus,
  getProfile,
  getProvision,
  getSession,
  getSessionLog,
  getShell,
  getShellExec,
  health,
  listArtifacts,
  listProfiles,
  listSessions,
  listShellFiles,
  listShellImages,
  listShells,
  makeShellFolder,
  map,
  moveShellFile,
  observe,
  pollProvision,
  readShellFile,
  resizeShellExec,
  resumeCrawl,
  runCommands,
  saveProfile,
  scrape,
  search,
  searchShellFiles,
  shellExec,
  shellFileInfo,
  shellFileTree,
  signalShellExec,
  stopEngine,
  touchShell,
  traceSession,
  writeShellExec,
  writeShellFile,
}

/** Operations whose answer comes in frames. */
export const streams = { buildShellImage, crawlEvents, followShellExec, sessionEvents, shellExecStream }

/** Operations whose answer, or whose body, is bytes. */
export const transfers = { downloadArtifact, downloadShellFile, uploadShellFile }

export type Operations = typeof operations
