/** Version of this package: the instrumentation scope's version and part of the user agent. A test keeps it current. */
export const SDK_VERSION = "0.1.0";
