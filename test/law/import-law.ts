import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { type ImportStatement, type ScannedSource, scanSource } from "./source-scan.ts";
import type { SourceFile } from "./workspace-source.ts";

export interface Unit {
  readonly name: string;
  /** Paths of files, or of folders with a closing slash. */
  readonly files: readonly string[];
  /** Other units; its own files may always import each other. */
  readonly mayImport: readonly string[];
  /** Exact specifiers of packages, or whatever the workspace's package.json declares. */
  readonly packages: readonly string[] | "declared";
  readonly node: boolean;
  /** Its packages end up inside what is built from it: they are declared for development alone. */
  readonly bundled?: boolean;
  readonly reason: string;
}

export interface ImportLaw {
  readonly units: readonly Unit[];
  readonly exceptions: readonly { readonly file: string; readonly mayImport: string; readonly reason: string }[];
  /** Our own packages, and the unit at their root. */
  readonly packageOf: Readonly<Record<string, string>>;
  readonly workspaces: readonly string[];
  readonly indexFiles: readonly string[];
  readonly forbiddenNames: readonly string[];
  readonly generated: readonly string[];
  readonly largest: { readonly bytes: number; readonly lines: number };
  readonly pure: {
    readonly files: readonly string[];
    readonly forbiddenWords: readonly string[];
    readonly forbiddenMembers: readonly string[];
  };
}

export interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, unknown>>;
}

const scans = new WeakMap<SourceFile, ScannedSource>();

/** Each file is read once, however many rules ask. */
function scanned(file: SourceFile): ScannedSource {
  const known = scans.get(file);
  if (known !== undefined) return known;
  const scan = scanSource(file.text);
  scans.set(file, scan);
  return scan;
}

/** What the files break of the law, one sentence each. Manifests are by workspace. */
export function importViolations(
  files: readonly SourceFile[],
  law: ImportLaw,
  manifests: Readonly<Record<string, PackageManifest>>,
): readonly string[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap((file) => {
    const { path } = file;
    const unit = unitOf(path, law);
    if (unit === undefined) return [`${path} belongs to no unit of the import law`];
    return scanned(file).imports.flatMap((statement) =>
      judgeImport(path, unit, statement, { law, manifests, paths }).map((what) => `${path}:${statement.line} ${what}`),
    );
  });
}

interface Context {
  readonly law: ImportLaw;
  readonly manifests: Readonly<Record<string, PackageManifest>>;
  readonly paths: ReadonlySet<string>;
}

function judgeImport(path: string, unit: Unit, statement: ImportStatement, context: Context): readonly string[] {
  const { specifier } = statement;
  const problems = statement.isExportAll ? [`re-exports all of ${specifier}`] : [];
  if (specifier.startsWith(".")) return [...problems, ...judgeRelative(path, unit, specifier, context)];
  if (isBuiltin(specifier)) {
    if (!specifier.startsWith("node:")) problems.push(`names the built-in ${specifier} without node:`);
    return unit.node ? problems : [...problems, `${unit.name} imports ${specifier}: ${unit.reason}`];
  }
  return [...problems, ...judgePackage(path, unit, specifier, context)];
}

function judgeRelative(path: string, unit: Unit, specifier: string, { law, paths }: Context): readonly string[] {
  const target = posix.join(posix.dirname(path), specifier);
  // Style sheets are no code: what they may name is theirs, and the build finds those that are missing.
  if (/\.css(?:\?inline)?$/.test(target) && target.startsWith("collector/board/")) return [];
  if (!paths.has(target)) return [`imports ${specifier}, which is no source file`];
  if (workspaceOf(target) !== workspaceOf(path)) return [`reaches into another package: ${specifier}`];
  const targetUnit = unitOf(target, law);
  if (targetUnit === undefined) return [];
  return mayImport(path, unit, targetUnit.name, law)
    ? []
    : [`${unit.name} imports ${targetUnit.name} (${specifier}): ${unit.reason}`];
}

function judgePackage(path: string, unit: Unit, specifier: string, context: Context): readonly string[] {
  const { law, manifests } = context;
  const name = packageName(specifier);
  const workspace = workspaceOf(path);
  const problems: string[] = [];
  const declared = {
    ...manifests[workspace]?.dependencies,
    ...(unit.bundled ? manifests[workspace]?.devDependencies : {}),
  };
  if (declared[name] === undefined) {
    problems.push(`imports ${name}, which ${workspace}/package.json does not declare`);
  }
  const own = law.packageOf[name];
  if (own === undefined) {
    const isAllowed = unit.packages === "declared" || unit.packages.includes(specifier);
    return isAllowed ? problems : [...problems, `${unit.name} imports ${specifier}: ${unit.reason}`];
  }
  const door = specifier === name ? "." : `.${specifier.slice(name.length)}`;
  if (manifests[own]?.exports?.[door] === undefined)
    problems.push(`imports ${specifier}, which ${name} does not export`);
  return mayImport(path, unit, own, law) ? problems : [...problems, `${unit.name} imports ${own}: ${unit.reason}`];
}

function mayImport(path: string, unit: Unit, target: string, law: ImportLaw): boolean {
  if (target === unit.name || unit.mayImport.includes(target)) return true;
  return law.exceptions.some((exception) => exception.file === path && exception.mayImport === target);
}

/** The unit with the longest path that holds the file. */
function unitOf(path: string, { units }: ImportLaw): Unit | undefined {
  const holders = units.flatMap((unit) =>
    unit.files
      .filter((file) => (file.endsWith("/") ? path.startsWith(file) : path === file))
      .map((file) => ({ unit, length: file.length })),
  );
  return holders.toSorted((first, second) => second.length - first.length)[0]?.unit;
}

function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function workspaceOf(path: string): string {
  return path.split("/", 1)[0] ?? "";
}

/** Files that import each other in a circle, as the circle's paths; each circle once. */
export function importCycles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(
    files.map((file) => [
      file.path,
      scanned(file)
        .imports.filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier)),
    ]),
  );
  const cycles: (readonly string[])[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt >= 0) {
      cycles.push([...trail.slice(seenAt), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of imports.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) walk(path, []);
  return cycles;
}

/** What the names and sizes of files break of the law. A file of tests may be as long as its list of cases. */
export function fileViolations(files: readonly SourceFile[], law: ImportLaw): readonly string[] {
  return files
    .filter(({ path }) => !isWithin(path, law.generated))
    .flatMap(({ path, text }) => {
      const problems: string[] = [];
      const name = posix.basename(path).replace(/(?:\.test)?\.[a-z]+$/, "");
      const bytes = Buffer.byteLength(text);
      const lines = text.split("\n").length - 1;
      const isTest = path.endsWith(".test.ts");
      if (law.forbiddenNames.includes(name)) problems.push(`${path}: the name says nothing of what is in it`);
      if (name === "index" && /\.[jt]s$/.test(path) && !law.indexFiles.includes(path)) {
        problems.push(`${path}: an index file belongs to the root of a package`);
      }
      if (!isTest && bytes > law.largest.bytes)
        problems.push(`${path}: ${bytes} bytes, the ceiling is ${law.largest.bytes}`);
      if (!isTest && lines > law.largest.lines)
        problems.push(`${path}: ${lines} lines, the ceiling is ${law.largest.lines}`);
      return problems;
    });
}

/** Where pure files reach for a clock, chance, a timer, the process, or wait for something. */
export function purityViolations(files: readonly SourceFile[], law: ImportLaw): readonly string[] {
  const { forbiddenWords, forbiddenMembers } = law.pure;
  return files
    .filter(({ path }) => isWithin(path, law.pure.files))
    .flatMap((file) => {
      const { path } = file;
      const { code } = scanned(file);
      return code.split("\n").flatMap((line, index) => {
        const members = forbiddenMembers.filter((member) => line.replaceAll(/\s+/g, "").includes(member));
        const words = forbiddenWords.filter((word) => new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(line));
        return [...members, ...words].map((what) => `${path}:${index + 1} uses ${what}`);
      });
    });
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(folder));
}
