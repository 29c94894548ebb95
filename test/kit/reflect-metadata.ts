// The certificate library finds its algorithms through metadata on classes, and asks for these three functions of a
// proposal that never became JavaScript. It looks for them while it is loaded: import this file before it.
const metadata = new WeakMap<object, Map<unknown, unknown>>();

function own(key: unknown, target: object): unknown {
  return metadata.get(target)?.get(key);
}

function inherited(key: unknown, target: object): unknown {
  for (let holder: object | null = target; holder !== null; holder = Object.getPrototypeOf(holder)) {
    if (metadata.get(holder)?.has(key) === true) return own(key, holder);
  }
  return undefined;
}

Object.assign(Reflect, {
  defineMetadata: (key: unknown, value: unknown, target: object): void => {
    const entries = metadata.get(target) ?? new Map<unknown, unknown>();
    metadata.set(target, entries.set(key, value));
  },
  getMetadata: inherited,
  getOwnMetadata: own,
});
