// Each line is a mistake that the types must find.
import createClient from "openapi-fetch";
import type { components, paths } from "./remit.js";

const remit = createClient<paths>({ baseUrl: "" });
await remit.POST("/api/tasks", { body: { text: 7 } });
await remit.GET("/api/tasks/{id}", { params: { path: { number: "task-1" } } });
await remit.GET("/api/tasks", { params: { query: { status: ["finished"] } } });
await remit.DELETE("/api/nothing");
export const title = (task: components["schemas"]["Task"]): number => task.title;
