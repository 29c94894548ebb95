/** What a TLS listener shows and demands, in PEM. */
export interface TlsMaterial {
  /** The server's certificate, followed by its chain. */
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  /** With it, every client must show a certificate that one of these authorities has signed (mTLS). */
  readonly clientAuthorities?: Buffer;
}

/** The material in force, which may be replaced while the listener runs. */
export interface CertificateSource {
  current(): TlsMaterial;
  /** Hears of every replacement. Returns the function that ends the subscription. */
  subscribe(listener: (material: TlsMaterial) => void): () => void;
}
