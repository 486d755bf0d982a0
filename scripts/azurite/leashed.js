// Azurite that ends when its standard input does: however a run of the tests ends, nothing stays behind.
const fs = require("fs");
const modules = "../../.cache/azurite/node_modules";

process.stdin.resume().on("end", () => {
  fs.rmSync(process.env.AZURITE_RUN ?? "", { recursive: true, force: true });
  process.exit(0);
});

// Azurite goes through all the tables there are, twice, for every row of a transaction, and a run of the tests leaves
// thousands of tables behind. By name they are found at once.
const { prototype: database } = require(`${modules}/lokijs`);
const { addCollection, removeCollection } = database;
const known = new WeakMap();
function byName(db) {
  if (!known.has(db)) known.set(db, new Map(db.collections.map((one) => [one.name, one])));
  return known.get(db);
}
database.addCollection = function (name, options) {
  const added = addCollection.call(this, name, options);
  byName(this).set(name, added);
  return added;
};
database.removeCollection = function (name) {
  removeCollection.call(this, name);
  byName(this).delete(name);
};
database.getCollection = function (name) {
  return byName(this).get(name) ?? null;
};

// The same for a new one: whether it is there already needs to be looked for only if its name was ever taken.
const store = require(`${modules}/azurite/dist/src/table/persistence/LokiTableMetadataStore.js`).default.prototype;
const { checkIfTableExists } = store;
const taken = new Set();
store.checkIfTableExists = function (tables, one, context) {
  const name = `${one.account} ${one.table}`.toLowerCase();
  if (taken.has(name)) checkIfTableExists.call(this, tables, one, context);
  taken.add(name);
};

require(`${modules}/azurite/dist/src/azurite.js`);
