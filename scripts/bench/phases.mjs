// Splits the profile of a tick into what a sweep does. The innermost function that says what it is for decides; what none says
// is the rest: the glue, the queue of promises, garbage collection.

// For the Worker in Rust, whose functions have paths, and for the others, which have these names.
const RULES = [
  // A line of the log, which a local workerd formats in JavaScript.
  ["console", /^(say|__wbg_(log|warn|error)_.*)$/],
  ["settings, signing", /^(sign|signOnce|importKey)$|github::jwt|github::key|RuntimeSigner|Recovery::config/],
  [
    "calls",
    /^(fetch|call|request|arrayBuffer|text|github|takenApart|timeout|get)$|http::|callObject|recovery::calling|Api<.*>::(as_app|call)/,
  ],
  [
    "pages",
    /^(parsePage|parsePages|parse|pages|read|fetchDeliveriesSince)$|reading::|delivery::|github::link|github::deliveries/,
  ],
  [
    "state",
    /^(put|load|save|takeLease|delete|stringify)$|state::|Storage|stored::|event::_|ledger::_|ground::_|superseded::_|own::_/,
  ],
  ["alarm", /^(tell|describe)$|alarm::/],
  ["deciding", /^(decide|failedDeliveryIds)$|policy::/],
];

export const phaseNames = ["console", "calls", "settings, signing", "pages", "deciding", "state", "alarm", "rest"];

/** What `profile` gave of one step, by phase, in milliseconds; `all` is their sum. */
export function phases({ cpuMs, threadMs, stacks }) {
  const split = Object.fromEntries(phaseNames.map((name) => [name, 0]));
  for (const [ms, names] of stacks) split[phaseOf(names)] += ms;
  return { all: cpuMs, threadMs, ...split };
}

function phaseOf(stack) {
  for (const name of stack) {
    const rule = RULES.find(([, pattern]) => pattern.test(name));
    if (rule) return rule[0];
  }
  return "rest";
}
