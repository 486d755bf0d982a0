// Azurite that ends when its standard input does: however a run of the tests ends, nothing stays behind.
const fs = require("fs");

process.stdin.resume().on("end", () => {
  fs.rmSync(process.env.AZURITE_RUN ?? "", { recursive: true, force: true });
  process.exit(0);
});
require("../../.cache/azurite/node_modules/azurite/dist/src/azurite.js");
