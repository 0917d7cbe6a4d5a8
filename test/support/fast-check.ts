/** fast-check with the run's seed. */
import fc from "fast-check";
import { chosenSeed } from "./random.ts";

fc.configureGlobal({ seed: chosenSeed() });

export default fc;
