import type { CertificateSource, TlsMaterial } from "./certificates.ts";
import { readSecretFile, SecretFileError } from "./secret-file.ts";
import { CertificateError, type CheckedMaterial, checkTlsMaterial } from "./tls-material.ts";

export interface FileCertificateOptions {
  /** PEM: the server's certificate, followed by its chain. */
  readonly certFile: string;
  /** PEM, without a passphrase. */
  readonly keyFile: string;
  /** PEM. With it, clients must show a certificate that one of these authorities has signed (mTLS). */
  readonly clientCaFile?: string;
  /** Pace at which the files are looked at. Milliseconds; default 60,000. */
  readonly reloadIntervalMs?: number;
  readonly log: {
    info(members: object, message: string): void;
    error(members: object, message: string): void;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back after a delay, like `setTimeout`. Returns its cancellation. */
  readonly schedule: (callback: () => void, delayMs: number) => () => void;
}

/** `unchanged`: the files are as they were. `kept`: they are broken, and what was loaded before stays in force. */
export type ReloadOutcome = "unchanged" | "replaced" | "kept";

/** Certificates from files, which are looked at again and again between `start` and `shutdown`. */
export interface FileCertificates extends CertificateSource {
  /** Looks at the files now. Never throws. */
  reload(): ReloadOutcome;
  start(): Promise<void>;
  shutdown(): Promise<void>;
}

const DEFAULT_RELOAD_INTERVAL_MS = 60_000;
const MAX_FILE_BYTES = 1024 * 1024;
const ONE_DAY_MS = 86_400_000;
const WARNED_BEFORE_EXPIRY_MS = 14 * ONE_DAY_MS;

/**
 * Loads and checks the files. A certificate that has expired is used at a start, with an error in the log: those who
 * check it refuse it anyway, and the log is where one looks. It never replaces a better one.
 * @throws SecretFileError or CertificateError when they cannot be used.
 */
export function createFileCertificates(options: FileCertificateOptions): FileCertificates {
  const { log, now, schedule, reloadIntervalMs = DEFAULT_RELOAD_INTERVAL_MS } = options;
  const listeners = new Set<(material: TlsMaterial) => void>();
  let inForce = load(options);
  let refused: string | undefined;
  let toldOfExpiry: ExpiryStage = "good";
  let cancel: (() => void) | undefined;
  if (inForce.isKeyReadableByOthers)
    log.error({ file: options.keyFile }, "others than its owner can read the private key");

  function tellOfExpiry(): void {
    const stage = expiryStage(inForce.checked.expiresAtMs - now());
    if (stage === toldOfExpiry) return;
    toldOfExpiry = stage;
    const members = {
      subject: inForce.checked.subject,
      expiresAt: new Date(inForce.checked.expiresAtMs).toISOString(),
    };
    if (stage === "expired") log.error(members, "the certificate has expired: clients refuse it");
    else if (stage === "soon") log.error(members, "the certificate expires soon");
  }

  function reload(): ReloadOutcome {
    try {
      const loaded = load(options);
      if (isSame(loaded.material, inForce.material)) {
        refused = undefined;
        return "unchanged";
      }
      if (loaded.checked.expiresAtMs <= now()) throw new CertificateError("the certificate has expired");
      inForce = loaded;
      refused = undefined;
    } catch (error) {
      if (!(error instanceof SecretFileError || error instanceof CertificateError)) throw error;
      // Once for each thing that is wrong, not once a minute.
      if (refused !== error.message) log.error({ reason: error.message }, "the certificates were not replaced");
      refused = error.message;
      return "kept";
    } finally {
      tellOfExpiry();
    }
    log.info({ subject: inForce.checked.subject }, "the certificates were replaced");
    for (const listener of listeners) listener(inForce.material);
    return "replaced";
  }

  function look(): void {
    cancel = schedule(() => {
      reload();
      look();
    }, reloadIntervalMs);
  }

  tellOfExpiry();
  return {
    current: () => inForce.material,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    reload,
    start: async () => look(),
    shutdown: async () => cancel?.(),
  };
}

type ExpiryStage = "good" | "soon" | "expired";

function expiryStage(remainingMs: number): ExpiryStage {
  if (remainingMs <= 0) return "expired";
  return remainingMs < WARNED_BEFORE_EXPIRY_MS ? "soon" : "good";
}

interface LoadedMaterial {
  readonly material: TlsMaterial;
  readonly checked: CheckedMaterial;
  readonly isKeyReadableByOthers: boolean;
}

function load({ certFile, keyFile, clientCaFile }: FileCertificateOptions): LoadedMaterial {
  const key = readSecretFile(keyFile, MAX_FILE_BYTES);
  const material: TlsMaterial = {
    certificate: readSecretFile(certFile, MAX_FILE_BYTES).content,
    privateKey: key.content,
    ...(clientCaFile === undefined
      ? undefined
      : { clientAuthorities: readSecretFile(clientCaFile, MAX_FILE_BYTES).content }),
  };
  return { material, checked: checkTlsMaterial(material), isKeyReadableByOthers: key.isReadableByOthers };
}

function isSame(one: TlsMaterial, other: TlsMaterial): boolean {
  const hasSameAuthorities =
    one.clientAuthorities === undefined || other.clientAuthorities?.equals(one.clientAuthorities) === true;
  return hasSameAuthorities && one.certificate.equals(other.certificate) && one.privateKey.equals(other.privateKey);
}
