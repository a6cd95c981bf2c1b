/**
 * Rules that a person made for one session, kept when the configuration is read again.
 *
 * @module
 */
import type { Settings } from "../../config/settings.ts";

/**
 * New settings with what was added to the lists of consent beside the old ones.
 *
 * @param loaded the configuration as it is now
 * @param now what is in force
 * @param before the configuration as it was when `now` was made of it
 */
export function withSessionRules(loaded: Settings, now: Settings, before: Settings): Settings {
  const { consent, tool_permission } = loaded;
  return {
    ...loaded,
    consent: {
      ...consent,
      calls: added(consent.calls, now.consent.calls, before.consent.calls),
      tools: added(consent.tools, now.consent.tools, before.consent.tools),
    },
    tool_permission: {
      ...tool_permission,
      bash_auto: added(
        tool_permission.bash_auto ?? [],
        now.tool_permission.bash_auto ?? [],
        before.tool_permission.bash_auto ?? [],
      ),
    },
  };
}

function added<T>(loaded: readonly T[], now: readonly T[], before: readonly T[]): readonly T[] {
  const known = new Set([...loaded, ...before].map((value) => JSON.stringify(value)));
  return [...loaded, ...now.filter((value) => !known.has(JSON.stringify(value)))];
}
