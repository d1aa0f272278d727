/** How long only collectives ran in each iteration, which the rows of the Iteration Summary do not tell. */
import { createContext } from "preact";

export const CommunicationContext = createContext<ReadonlyMap<number, number>>(new Map());
