// What every page does. Pages bring modules of their own beside it.
import { start } from "./socket.js";
import "./live.js";
import "./keys.js";
import "./palette.js";
import "./notices.js";
import "./times.js";
import "./toast.js";
import "./files.js";
import { dialogs } from "./dialogs.js";

dialogs();
start();
