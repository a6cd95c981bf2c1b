/**
 * The far side of a web request: a worker that may reach the addresses of one hop and nothing else.
 *
 * @module
 */
import { serveHops } from "./_web_serve.ts";

serveHops();
