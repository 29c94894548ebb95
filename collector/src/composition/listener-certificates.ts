import type { TlsConfiguration } from "../config/configuration.ts";
import type { Component } from "../runtime/component.ts";
import type { CertificateSource, TlsMaterial } from "../security/certificates.ts";
import {
  createFileCertificates,
  type FileCertificateOptions,
  type FileCertificates,
} from "../security/file-certificates.ts";

type Surroundings = Pick<FileCertificateOptions, "log" | "now" | "schedule">;

/** The certificates of one listener, whose files may become other files while it runs. */
export class ListenerCertificates implements CertificateSource, Component {
  readonly #surroundings: Surroundings;
  readonly #listeners = new Set<(material: TlsMaterial) => void>();
  #files: FileCertificates;
  #forget: () => void;
  #isStarted = false;

  /** @throws SecretFileError or CertificateError when the files cannot be used. */
  constructor(tls: TlsConfiguration, surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#files = this.#open(tls);
    this.#forget = this.#pass();
  }

  current(): TlsMaterial {
    return this.#files.current();
  }

  subscribe(listener: (material: TlsMaterial) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    this.#isStarted = true;
    await this.#files.start();
  }

  async shutdown(): Promise<void> {
    this.#isStarted = false;
    this.#forget();
    await this.#files.shutdown();
  }

  /**
   * Loads what is to be in force next. Nothing changes before the returned function is called.
   * @throws SecretFileError or CertificateError when the files cannot be used.
   */
  prepare(tls: TlsConfiguration): () => Promise<void> {
    const next = this.#open(tls);
    return async () => {
      const previous = this.#files;
      this.#forget();
      this.#files = next;
      this.#forget = this.#pass();
      await previous.shutdown();
      if (this.#isStarted) await next.start();
      this.#tell(next.current());
    };
  }

  #open({ certFile, keyFile, clientCaFile, reloadIntervalMs }: TlsConfiguration): FileCertificates {
    return createFileCertificates({
      ...this.#surroundings,
      certFile,
      keyFile,
      reloadIntervalMs,
      ...(clientCaFile === undefined ? undefined : { clientCaFile }),
    });
  }

  #pass(): () => void {
    return this.#files.subscribe((material) => this.#tell(material));
  }

  #tell(material: TlsMaterial): void {
    for (const listener of this.#listeners) listener(material);
  }
}
