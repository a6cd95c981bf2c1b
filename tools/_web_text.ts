/**
 * Bytes from the web to text: what kind of content it is, and in which charset.
 *
 * Sources: the WHATWG standards for encodings and MIME sniffing, in the parts that matter for reading.
 *
 * @module
 */

/** What can be done with a body. */
export type ContentKind = "html" | "text" | "pdf" | "empty" | "other";

/** A `Content-Type` header in parts, lower case. */
export interface ContentType {
  /** `type/subtype`, or empty. */
  readonly essence: string;
  /** Empty where there is none. */
  readonly charset: string;
}

/** What RFC 9110 and RFC 6838 let a type be: no words of a server's own choosing beyond that reach the model. */
const ESSENCE = /^[\w!#$&.+^-]{1,64}\/[\w!#$&.+^-]{1,100}$/;

/** Reads a `Content-Type` header. */
export function parseContentType(header: string): ContentType {
  const [essence = "", ...parameters] = header.split(";").map((part) => part.trim());
  const charset = parameters.map((part) => /^charset\s*=\s*["']?([^"'\s]+)/i.exec(part)?.[1]).find(Boolean);
  return {
    essence: ESSENCE.test(essence) ? essence.toLowerCase() : "",
    charset: charset?.toLowerCase() ?? "",
  };
}

const TEXT =
  /^(?:text\/.*|(?:application|model|image)\/(?:.*\+)?(?:json|xml|yaml)|application\/(?:.*[+.-])?(?:json5|jsonc|ndjson|json-seq|jsonl|javascript|ecmascript|typescript|x-javascript|yaml|x-yaml|toml|x-sh|x-httpd-php|sql|graphql|x-www-form-urlencoded|rtf|x-tex|x-latex|x-ndjson|x-subrip))$/;
/** Types that servers give to what they do not know. */
const UNKNOWN = new Set([
  "",
  "application/octet-stream",
  "binary/octet-stream",
  "application/unknown",
  "unknown/unknown",
  "text/plain",
  "application/download",
  "application/force-download",
]);

/** The kind of a body, by its type and, where that says little, by its beginning. */
export function kindOf(type: ContentType, body: Uint8Array): ContentKind {
  if (body.length === 0) return "empty";
  const { essence } = type;
  if (startsWith(body, "%PDF-")) return "pdf";
  const html = essence === "text/html" || essence === "application/xhtml+xml";
  if (!html && !TEXT.test(essence) && !UNKNOWN.has(essence)) return "other";
  if (isBinary(body, type)) return "other";
  if (html) return "html";
  return essence !== "text/plain" && UNKNOWN.has(essence) && looksLikeHtml(body) ? "html" : "text";
}

function startsWith(body: Uint8Array, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (body[i] !== text.charCodeAt(i)) return false;
  return true;
}

function looksLikeHtml(body: Uint8Array): boolean {
  const head = new TextDecoder("latin1").decode(body.subarray(0, 1024));
  return /^(?:\u00ef\u00bb\u00bf)?\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script|div|p|h1|table)\b/i
    .test(head);
}

/** Bytes that no text has, where it is in no encoding with wide characters. */
function isBinary(body: Uint8Array, type: ContentType): boolean {
  if (bomOf(body) !== null || /^utf-?(?:16|32)|^ucs-?2|^unicode/.test(type.charset)) return false;
  const head = body.subarray(0, 4096);
  let odd = 0;
  for (const byte of head) {
    if (byte === 0) return true;
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) odd++;
  }
  return odd > head.length / 10;
}

function bomOf(body: Uint8Array): string | null {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return null;
}

/**
 * Decodes a body: by its byte order mark, else the header, else what an HTML or XML beginning says, else UTF-8, and
 * windows-1252 where it is no valid UTF-8. Never throws: bytes that fit nothing become replacement characters.
 */
export function decodeBody(body: Uint8Array, type: ContentType): string {
  const label = bomOf(body) ?? usable(type.charset) ?? declared(body);
  if (label !== null) return new TextDecoder(label).decode(body);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    // A mark or two that is broken does not make a page Latin-1.
    const text = new TextDecoder("utf-8").decode(body);
    const broken = text.split("\ufffd").length - 1;
    // deno-lint-ignore no-control-regex
    const wide = text.match(/[^\u0000-\u007f\ufffd]/g)?.length ?? 0;
    return wide > 4 * broken ? text : new TextDecoder("windows-1252").decode(body);
  }
}

/** A label that a decoder knows; null for the others. */
function usable(label: string): string | null {
  if (label === "") return null;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** What the first kilobytes say of themselves. */
function declared(body: Uint8Array): string | null {
  const head = new TextDecoder("latin1").decode(body.subarray(0, 4096));
  const xml = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([^"']{1,40})["']/i.exec(head)?.[1];
  const meta = /<meta\s[^>]{0,400}?charset\s*=\s*["']?\s*([^"'\s/>;]{1,40})/i.exec(head)?.[1];
  const label = usable((xml ?? meta ?? "").toLowerCase());
  // Whoever could read the declaration as ASCII does not have UTF-16.
  return label?.startsWith("utf-16") ? "utf-8" : label;
}
