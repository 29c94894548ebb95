import { InvalidArgumentError } from "commander";

/** Reads an option's number. @throws InvalidArgumentError, which commander shows with the option's name. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** As `wholeNumber`, and at least 1. */
export function positiveNumber(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError("It must be at least 1.");
  return number;
}
