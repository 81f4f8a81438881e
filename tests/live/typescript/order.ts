// Somebody else's program: it orders a task, reads it back and finds it in the list.
import createClient from "openapi-fetch";
import type { components, paths } from "./remit.js";

type Task = components["schemas"]["Task"];

declare const process: { argv: string[]; stdout: { write(text: string): void } };

const [url, token] = process.argv.slice(2);
const remit = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

function isTask(task: object): task is Task {
  return "id" in task; // the other view calls it task_id
}

const ordered = await remit.POST("/api/tasks", { body: { text: "Water the plants" } });
if (!ordered.data || !isTask(ordered.data)) throw new Error(ordered.error?.detail);
const id: string = ordered.data.id;

const read = await remit.GET("/api/tasks/{id}", { params: { path: { id } } });
if (!read.data || !("id" in read.data)) throw new Error("not in the view that was asked for");
const status: Task["status"] = read.data.status;

const page = await remit.GET("/api/tasks", { params: { query: { status: ["new"] } } });
const titles: string[] = (page.data?.tasks ?? []).filter(isTask).map((task) => task.title);

const nobody = await remit.GET("/api/tasks/{id}", { params: { path: { id: "task-nobody" } } });
const problem: components["schemas"]["Problem"] | undefined = nobody.error;

process.stdout.write(JSON.stringify({ id, status, titles, problem: problem?.status }));
