// A page without anything of its own.
import "./shell.js";
