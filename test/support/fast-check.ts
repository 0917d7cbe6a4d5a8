/** The package fast-check with the seed of the run. */
import fc from "fast-check";
import { chosenSeed } from "./random.ts";

fc.configureGlobal({ seed: chosenSeed() });

export default fc;
