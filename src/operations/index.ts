/** Everything that can be called from outside. Server, client, terminal and documents are loops over this list. */
import { cancelCrawl, crawl, crawlEvents, getCrawl, getCrawlErrors, listCrawls, map, resumeCrawl } from './crawl.ts'
import { getEngineStatus, stopEngine } from './engine.ts'
import { cdp } from './browser/cdp.ts'
import { cdpTargets, cdpVersion } from './browser/cdp-discovery.ts'
import { sessionEvents } from './browser/events.ts'
import { createKey, listKeys, revokeKey } from './keys.ts'
import { health, metrics, ready } from './life.ts'
import { linkLiveView } from './browser/live-view.ts'
import { browserStep, observe } from './browser/observe.ts'
import { deleteProfile, getProfile, listProfiles, saveProfile } from './browser/profiles.ts'
import { cancelProvision, getProvision, pollProvision } from './browser/provisioning.ts'
import {
  activateTarget,
  clearRelayEvents,
  createRelayToken,
  followRelayEvents,
  getRelay,
  listRelays,
  listRelayTokens,
  readRelayEvents,
  revokeRelayToken,
  stopRelay,
} from './browser/relay.ts'
import { relayCdp, relayConnect, sessionCdp, sessionLive } from './browser/sockets.ts'
import { runCommands } from './browser/run-commands.ts'
import { scrape } from './scrape.ts'
import { search } from './search.ts'
import { getArtifact, listArtifacts } from './shell/shell-artifacts.ts'
import {
  followShellExec,
  getShellExec,
  resizeShellExec,
  shellExec,
  shellExecStream,
  signalShellExec,
  writeShellExec,
} from './shell/shell-exec.ts'
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
} from './shell/shell-files.ts'
import { buildShellImage, listShellImages } from './shell/shell-images.ts'
import { createShell, deleteShell, getShell, killShell, listShells, touchShell } from './shell/shell-sessions.ts'
import { downloadArtifact, downloadShellFile, uploadShellFile } from './shell/shell-transfers.ts'
import { getSessionLog, traceSession } from './browser/session-diagnostics.ts'
import { closeSession, createSession, getSession, listSessions } from './browser/sessions.ts'
import { cancelCrawlV2, crawlV2, getCrawlErrorsV2, getCrawlV2 } from './v2/crawl.ts'
import { mapV2 } from './v2/map.ts'
import { scrapeV2 } from './v2/scrape.ts'
import { searchV2 } from './v2/search.ts'

export const operations = {
  activateTarget,
  browserStep,
  cancelCrawl,
  cancelCrawlV2,
  cancelProvision,
  cdp,
  cdpTargets,
  cdpVersion,
  clearRelayEvents,
  closeSession,
  copyShellFile,
  crawl,
  crawlV2,
  createKey,
  createRelayToken,
  createSession,
  createShell,
  deleteProfile,
  deleteShell,
  deleteShellFile,
  getCrawl,
  getCrawlErrors,
  getCrawlErrorsV2,
  getCrawlV2,
  getEngineStatus,
  getProfile,
  getProvision,
  getRelay,
  getSession,
  getSessionLog,
  getArtifact,
  getShell,
  getShellExec,
  health,
  killShell,
  linkLiveView,
  listArtifacts,
  listCrawls,
  listKeys,
  listProfiles,
  listRelays,
  listRelayTokens,
  listSessions,
  listShellFiles,
  listShellImages,
  listShells,
  makeShellFolder,
  map,
  mapV2,
  metrics,
  moveShellFile,
  observe,
  pollProvision,
  readRelayEvents,
  readShellFile,
  ready,
  resizeShellExec,
  resumeCrawl,
  revokeKey,
  revokeRelayToken,
  runCommands,
  saveProfile,
  scrape,
  scrapeV2,
  search,
  searchShellFiles,
  searchV2,
  shellExec,
  shellFileInfo,
  shellFileTree,
  signalShellExec,
  stopEngine,
  stopRelay,
  touchShell,
  traceSession,
  writeShellExec,
  writeShellFile,
}

/** Operations whose answer comes in frames. */
export const streams = {
  buildShellImage,
  crawlEvents,
  followRelayEvents,
  followShellExec,
  sessionEvents,
  shellExecStream,
}

/** Operations whose answer, or whose body, is bytes. */
export const transfers = { downloadArtifact, downloadShellFile, uploadShellFile }

/** Operations that go on as a websocket. */
export const sockets = { relayCdp, relayConnect, sessionCdp, sessionLive }

export type Operations = typeof operations
