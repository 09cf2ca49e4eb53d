// docs/setup.md shows what both commands print today.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shownTranscripts, transcripts } from "./operator/transcript.mjs";

test("the transcripts of docs/setup.md are what the commands print (node test/operator/transcript.mjs writes them)", async (t) => {
  assert.deepEqual(shownTranscripts(), await transcripts(t));
});
