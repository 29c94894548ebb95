import { open } from "node:fs/promises";
import { receiversInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { errorCodeOf, type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";

/** Whether the JSONL files to follow can be read. */
export async function checkFollowedFiles(configuration: CollectorConfiguration): Promise<readonly Finding[]> {
  const paths = receiversInUse(configuration).flatMap((receiver) =>
    receiver.type === "jsonl_file" ? [receiver.settings.path] : [],
  );
  return Promise.all(paths.map(checkFile));
}

async function checkFile(path: string): Promise<Finding> {
  try {
    const file = await open(path, "r");
    try {
      if ((await file.stat()).isFile()) return ok("file", `${path} can be read`);
      return problem("file", `${path} is no regular file`, "name a file of events, one per line");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") {
      return warning("file", `${path} is not there`, "it is followed as soon as it is; look whether the path is right");
    }
    return problem(
      "file",
      `${path} cannot be read: ${sentenceOf(error)}`,
      "give the user of the collector the right to read it",
    );
  }
}
