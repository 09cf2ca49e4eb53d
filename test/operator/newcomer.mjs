// Whoever sets the Worker up for the first time, as the pages show it.

import { choose, KEY, person, type } from "./person.mjs";
import { CHAT } from "./scene.mjs";

/**
 * Somebody at the desk whose commands believe that they talk to the real services. `repository` is what is asked and answered from the
 * question for the control repository on.
 * @param {any} desk @param {any[]} repository
 */
export function newcomer(desk, repository) {
  const places = { "https://api.github.com": desk.github.url, "https://api.telegram.org": desk.telegram.url };
  desk.services = {};
  desk.change.fetch = (url, how) => {
    const real = Object.keys(places).find((place) => url.startsWith(place));
    return fetch(url.replace(real, places[real]), how);
  };
  desk.change.pause = async () => desk.telegram.personWrites(CHAT);
  return person([
    [/What shall be set up/, choose(0)],
    [/App id, as/, type("1234567")],
    [/Private key: the/, KEY.enter],
    [/Where shall the alarm go/, choose(0)],
    [/Bot token, from/, type(desk.telegram.token)],
    [/Which chat shall the alarm go to/, choose(0)],
    ...repository,
    [/Deploy now/, choose(0)],
  ]);
}
