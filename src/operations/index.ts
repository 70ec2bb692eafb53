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
import { getSessionLog, traceSession } from './session-diagnostics.ts'
import { closeSession, createSession, getSession, listSessions } from './sessions.ts'

export const operations = {
  browserStep,
  cancelCrawl,
  cancelProvision,
  closeSession,
  crawl,
  createSession,
  deleteProfile,
  getCrawl,
  getCrawlErrors,
  getEngineStatus,
  getProfile,
  getProvision,
  getSession,
  getSessionLog,
  health,
  listProfiles,
  listSessions,
  map,
  observe,
  pollProvision,
  resumeCrawl,
  runCommands,
  saveProfile,
  scrape,
  search,
  stopEngine,
  traceSession,
}

/** Operations whose answer comes in frames. */
export const streams = { crawlEvents, sessionEvents }

/** Operations whose answer, or whose body, is bytes. */
export const transfers = {}

export type Operations = typeof operations
